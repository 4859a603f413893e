"""The verdict of a case: when it comes, what it says, and what it does to the session."""

from __future__ import annotations

import io
import sys

import pytest

from pytest_plugin_eval.records.model import Ending
from tests.pytester.conftest import NICE, StandInAgent, StandInJudge, Suite, answered


@pytest.mark.parametrize(
    ("workers", "replies", "options", "status", "word"),
    [
        ("0", "hhh", [], 0, "PASSED"),
        ("2", "hhg", [], 1, "FAILED"),
        ("0", "hgh", ["--eval-threshold", "0.6"], 0, "PASSED"),
        ("2", "hgh", ["--eval-threshold", "0.6"], 0, "PASSED"),
        ("0", "hgg", ["--eval-threshold", "0.6"], 1, "FAILED"),
        ("0", "ggg", ["--eval-threshold", "0"], 0, "PASSED"),
        ("0", "hgg", ["--eval-report-only"], 0, "MISSED"),
        ("2", "hgg", ["--eval-report-only"], 0, "MISSED"),
    ],
)
def test_verdict_compares_the_mean_with_the_threshold(
    suite: Suite, workers: str, replies: str, options: list[str], status: int, word: str
) -> None:
    suite.case("first")
    suite.records("first", replies, "g")

    result = suite.replay("evals", "-v", "-n", workers, *options)

    assert result.ret == status
    result.stdout.re_match_lines([rf"(.*{word} )?evals/first::score( {word})?.*"])


def test_verdict_comes_once_and_after_the_last_run(suite: Suite) -> None:
    for name in ("a", "b"):
        suite.case(name)
        suite.records(name, "h", "g")

    result = suite.replay("evals", "-v")

    lines = [line.split()[0] for line in result.outlines if line.startswith("evals/")]
    assert lines == [
        "evals/a::run[with-1]",
        "evals/a::run[without-1]",
        "evals/a::score",
        "evals/b::run[with-1]",
        "evals/b::run[without-1]",
        "evals/b::score",
    ]
    assert "100%" in result.stdout.str()
    assert not any(f"{percent}%" in result.stdout.str() for percent in range(101, 200))


def test_failing_verdict_names_the_failing_graders_by_run(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "hg", "gg")

    result = suite.replay("evals")

    result.stdout.fnmatch_lines(
        [
            "first: WITH 0.50 is below the threshold 1.00 (2 runs)",
            "first  0.50  0.00  +0.50  4 *",
            "with-2  score 0.00: wrong",
            "*hello (weight 1): pattern not found in last_message",
        ]
    )


def test_min_delta_fails_a_case_of_too_little_gain(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "hh", "hg")

    lenient = suite.replay("evals", "--eval-min-delta", "0.5")
    strict = suite.replay("evals", "--eval-min-delta", "0.6")

    assert lenient.ret == pytest.ExitCode.OK
    assert strict.ret == pytest.ExitCode.TESTS_FAILED
    strict.stdout.fnmatch_lines(["first: Δ 0.50 is below --eval-min-delta 0.60"])
    strict.stdout.fnmatch_lines(["1 case · 0 passed*"])
    assert suite.document()["cases"][0]["passed"] is False  # type: ignore[index]
    assert suite.document()["suite"]["minDelta"] == 0.6  # type: ignore[index]


def test_verdict_is_told_to_a_terminal_that_has_only_ascii(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.case("first")
    suite.records("first", "g", "g")
    monkeypatch.setattr(sys, "__stdout__", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))

    result = suite.replay("evals")

    result.stdout.fnmatch_lines(["CASE * delta *", "* x hello (weight 1): pattern not found*"])
    assert result.stdout.str().isascii()


def test_partly_selected_case_gets_its_verdict_from_the_selected_runs(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "ggg", "ggg")

    result = suite.replay("evals", "-k", "with-1 or without-1", "-v")

    result.stdout.fnmatch_lines(
        ["evals/first::score FAILED*", "only 2 of 6 planned runs were selected"]
    )


def test_case_without_a_with_run_gets_a_skipped_verdict(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "h", "g")

    result = suite.replay("evals", "-k", "without", "-v", "-rs")

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        ["evals/first::score SKIPPED *", "SKIPPED * no run with the plugin was selected"]
    )


def _hold_until_told(suite: Suite, *, first: str, told: str) -> None:
    """Have workers make no run but *first* until the controller has finished with *told*.

    Replayed runs take a millisecond: all would be over before the controller could stop them.
    """
    suite.pytester.makeconftest(
        f"""
        import pathlib, time

        def pytest_configure(config):
            global is_controller
            is_controller = not hasattr(config, "workerinput")

        def pytest_runtest_setup(item):
            until = time.monotonic() + (0 if is_controller or "{first}" in item.nodeid else 30)
            while time.monotonic() < until and not pathlib.Path("told").exists():
                time.sleep(0.01)

        def pytest_runtest_logfinish(nodeid):
            if is_controller and nodeid.endswith("{told}"):
                pathlib.Path("told").touch()
        """
    )


@pytest.mark.parametrize("workers", ["0", "2"])
def test_stopped_session_leaves_an_incomplete_verdict(suite: Suite, workers: str) -> None:
    suite.case("first")
    suite.records("first", "ghhhhhhh", "gggggggg")
    _hold_until_told(suite, first="run[with-1]", told="run[with-1]")

    result = suite.replay("evals", "-x", "-v", "-n", workers, "--maxschedchunk=1", "-rs")

    result.stdout.re_match_lines([r"SKIPPED.*incomplete: \d+ of 16 runs"])
    assert result.ret != pytest.ExitCode.OK


@pytest.mark.parametrize("workers", ["0", "2"])
def test_failed_verdict_stops_a_session_with_maxfail(suite: Suite, workers: str) -> None:
    # No single run sinks this case, so only its verdict can stop the session.
    suite.case("a")
    suite.records("a", "gg")
    for name in ("b", "c", "d", "e", "f"):
        suite.case(name)
        suite.records(name, "hhhh")
    _hold_until_told(suite, first="/a::", told="/a::score")

    result = suite.replay(
        "evals", "-x", "-v", "-n", workers, "--maxschedchunk=1", "--eval-threshold", "0.5"
    )

    output = result.stdout.str()
    assert "evals/a::score" in output
    assert "evals/f::run[with-4]" not in output
    assert result.ret == (
        pytest.ExitCode.TESTS_FAILED if workers == "0" else pytest.ExitCode.INTERRUPTED
    )


@pytest.mark.parametrize("workers", ["0", "2"])
def test_run_not_measured_is_an_error_and_no_zero(suite: Suite, workers: str) -> None:
    suite.case("first")
    suite.records("first", "hh")
    suite.record("first", "with", 3, ending=Ending.AGENT_ERROR, error="exit 1: API Error: 529")

    result = suite.replay("evals", "-n", workers, "--junitxml=report.xml")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=2, failed=1, errors=1)
    result.stdout.fnmatch_lines(["*ERROR at setup of first run[[]with-3[]]*", "*API Error: 529*"])
    case = suite.document()["cases"][0]  # type: ignore[index]
    assert case["aggregates"]["score"] == 1
    assert [run["measured"] for run in case["arms"]["with"]] == [True, True, False]
    assert case["arms"]["with"][2]["score"] is None
    assert suite.document()["partialReason"] == "not_measured"
    assert '<error message="failed on setup' in (suite.root / "report.xml").read_text()


def test_delta_is_withheld_when_one_arm_lost_runs(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "hh", "g")
    suite.record("first", "without", 2, ending=Ending.NO_RESULT, error="killed")

    result = suite.replay("evals")

    result.stdout.fnmatch_lines(["*asymmetric loss*"])
    aggregates = suite.document()["cases"][0]["aggregates"]  # type: ignore[index]
    assert "delta" not in aggregates
    assert "scoreWithout" not in aggregates


def test_report_only_lifts_failed_verdicts_but_no_unmeasured_run(suite: Suite) -> None:
    suite.case("first")
    suite.record("first", "with", 1, ending=Ending.NO_RESULT, error="killed")

    result = suite.replay("evals", "--eval-report-only")

    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_rerun_replaces_the_score_and_both_costs_count(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first", front="runs: 2")
    replies = iter(["bye", "hello", "hello"])
    agent.answer = lambda request: answered(request, next(replies))

    result = suite.pytester.runpytest("evals", "--reruns", "1", "--eval-ablation", "none")

    assert result.ret == pytest.ExitCode.OK
    case = suite.document()["cases"][0]  # type: ignore[index]
    assert [run["score"] for run in case["arms"]["with"]] == [1, 1]
    result.stdout.fnmatch_lines(["*$0.75", "1 run was repeated*"])


@pytest.mark.parametrize("mode", ["replay", "resume"])
def test_rerun_of_what_is_only_read_costs_nothing_more(
    suite: Suite, agent: StandInAgent, judge: StandInJudge, mode: str
) -> None:
    suite.case("first", front="runs: 1", graders={"nice": NICE})
    judge.answer = lambda _: "FAIL"
    suite.pytester.runpytest("evals", "--eval-mode", "record", "--eval-ablation", "none")
    [results] = (suite.evals / "results").iterdir()
    again = ["--eval-mode", "replay"] if mode == "replay" else [f"--eval-resume={results}"]

    suite.pytester.runpytest("evals", "--reruns", "2", "--eval-ablation", "none", *again)

    document = suite.document()
    run = document["cases"][0]["arms"]["with"][0]  # type: ignore[index]
    assert (len(agent.requests), run["attempts"], run["score"]) == (1, 1, 0)
    assert document["costUsd"] == pytest.approx(0.28)
    assert document["suite"]["spentUsd"] == 0  # type: ignore[index]


def test_rerun_in_a_resumed_session_is_made_and_counted_once(
    suite: Suite, agent: StandInAgent
) -> None:
    suite.case("first", front="runs: 2")
    endings = iter([Ending.COMPLETED, Ending.NO_RESULT, Ending.NO_RESULT, Ending.COMPLETED])
    agent.answer = lambda request: answered(request, "hello", ending=next(endings), error="lost")
    options = ("evals", "--eval-retries", "0", "--eval-ablation", "none")
    suite.pytester.runpytest(*options)
    [results] = (suite.evals / "results").iterdir()

    suite.pytester.runpytest(*options, "--reruns", "1", f"--eval-resume={results}")

    runs = suite.document()["cases"][0]["arms"]["with"]  # type: ignore[index]
    assert [run["measured"] for run in runs] == [True, True]
    assert [(run["attempts"], run["costUsd"]) for run in runs] == [(1, 0.25), (3, 0.75)]


def test_rerun_that_the_ceiling_refuses_leaves_what_was_made(
    suite: Suite, agent: StandInAgent
) -> None:
    suite.case("first", front="runs: 1")
    agent.answer = lambda request: answered(request, "bye")

    result = suite.pytester.runpytest(
        "evals", "--reruns", "1", "--eval-ablation", "none", "--eval-max-cost-usd", "0.1"
    )

    document = suite.document()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert document["partialReason"] == "cost_ceiling"
    assert document["cases"][0]["arms"]["with"][0]["score"] == 0  # type: ignore[index]
    assert document["costUsd"] == 0.25
