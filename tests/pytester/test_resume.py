"""``--eval-resume`` in sessions of pytest: what is refused, told, made again and left behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.agents.base import AgentRequest
from pytest_plugin_eval.agents.claude_cli import ClaudeCli
from pytest_plugin_eval.cases.fingerprint import forget_plugins
from pytest_plugin_eval.errors import AgentError, JudgeError
from pytest_plugin_eval.execution import judging
from pytest_plugin_eval.judges.base import JudgeBackend
from pytest_plugin_eval.records.model import Ending, RunRecord
from tests.pytester.conftest import StandInAgent, Suite, answered


def _run(suite: Suite, *arguments: str) -> pytest.RunResult:
    forget_plugins()
    return suite.pytester.runpytest("evals", *arguments)


def _results(suite: Suite) -> Path:
    (directory,) = (suite.evals / "results").iterdir()
    return directory


def _resume(suite: Suite, *arguments: str) -> pytest.RunResult:
    return _run(suite, f"--eval-resume={_results(suite)}", *arguments)


def _names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def test_more_runs_are_added_to_those_that_are_there(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first")
    _run(suite, "--eval-runs", "1")

    result = _resume(suite, "--eval-runs", "2")

    assert result.ret == pytest.ExitCode.OK
    assert [(one.key.arm.value, one.key.number) for one in agent.requests] == [
        ("with", 1), ("without", 1), ("with", 2), ("without", 2)
    ]  # fmt: skip
    names = {"aggregate-result.json", "report.html", "runs", "session.json"}
    assert _names(_results(suite)) == names


@pytest.mark.parametrize("ceiling", ["0", "0.3"], ids=["no run made", "runs made"])
@pytest.mark.parametrize("place", [(), ("--eval-results-dir=kept",)], ids=["default", "named"])
def test_session_names_a_directory_to_go_on_with_where_there_is_one(
    suite: Suite, agent: StandInAgent, ceiling: str, place: tuple[str, ...]
) -> None:
    suite.case("first")

    result = _run(suite, "--eval-max-cost-usd", ceiling, *place)

    told = [line for line in result.outlines if "--eval-resume=" in line]
    left = [path.parent for path in suite.pytester.path.rglob("session.json")]
    assert len(told) == len(left) == (1 if agent.requests else 0)
    assert [line.rpartition("=")[2] for line in told] == [
        str(path.relative_to(suite.pytester.path)) for path in left
    ]


def test_new_case_is_made_and_one_left_out_stays(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first", front="runs: 1")
    suite.case("second", front="runs: 1")
    _run(suite, "--eval-ablation", "none", "-k", "first or second")
    suite.case("third", front="runs: 1")

    result = _resume(suite, "--eval-ablation", "none", "-k", "second or third")

    assert [one.key.case for one in agent.requests] == [
        "evals/first", "evals/second", "evals/third"
    ]  # fmt: skip
    result.stdout.fnmatch_lines(
        ["*not in this session*: evals/first*", "*new in this session: evals/third*"]
    )
    assert len(list(_results(suite).rglob("*.jsonl"))) == 3


def test_changed_plugin_is_refused_and_leaves_nothing(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first", front="runs: 1")
    _run(suite)
    made = len(agent.requests)
    before = _names(_results(suite))
    (suite.root / "README.md").write_text("new", encoding="utf-8")

    result = _resume(suite)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: --eval-resume: * was made with something else, *",
            "  the plugin's files have changed since",
            "  files of the plugin that are newer: *README.md*",
        ]
    )
    assert len(agent.requests) == made
    assert _names(_results(suite)) == before


@pytest.mark.parametrize("options", [["--junitxml=report.xml", "--eval-json=evals.json"], []])
def test_reports_of_the_session_are_no_change(
    suite: Suite, agent: StandInAgent, options: list[str]
) -> None:
    suite.case("first", front="runs: 1")
    _run(suite, *options)

    result = _resume(suite, *options)

    assert result.ret == pytest.ExitCode.OK
    assert len(agent.requests) == 2


def test_eval_directory_is_refused_naming_the_newest_results(
    suite: Suite, agent: StandInAgent
) -> None:
    suite.case("first", front="runs: 1")
    _run(suite)

    result = _run(suite, "--eval-resume=evals")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"*is no results directory, *did you mean the newest, *{_results(suite).name}'?"]
    )
    assert len(agent.requests) == 2


@pytest.mark.parametrize("ending", [Ending.NO_RESULT, Ending.AGENT_ERROR])
def test_lost_run_comes_with_the_way_on(suite: Suite, agent: StandInAgent, ending: Ending) -> None:
    suite.case("first", front="runs: 1")
    agent.answer = lambda request: answered(request, "", ending=ending, error="529 overloaded")

    result = _run(suite, "--eval-retries", "0")

    place = _results(suite).relative_to(suite.pytester.path)
    words = " ".join(result.stdout.str().split())
    assert f"continue with: the same command and --eval-resume={place}" in words


def test_way_on_is_not_told_where_nothing_is_left(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first", front="runs: 1")
    agent.answer = lambda request: answered(request, "", ending=Ending.NO_RESULT, error="lost")
    suite.pytester.makeconftest(
        """
        import shutil

        def pytest_runtest_logfinish(nodeid):
            shutil.rmtree("named", ignore_errors=True)
        """
    )

    result = _run(suite, "--eval-retries", "0", "--eval-results-dir=named")

    assert "not measured" in result.stdout.str()
    assert "continue with" not in result.stdout.str()


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize("is_kept", [True, False], ids=["record", "nothing"])
def test_run_of_which_nothing_came_in_comes_with_the_way_on(suite: Suite, is_kept: bool) -> None:
    suite.case("first", front="runs: 1")
    left = "runs/evals/first/with-1.jsonl" if is_kept else "none"
    suite.pytester.makeconftest(
        f"""
        import pathlib, pytest

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_setup(item):
            if item.name == "run[with-1]":
                (results,) = pathlib.Path("evals/results").iterdir()
                path = results / {left!r}
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            raise RuntimeError("as if the worker had died")
        """
    )

    result = _run(suite, "--eval-ablation", "none", "-p", "no:cacheprovider")

    told = [line for line in result.outlines if line.startswith("continue with: ")]
    assert len(told) == is_kept


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize(
    ("is_kept", "why"),
    [(True, "its record is there, and --eval-resume grades it"), (False, "the run left nothing")],
)
def test_lost_run_says_whether_its_record_is_there(suite: Suite, is_kept: bool, why: str) -> None:
    suite.case("first", front="runs: 2")
    suite.pytester.makeconftest(
        f"""
        import pathlib, pytest

        @pytest.hookimpl(trylast=True)
        def pytest_runtest_teardown(item):
            if item.name == "run[with-1]" and {is_kept}:
                (results,) = pathlib.Path("evals/results").iterdir()
                runs = results / "runs/evals/first"
                (runs / "with-2.jsonl").write_bytes((runs / "with-1.jsonl").read_bytes())

        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_setup(item):
            if item.name == "run[with-2]":
                raise RuntimeError("as if the worker had died")
        """
    )

    _run(suite, "--eval-ablation", "none")

    case = suite.document()["cases"][0]  # type: ignore[index]
    assert why in case["arms"]["with"][1]["error"]


def test_lost_run_is_made_again_and_all_attempts_are_paid_for(
    suite: Suite, agent: StandInAgent
) -> None:
    suite.case("first", front="runs: 1")

    def fail(request: AgentRequest) -> RunRecord:
        return answered(request, "", ending=Ending.NO_RESULT, error="lost")

    agent.answer = fail
    _run(suite, "--eval-ablation", "none", "--eval-retries", "1")
    agent.answer = lambda request: answered(request, "hello")

    result = _resume(suite, "--eval-ablation", "none")

    assert result.ret == pytest.ExitCode.OK
    document = suite.document()
    assert len(agent.requests) == 3
    assert _first_run(document)["attempts"] == 3
    assert _first_run(document)["costUsd"] == 0.75


def test_lost_run_that_is_not_made_again_keeps_its_cost(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first", front="runs: 1")

    def fail(request: AgentRequest) -> RunRecord:
        return answered(request, "", ending=Ending.NO_RESULT, error="lost")

    agent.answer = fail
    _run(suite, "--eval-ablation", "none", "--eval-retries", "0")

    result = _resume(suite, "--eval-ablation", "none", "--eval-max-cost-usd", "0")

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert len(agent.requests) == 1
    run = _first_run(suite.document())
    assert (run["measured"], run["costUsd"]) == (False, 0.25)
    assert any("not made again: cost ceiling $0" in str(note) for note in _notes(run))


def test_session_without_an_agent_leaves_nothing(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.case("first")

    def absent(**_: object) -> ClaudeCli:
        raise AgentError("no agent")

    monkeypatch.setattr(ClaudeCli, "find", absent)

    result = _run(suite)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert not (suite.evals / "results").exists()


@pytest.mark.usefixtures("agent")
def test_session_without_a_judge_leaves_nothing(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.case("first", graders={"nice": "---\ntype: llm\n---\nIs it nice?\n"})

    def absent(**_: object) -> JudgeBackend:
        raise JudgeError("no judge")

    monkeypatch.setattr(judging, "find_judge", absent)

    result = _run(suite)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert _names(suite.evals / "results") == set()


def _first_run(document: dict[str, object]) -> dict[str, object]:
    cases = document["cases"]
    assert isinstance(cases, list)
    run: dict[str, object] = cases[0]["arms"]["with"][0]
    return run


def _notes(run: dict[str, object]) -> list[object]:
    notes = run["notes"]
    assert isinstance(notes, list)
    return notes
