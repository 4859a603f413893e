"""Hints in a session: said once, in every mode, and never in a score or an exit status."""

from __future__ import annotations

import pytest

from tests.pytester.conftest import StandInAgent, Suite

GOOD = "---\ntype: regex\npattern: hel+o\n---\n"
FREE = "---\ntype: tool_used\ntool: Read\nmin: 0\n---\n"
ECHO = "would pass on an answer that only repeats the prompt"


def _said(result: pytest.RunResult) -> str:
    return " ".join(result.stdout.str().split())


def _cases(suite: Suite) -> list[dict[str, object]]:
    cases = suite.document()["cases"]
    assert isinstance(cases, list)
    return cases


@pytest.mark.parametrize("workers", ["0", "1"])
def test_hint_of_several_cases_is_printed_once(suite: Suite, workers: str) -> None:
    for name in ("a", "b", "c", "d"):
        suite.case(name)
        suite.records(name, "h", "g")

    said = _said(suite.replay("evals", "-n", workers))

    assert said.count(ECHO) == 1
    assert "hint: evals/a, evals/b, evals/c and 1 more: grader 'hello' would pass" in said


@pytest.mark.parametrize("mode", ["live", "record"])
def test_hint_is_printed_before_runs_are_made(suite: Suite, agent: StandInAgent, mode: str) -> None:
    suite.case("a", front="runs: 1")

    said = _said(suite.pytester.runpytest("evals", "--eval-mode", mode))

    assert said.count(ECHO) == 1


@pytest.mark.parametrize(("replies", "status"), [("hhh", 0), ("ggg", 1)])
def test_hints_change_neither_score_nor_exit_status(
    suite: Suite, replies: str, status: int
) -> None:
    suite.case("plain", graders={"hello": GOOD}, prompt="Greet Ann")
    suite.case("hinted", graders={"hello": GOOD}, prompt="Say hello")
    for name in ("plain", "hinted"):
        suite.records(name, replies, "ggg")

    result = suite.replay("evals")

    hinted, plain = sorted(_cases(suite), key=lambda case: str(case["dir"]))
    assert ("hints" in hinted, "hints" in plain) == (True, False)
    assert hinted["aggregates"] == plain["aggregates"]
    assert hinted["passed"] == plain["passed"]
    assert result.ret == status


def test_hint_stands_in_the_document_beside_the_advisories(suite: Suite) -> None:
    suite.case("a", graders={"hello": GOOD, "free": FREE}, prompt="Greet Ann")
    suite.records("a", "h", "g")

    suite.replay("evals")

    [case] = _cases(suite)
    assert "advisories" not in case
    hints = case["hints"]
    assert isinstance(hints, list)
    assert [hint.partition(":")[0] for hint in hints] == ["grader 'free' cannot fail"]


def test_suite_without_a_negative_case_is_told_once_all_cases_are_known(suite: Suite) -> None:
    fired = "---\ntype: tool_used\ntool: Skill\n---\n"
    for name in ("a", "b", "c"):
        suite.case(name, graders={"hello": GOOD, "fired": fired}, prompt="Greet Ann")
        suite.records(name, "h", "g")

    hint = "hint: no case asks that a skill stays out"
    whole = _said(suite.replay("evals", "--collect-only"))
    part = _said(suite.replay("evals/a", "evals/b", "--collect-only"))

    assert whole.count(hint) == 1
    assert hint not in part
    assert hint not in _said(suite.replay("evals"))  # not in every session


def test_slow_pattern_does_not_hold_up_the_collection(suite: Suite) -> None:
    slow = "---\ntype: regex\npattern: ^(a+)+$\n---\n"
    suite.case("a", graders={"slow": slow}, prompt=f"{'a' * 60}!")
    suite.records("a", "h", "g")

    result = suite.replay("evals", "--collect-only")

    assert ECHO not in _said(result)
    assert result.ret == 0
