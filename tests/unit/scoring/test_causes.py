"""The table of causes: what a run's or a case's result is owed to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_plugin_eval.records.model import Ending
from pytest_plugin_eval.reports.causes import TITLES, case_cause_text, cause_text
from pytest_plugin_eval.scoring.causes import CauseKind, case_causes, run_causes
from pytest_plugin_eval.scoring.model import CaseInfo, RunReport, Verdict
from tests.support.results import (
    aborted,
    case,
    case_info,
    judged,
    lost,
    plan,
    run,
    unjudged,
    verdict,
)

K = CauseKind
ASKS: Mapping[str, object] = {"tool": "Skill", "input_match": "demo:hello"}
ASKS_PLAINLY: Mapping[str, object] = {"tool": "Skill"}
FORBIDS: Mapping[str, object] = {"tool": "Skill", "max": 0}
LIMITED: Mapping[str, object] = {"tool": "Skill", "min": 1, "max": 2}
ORDER: Mapping[str, object] = {"before": {"tool": "Skill"}, "after": {"tool": "Write"}}


def _info(config: Mapping[str, object] | None, kind: str = "tool_used") -> CaseInfo:
    graders = () if config is None else ({"name": "used", "type": kind, "config": config},)
    return replace(case_info(), graders=graders)


def _run(
    letters: str,
    config: Mapping[str, object] | None = None,
    *,
    called: tuple[str, ...] | None = (),
    kind: str = "tool_used",
    ending: Ending = Ending.COMPLETED,
) -> RunReport:
    """Return a run with the graders `used`, not scored, and `text`: a letter each."""
    graded = (
        verdict(letters[0], "used", scored=False, with_only=True),
        verdict(letters[1], "text"),
    )
    report = run("with-1", graded, case=_info(config, kind), ending=ending)
    return replace(report, skills_called=called)


def _limited(
    letters: str,
    limits: Mapping[str, object],
    *,
    tool: str = "Skill",
    called: tuple[str, ...] = (),
) -> RunReport:
    """Return a run whose grader `used` counts calls, and is scored."""
    graded = (verdict(letters[0], "used"), verdict(letters[1], "text"))
    report = run("with-1", graded, case=_info({"tool": tool, **limits}))
    return replace(report, skills_called=called)


@pytest.mark.parametrize(
    ("report", "kinds"),
    [
        (_run("PP", ASKS), []),
        (_run("FF", ASKS), [K.NOT_TRIGGERED]),
        (_run("FF", ASKS, called=None), [K.NOT_TRIGGERED]),
        (_run("FF", LIMITED), [K.NOT_TRIGGERED]),
        (_run("FF", LIMITED, called=None), [K.WRONG]),
        (_run("FF", LIMITED, called=("a",)), [K.TRIGGERED_WRONG]),
        (_run("FF", ASKS, called=("demo:other",)), [K.OTHER_SKILL]),
        (_run("FF", ORDER, kind="tool_order"), [K.NOT_TRIGGERED]),
        (_run("FF", FORBIDS, called=("demo:hello",)), [K.UNWANTED]),
        (_run("PF", FORBIDS), [K.WRONG]),
        (_limited("FP", {"max": 0}, called=("demo:hello",)), [K.IMPOSSIBLE, K.UNWANTED]),
        (_limited("FP", {"max": 0, "min": 0}, called=("demo:hello",)), [K.UNWANTED]),
        (_limited("FP", {"max": 2, "min": 3}, tool="Bash"), [K.IMPOSSIBLE, K.WRONG]),
        (_limited("FP", {"max": 2}, tool="Bash"), [K.WRONG]),
        (_run("PF", ASKS, called=("demo:hello",)), [K.TRIGGERED_WRONG]),
        (_run("PF", ASKS_PLAINLY, called=None), [K.TRIGGERED_WRONG]),
        (_run("PF"), [K.WRONG]),
        (_run("PF", called=None), [K.WRONG]),
        (_run("PF", ending=Ending.TURN_LIMIT), [K.TURN_LIMIT, K.WRONG]),
        (_run("PF", ending=Ending.TIMED_OUT), [K.TIMED_OUT, K.WRONG]),
        (_run("PF", ending=Ending.STOPPED), [K.STOPPED, K.WRONG]),
        (_run("FF", ASKS, ending=Ending.TURN_LIMIT), [K.TURN_LIMIT, K.NOT_TRIGGERED]),
        (run("with-1", (judged("F", "PFF"),)), [K.JUDGE_SPLIT]),
        (run("with-1", (judged("F", "FFF"),)), [K.WRONG]),
        (run("with-1", (judged("F", "F??"),)), [K.UNREADABLE]),
        (run("with-1", (verdict("F"), judged("F", "PFF"))), [K.WRONG, K.JUDGE_SPLIT]),
        (run("with-1", (verdict("F"), judged("P", "PPF"))), [K.WRONG]),
        (
            run("with-1", "F", case=case_info(grader_advisories={"g1": "no Write"})),
            [K.IMPOSSIBLE, K.WRONG],
        ),
        (run("with-1", "PF", case=case_info(grader_advisories={"g1": "no Write"})), [K.WRONG]),
        (aborted("with-1"), [K.ABORTED]),
        (lost("with-1"), [K.NOT_MEASURED]),
        (lost("without-1"), [K.NOT_MEASURED]),
        (run("with-1", "", ending=Ending.NOT_LOADED), [K.NOT_LOADED]),
        (run("with-1", (verdict("P"), unjudged("E", "529"))), [K.GRADER_ERRORED]),
        (run("with-1", (verdict("P"), unjudged("S", "ceiling"))), [K.NOT_JUDGED]),
    ],
)
def test_causes_of_a_run_the_weightiest_first(report: RunReport, kinds: list[CauseKind]) -> None:
    assert [cause.kind for cause in run_causes(report)] == kinds


@pytest.mark.parametrize("ending", [*Ending])
@given(letters=st.text("PFES", max_size=4), called=st.sampled_from([None, (), ("x",)]))
def test_only_a_good_run_has_no_cause(
    ending: Ending, letters: str, called: tuple[str, ...] | None
) -> None:
    report = replace(run("with-1", letters, ending=ending), skills_called=called)

    causes = run_causes(report)

    assert bool(causes) != report.passed
    assert all(cause_text(cause, report).startswith(TITLES[cause.kind]) for cause in causes)


WITHOUT = ("without-1", "P")


@pytest.mark.parametrize(
    ("runs", "min_delta", "texts"),
    [
        ([("with-1", "P"), WITHOUT], None, []),
        (
            [("with-1", "F"), WITHOUT],
            None,
            [
                "wrong: grader g1 failed",
                "worse than without the plugin: WITH 0.00, W/OUT 1.00",
            ],
        ),
        ([("with-1", "F"), ("without-1", "F")], None, ["wrong: grader g1 failed"]),
        (
            [("with-1", "P"), WITHOUT],
            0.5,
            [
                "the base model does it already: WITH 1.00, W/OUT 1.00, "
                "so it is as good without the plugin"
            ],
        ),
        (
            [("with-1", "P"), ("without-1", "PF")],
            0.9,
            ["too small a difference: WITH 1.00, W/OUT 0.50"],
        ),
        ([("with-1", "F"), WITHOUT], 0.5, ["wrong: grader g1 failed", "worse *"]),
    ],
)
def test_causes_of_a_case(
    runs: list[tuple[str, str]], min_delta: float | None, texts: list[str]
) -> None:
    info = case_info(runs=plan(1, 1))
    result = case(info, *(run(*one, case=info) for one in runs), min_delta=min_delta)

    told = [case_cause_text(cause, result) for cause in case_causes(result, 1.0)]

    assert len(told) == len(texts)
    assert all(
        text.startswith(expected.removesuffix("*"))
        for text, expected in zip(told, texts, strict=True)
    )


def test_runs_of_a_case_that_share_a_cause_are_told_together() -> None:
    info = case_info(runs=plan(3, 0))
    runs = [run("with-1", "F", case=info), run("with-2", "F", case=info), run("with-3", case=info)]

    (cause,) = case_causes(case(info, *runs), 1.0)

    assert [one.key.number for one in cause.runs] == [1, 2]
    assert case_cause_text(cause, case(info, *runs)) == "wrong in 2 of 3 runs: grader g1 failed"


def test_case_of_which_a_run_was_not_made_says_so() -> None:
    info = case_info(runs=plan(2, 0))

    (cause,) = case_causes(case(info, run("with-1", case=info)), 1.0)

    assert cause.kind is K.NOT_MADE


def test_lost_runs_are_not_told_again_as_an_unknown_difference() -> None:
    info = case_info(runs=plan(1, 1))
    result = case(info, lost("with-1"), lost("without-1"), min_delta=0.5)

    assert [cause.kind for cause in case_causes(result, 1.0)] == [K.NOT_MEASURED]


def test_every_cause_has_a_title() -> None:
    assert set(TITLES) == set(CauseKind)


def test_grader_that_contradicts_itself_is_named() -> None:
    report = _limited("FP", {"max": 0}, called=("demo:hello",))

    told = cause_text(run_causes(report)[0], report)

    assert told == "a grader that cannot pass: grader used asks for more calls than its max allows"


def test_hostile_explanation_stays_one_line() -> None:
    graded: tuple[Verdict, ...] = (unjudged("E", "a\nb\x1b[2J" + "c" * 999),)
    report = run("with-1", graded)

    text = cause_text(run_causes(report)[0], report)

    assert "\n" not in text
    assert "\x1b" not in text
    assert len(text) < 300
