"""Options and ini values: checks, messages, precedence."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.agents.binary import Binary
from pytest_plugin_eval.agents.claude_cli import ClaudeCli
from pytest_plugin_eval.pytest_side.option_table import OPTIONS
from tests.pytester.conftest import StandInAgent, Suite


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--eval-runs", "0"], "--eval-runs: expected a whole number from 1 to 50, got '0'"),
        (["--eval-runs", "51"], "--eval-runs: expected a whole number from 1 to 50, got '51'"),
        (["-o", "plugin_eval_runs=51"], "plugin_eval_runs: expected a whole number from 1 to 50*"),
        (["--eval-runs", "2.5"], "--eval-runs: expected a whole number *, got '2.5'"),
        (["--eval-threshold", "1.5"], "--eval-threshold: expected a number from 0 to 1, got '1.5'"),
        (["--eval-threshold", "nan"], "--eval-threshold: expected a number *, got 'nan'"),
        (["--eval-mode", "replya"], "--eval-mode: expected one of *did you mean 'replay'[?]"),
        (["--eval-ablation", ""], "--eval-ablation: expected one of none, with-without, got ''"),
        (["--eval-max-cost-usd", "-1"], "--eval-max-cost-usd: expected a number of at least 0,*"),
        (["--eval-max-cost-usd", "inf"], "--eval-max-cost-usd: expected a number *, got 'inf'"),
        (
            ["--eval-grader-timeout", "0"],
            "--eval-grader-timeout: expected a number above 0, got '0'",
        ),
        (["--eval-dir", "../out"], "--eval-dir: *"),
        (["--eval-json", "evals"], "--eval-json: */evals is a directory, expected a file"),
        (["--eval-from", "nowhere"], "--eval-from: needs --eval-mode replay, the mode is live"),
        (["--eval-from", "x", "--eval-mode", "replay"], "--eval-from: */x is not a directory"),
        (["--eval-html", "evals"], "--eval-html: */evals is a directory, expected a file"),
        (["--eval-mocks", "of"], "--eval-mocks: expected one of record, off, got 'of', did you *"),
        (
            ["--eval-depth", "Deep"],
            "--eval-depth: expected one of quick, *, did you mean 'deep'[?]",
        ),
        (
            ["--eval-min-composite", "101"],
            "--eval-min-composite: expected a number from 0 to 100, got '101'",
        ),
        (["--eval-shard", "3/2"], "--eval-shard: expected I/N, *, such as 1/4, got '3/2'"),
        (["--eval-shard", "0/2"], "--eval-shard: expected I/N, *, such as 1/4, got '0/2'"),
        (["--eval-shard", "two"], "--eval-shard: expected I/N, *, such as 1/4, got 'two'"),
        (
            ["--eval-shard", "1/2", "--eval-shard-durations", "nowhere"],
            "--eval-shard-durations: */nowhere: no such file or directory, *",
        ),
        (
            ["--eval-resume", "x"],
            "--eval-resume: */x is not there, expected one that a session has*",
        ),
        (
            ["--eval-resume", "evals", "--eval-mode", "replay"],
            "--eval-resume: makes runs, so not with --eval-mode replay",
        ),
        (
            ["--eval-resume", "evals", "--eval-results-dir", "x"],
            "--eval-resume: its results go to the directory it names, so not with --eval-results*",
        ),
        (["--eval-judge-votes", "2"], "--eval-judge-votes: expected an odd number *, got '2'"),
        (["--eval-judge-votes", "x"], "--eval-judge-votes: expected an odd number *, got 'x'"),
        (["--eval-retries", "-1"], "--eval-retries: expected a whole number from 0 to 10*"),
        (
            ["-o", "plugin_eval_threshold=2"],
            "plugin_eval_threshold: expected a number from 0 to 1*",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_value_is_a_usage_error_that_names_it(
    suite: Suite, options: list[str], message: str
) -> None:
    suite.case("first")

    result = suite.pytester.runpytest("evals", *options)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])


@pytest.mark.parametrize(
    "options",
    [
        ["--eval-mocks", "record"],
        ["--eval-depth", "quick"],
        ["--trust-plugin"],
        ["-o", "plugin_eval_trust=true"],
    ],
    ids=" ".join,
)
def test_option_that_asks_for_nothing_new_is_accepted(suite: Suite, options: list[str]) -> None:
    suite.case("first")
    suite.records("first", "h", "g")

    assert suite.replay("evals", *options).ret == pytest.ExitCode.OK


def test_command_line_wins_over_the_ini_file(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "hg", "g")
    suite.pytester.makeini("[pytest]\nplugin_eval_mode = replay\nplugin_eval_threshold = 0.5\n")

    by_ini = suite.pytester.runpytest("evals")
    by_option = suite.pytester.runpytest("evals", "--eval-threshold", "1")

    assert by_ini.ret == pytest.ExitCode.OK
    assert by_option.ret == pytest.ExitCode.TESTS_FAILED


def test_path_in_the_ini_file_is_relative_to_that_file(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.case("first")
    suite.records("first", "h", "g")
    suite.pytester.makeini("[pytest]\nplugin_eval_results_dir = out\n")
    monkeypatch.chdir(suite.evals)

    suite.replay(".")

    assert (suite.root / "out" / "aggregate-result.json").is_file()


def test_every_option_has_an_ini_value_of_the_documented_name() -> None:
    names = {option.name: option.ini for option in OPTIONS if not option.hidden}

    assert names["--eval-max-cost-usd"] == "plugin_eval_max_cost_usd"
    assert names["--evals"] == "plugin_eval_auto"
    assert names["--trust-plugin"] == "plugin_eval_trust"
    assert len(set(names.values())) == len(names)


def test_help_lists_the_options_and_hides_those_of_the_command(pytester: pytest.Pytester) -> None:
    text = pytester.runpytest("--help").stdout.str()

    assert "--eval-threshold=X" in text
    assert "--eval-case" not in text


@pytest.mark.parametrize("grant", ["Artifact", "EnterWorktree", "Monitor", "Write("])
def test_grant_that_cannot_hold_is_refused_before_any_run(suite: Suite, grant: str) -> None:
    suite.case("first")

    result = suite.pytester.runpytest("evals", "--eval-allow-tools", grant)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --eval-allow-tools: *{grant}*"])
    assert not (suite.evals / "results").exists() or not list((suite.evals / "results").iterdir())


def test_tools_are_split_at_commas_and_spaces(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first", front="runs: 1")

    suite.pytester.runpytest("evals", "--eval-allow-tools", "Write,Edit", "Read(a b, c) WebSearch")

    assert agent.requests[0].allow_tools == ("Write", "Edit", "Read(a b, c)", "WebSearch")


@pytest.mark.parametrize("path", ["evals", "evals/", "evals/first::run[with-1]", "."])
def test_path_swallowed_by_a_list_of_tools_is_told(suite: Suite, path: str) -> None:
    suite.case("first")

    result = suite.pytester.runpytest("--eval-allow-tools", "Write", path)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --eval-allow-tools *: * put paths before the option"])


@pytest.mark.parametrize("place", [".", "runs", "evals/deep", "evals"])
def test_run_root_inside_the_plugin_is_refused_before_any_run(suite: Suite, place: str) -> None:
    suite.case("first")

    result = suite.pytester.runpytest("evals", "--eval-run-root", place)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: run directories would lie in *--eval-run-root"])


@pytest.mark.parametrize("place", ["one", "two"])
def test_run_root_inside_any_of_several_plugins_is_refused(
    pytester: pytest.Pytester, agent: StandInAgent, place: str
) -> None:
    for name in ("one", "two"):
        manifest = pytester.path / name / ".claude-plugin" / "plugin.json"
        manifest.parent.mkdir(parents=True)
        manifest.write_text(f'{{"name": "{name}"}}', encoding="utf-8")
        Suite(pytester, pytester.path / name).case("first")

    result = pytester.runpytest("one/evals", "two/evals", "--eval-run-root", f"{place}/runs")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert agent.requests == []


def test_run_root_that_cannot_be_made_is_told_without_a_traceback(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.case("first", front="runs: 1")
    backend = ClaudeCli(Binary(path=Path("claude"), version="2.1.332", origin="a test"), env={})
    monkeypatch.setattr(ClaudeCli, "find", lambda **_: backend)

    result = suite.pytester.runpytest("evals", "--eval-run-root", "/dev/null/runs")

    result.stdout.fnmatch_lines(["*/dev/null/runs: run directories cannot be made here*"])
    result.stdout.no_fnmatch_line("*def *")
