"""What `--collect-only` says a session would do and cost."""

from __future__ import annotations

import pytest

from tests.pytester.conftest import HELLO, NICE, StandInAgent, StandInJudge, Suite

LLM = "---\ntype: llm\ncriteria: Is it nice?\n---\n"


def _plan(suite: Suite, *arguments: str) -> pytest.RunResult:
    return suite.pytester.runpytest("evals", "--collect-only", "-q", *arguments)


@pytest.fixture
def two(suite: Suite) -> Suite:
    """Return a suite of a free case and one with a judge."""
    suite.case("free")
    suite.case("judged", front="runs: 2", graders={"hello": HELLO, "nice": LLM})
    return suite


def test_plan_counts_runs_and_judge_calls(two: Suite) -> None:
    _plan(two).stdout.fnmatch_lines(
        [
            "evals/free: 6 runs (3 with + 3 without), 0 judge calls",
            "evals/judged: 4 runs (2 with + 2 without), 12 judge calls",
            "2 cases, 10 runs, 12 judge calls",
            "cost: unknown, there are no earlier results of this suite",
        ]
    )


def test_plan_asks_no_judge_about_a_baseline_that_cannot_have_it(suite: Suite) -> None:
    only = "---\ntype: llm\narm: with-only\ncriteria: Is it nice?\n---\n"
    suite.case("judged", front="runs: 2", graders={"hello": HELLO, "nice": only})

    _plan(suite).stdout.fnmatch_lines(["1 case, 4 runs, 6 judge calls"])


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--eval-runs", "1"], "2 cases, 4 runs, 6 judge calls"),
        (["--eval-ablation", "none"], "2 cases, 5 runs, 6 judge calls"),
        (["--eval-judge-votes", "5"], "2 cases, 10 runs, 20 judge calls"),
        (["-k", "free and with-1"], "1 case, 1 run, 0 judge calls"),
        (["--eval-free-only"], "2 cases, 10 runs, 0 judge calls"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_plan_follows_the_selection(two: Suite, options: list[str], line: str) -> None:
    _plan(two, *options).stdout.fnmatch_lines([line])


def test_earlier_results_give_the_price(suite: Suite, agent: StandInAgent) -> None:
    suite.case("free", front="runs: 2")
    suite.pytester.runpytest("evals")

    _plan(suite, "--eval-runs", "4").stdout.fnmatch_lines(
        ["cost: $2.00 to $2.00 by 4 earlier runs"]
    )


def test_plan_of_a_replay_costs_nothing(suite: Suite) -> None:
    suite.case("free")
    suite.records("free", "hh", "g")

    _plan(suite, "--eval-mode", "replay").stdout.fnmatch_lines(
        ["1 case, 3 runs, 0 judge calls", "replayed from records: no cost"]
    )


@pytest.mark.parametrize(
    ("grader", "told"),
    [("hello", "no agent, no cost"), ("nice", "no agent; votes that are not recorded cost")],
)
def test_head_line_of_a_plan_claims_no_more_than_is_known(
    suite: Suite, grader: str, told: str
) -> None:
    suite.case("first", graders={grader: HELLO if grader == "hello" else NICE})
    suite.records("first", "h")

    words = " ".join(suite.replay("evals", "--collect-only").stdout.str().split())

    assert f"evals: replay mode, from the committed recordings; {told}" in words


def test_plan_of_a_replay_that_may_ask_a_judge_says_so(suite: Suite, judge: StandInJudge) -> None:
    suite.case("paid", graders={"nice": NICE})
    suite.records("paid", "h", "h")

    planned = _plan(suite, "--eval-mode", "replay")

    words = " ".join(planned.stdout.str().split())
    assert "1 case, 2 runs, 6 judge calls replayed from records: only judge calls" in words
    assert judge.requests == []


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (".mcp.json", '{"mcpServers": {"tracker": {"command": "x"}}}'),
        (".mcp.json", '{"tracker": {"command": "x"}}'),
        (".claude-plugin/plugin.json", '{"name": "demo", "mcpServers": {"tracker": {}}}'),
        (".claude-plugin/plugin.json", '{"name": "demo", "mcpServers": "./servers.json"}'),
    ],
)
def test_servers_that_are_not_started_are_told_once(
    suite: Suite, agent: StandInAgent, path: str, content: str
) -> None:
    (suite.root / "servers.json").write_text('{"mcpServers": {"tracker": {}}}', encoding="utf-8")
    (suite.root / path).write_text(content, encoding="utf-8")
    for name in ("a", "b"):
        suite.case(name, front="runs: 1")

    output = suite.pytester.runpytest("evals").stdout.str()

    words = " ".join(output.split())
    assert words.count("plugin:demo:tracker has no mock and is not started") == 1


def test_not_granted_tools_and_useless_graders_are_told_before_the_runs(
    suite: Suite, agent: StandInAgent
) -> None:
    made = "---\ntype: file_exists\npath: out.txt\n---\n"
    suite.case("free", front="allowed_tools: [Bash, Write]\nruns: 1", graders={"made": made})

    suite.pytester.runpytest("evals").stdout.fnmatch_lines(
        [
            "evals: live mode, stand-in agent",
            "evals/free: not granted: Bash, Write (grant with --eval-allow-tools)",
            "warning: evals/free: *made*",
            "evals/free *",
        ]
    )


@pytest.mark.parametrize("tool", ["wriet", "write"])
def test_misspelt_grant_is_refused_before_any_run(
    suite: Suite, agent: StandInAgent, tool: str
) -> None:
    suite.case("first", front="runs: 1")

    result = suite.pytester.runpytest("evals", f"--eval-allow-tools={tool}")

    assert (result.ret, agent.requests) == (pytest.ExitCode.USAGE_ERROR, [])
    result.stderr.fnmatch_lines([f"*'{tool}' is no tool, did you mean 'Write'[?]"])


@pytest.mark.parametrize("workers", ["0", "1"])
def test_advice_is_of_the_selected_cases_alone(
    suite: Suite, agent: StandInAgent, workers: str
) -> None:
    for name in ("first", "second"):
        suite.case(name, front="allowed_tools: [Bash]\nruns: 1")
        yaml = 'schema_version: "1.1"\nname: {0}\ncontext: {{scaffold_script: x.sh}}\n'
        (suite.evals / name / "case.yaml").write_text(yaml.format(name), encoding="utf-8")
        (suite.evals / name / "x.sh").write_text("true\n", encoding="utf-8")
    suite.case("third", front="allowed_tools: [WebFetch]\nruns: 1")

    output = suite.pytester.runpytest("evals", "-k", "second", "-n", workers).stdout.str()

    said = " ".join(output.split())
    assert "evals/second: not granted: Bash (" in said
    assert "scaffold_script" in said
    assert "evals/first" not in said
    assert "WebFetch" not in said


def test_doubt_about_a_shared_file_is_told_once(suite: Suite) -> None:
    mock = suite.evals / "mocks" / "tracker" / "find.md"
    mock.parent.mkdir(parents=True)
    mock.write_text("---\ntype: fixed\n---\nfound\n", encoding="utf-8")
    for name in ("first", "second"):
        suite.case(name, front="runs: 1")

    output = suite.pytester.runpytest("evals", "--collect-only", "-W", "default").stdout.str()

    assert output.count("has no _tools.json") == 1


@pytest.mark.parametrize("workers", ["0", "1"])
def test_grants_that_do_not_hold_are_told_before_the_runs(
    suite: Suite, agent: StandInAgent, workers: str
) -> None:
    for name in ("a", "b"):
        suite.case(name, front="allowed_tools: [Write, Edit]\nruns: 1")
    options = ["--eval-allow-tools=Foo", "--eval-allow-tools=Edit(/etc/*)"]
    options += ["--eval-allow-tools=Write", "--eval-disallow-tools=Write"]

    output = suite.pytester.runpytest("evals", "-n", workers, *options)

    said = " ".join(output.stdout.str().split())
    assert "evals/a, evals/b: not granted: Write, Edit (" in said
    assert said.count("warning: --eval-allow-tools: 'Foo' is no tool that is known here") == 1
    assert said.count("'Edit(/etc/*)' opens nothing in a run's working directory") == 1


@pytest.mark.parametrize(
    ("tool", "meant"), [("Skil", "Skill"), ("Raed", "Read"), ("Globb(x)", "Glob")]
)
def test_misspelt_tool_is_told_with_the_likely_one(
    suite: Suite, agent: StandInAgent, tool: str, meant: str
) -> None:
    suite.case("free", front=f"allowed_tools: [{tool}]\nruns: 1")

    result = suite.pytester.runpytest("evals")

    result.stdout.fnmatch_lines([f"warning: evals/free: *no tool *did you mean '{meant}'[?]"])


@pytest.mark.parametrize("workers", ["0", "1"])
def test_what_is_true_of_many_cases_is_said_once(suite: Suite, workers: str) -> None:
    for number in range(6):
        suite.case(f"case-{number}")
        suite.records(f"case-{number}", "h")

    result = suite.replay("evals", "-n", workers, "--eval-runs", "2")

    said = " ".join(result.stdout.str().split())
    assert said.count("no record of") == 1
    assert "evals/case-0, evals/case-1, evals/case-2 and 3 more: no record of with-2" in said
