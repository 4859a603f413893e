"""The lines below the table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_plugin_eval.records.model import Ending, RunOutcome
from pytest_plugin_eval.reports.summary import summary_lines
from pytest_plugin_eval.scoring.aggregate import suite_result
from pytest_plugin_eval.scoring.model import CaseResult, NotStarted, RunReport
from tests.support.results import (
    aborted,
    attempted,
    case,
    case_info,
    judged,
    judged_suite,
    lost,
    plan,
    run,
    suite_info,
    unjudged,
    verdict,
)

REASON = "cost ceiling $1 reached"


def _summary(*runs: RunReport, partial: str | None = None, **fields: object) -> list[str]:
    cases = [case(case_info(runs=plan(1, 1)), *runs)] if runs else []
    return summary_lines(suite_result(suite_info(**fields), cases, partial_reason=partial))


def _line(lines: list[str], part: str) -> str:
    """Return the one line with *part* in it; an empty text where there is none."""
    found = [line for line in lines if part in line]
    assert len(found) < 2
    return "".join(found)


@pytest.mark.parametrize(
    ("runs", "cost"),
    [
        ([run("with-1"), run("without-1", cost_usd=0.42)], "12s · $0.43"),
        (
            [run("with-1", cost_usd=0.42), run("without-1", cost_usd=None)],
            "12s · $0.42 + unknown (1 run)",
        ),
        (
            [run("with-1", cost_usd=0.42, judge_cost_usd=None), run("without-1", cost_usd=0)],
            "12s · $0.42 + unknown (1 run)",
        ),
        ([run("with-1", cost_usd=None), lost("without-1")], "12s · $0.01 + unknown (1 run)"),
        (
            [run("with-1", cost_usd=None), run("without-1", cost_usd=None)],
            "12s · unknown (2 runs)",
        ),
    ],
)
def test_sum_says_what_is_unknown(runs: list[RunReport], cost: str) -> None:
    assert _summary(*runs)[0].endswith(cost)


@pytest.mark.parametrize(
    ("runs", "line"),
    [
        ([run("with-1")], ""),
        ([run("with-1", cost_usd=0), run("without-1", cost_usd=0)], ""),
        ([run("with-1"), run("without-1", cost_usd=0.42)], "cost: with $0.01, without $0.42"),
        (
            [run("with-1", (judged("P", "PPP"),), cost_usd=0.42, judge_cost_usd=0.003)],
            "cost: judge $0.0030",
        ),
        ([run("with-1", judge_cost_usd=None)], "cost: judge unknown"),
        (
            [
                run("with-1", (judged("P", "PPP"),), judge_cost_usd=0.25),
                run("without-1", (judged("F", "FFF"),), judge_cost_usd=None),
            ],
            "cost: with $0.26, without $0.01 + unknown; judge $0.25 + unknown",
        ),
    ],
    ids=["one arm", "nothing paid", "two arms", "judge", "judge unknown", "all"],
)
def test_cost_is_divided_where_it_has_parts(runs: list[RunReport], line: str) -> None:
    assert _line(_summary(*runs), "cost: ") == line


@pytest.mark.parametrize(
    ("spent_usd", "line"),
    [
        (0.0, ""),
        (0.01, ""),
        (0.010000000001, ""),
        (0.0125, "spent: $0.01, with what led to no result"),
    ],
)
def test_more_spent_than_the_runs_cost_is_told(spent_usd: float, line: str) -> None:
    assert _line(_summary(run("with-1"), spent_usd=spent_usd), "spent: ") == line


def test_known_part_of_an_unknown_cost_is_no_money_for_nothing() -> None:
    outcome = RunOutcome(
        ending=Ending.COMPLETED, cost_usd=None, known_cost_usd=0.25, attempts=2, turns=1
    )
    repeated = replace(run("with-1"), outcome=outcome)

    lines = _summary(repeated, spent_usd=0.25)

    assert lines[0].endswith("$0.25 + unknown (1 run)")
    assert _line(lines, "spent: ") == ""


@pytest.mark.parametrize(
    ("votes", "line"),
    [
        ("PPF", ""),
        ("PP?", "⚠ 1 vote was unreadable and counts as FAIL"),
        ("P??", "⚠ 2 votes were unreadable and count as FAIL"),
    ],
)
def test_unreadable_votes_are_counted(votes: str, line: str) -> None:
    assert _line(_summary(run("with-1", (judged("P", votes),))), "unreadable") == line


def test_judges_of_two_models_are_named() -> None:
    runs = [run(f"{arm}-1", (judged("P", "PPP", judge_model=arm),)) for arm in ("with", "without")]

    line = _line(_summary(*runs), "models")

    assert line == "⚠ 2 models judged, and need not agree: with, without"


def test_one_model_is_no_news() -> None:
    assert not _line(_summary(run("with-1", (judged("P", "PPP"),))), "models")


@pytest.mark.parametrize(
    ("missing", "line"),
    [
        ([unjudged("E", "overloaded")], "1 run lacks only a judge's votes: "),
        ([unjudged("S", REASON)], "1 run lacks only a judge's votes: "),
        ([unjudged("E", "overloaded"), verdict("E", "slow")], ""),
        ([verdict("E", "slow")], ""),
        ([judged("F", "FFF")], ""),
    ],
    ids=["errored", "skipped", "a free grader errored as well", "a free one alone", "judged"],
)
def test_runs_that_need_no_agent_to_be_graded_are_told(missing: list[object], line: str) -> None:
    lines = _summary(run("with-1", tuple(missing)))  # type: ignore[arg-type]  # verdicts all

    assert _line(lines, "only a judge").startswith(line)
    assert bool(_line(lines, "only a judge")) == bool(line)


@pytest.mark.parametrize(
    ("runs", "line"),
    [
        ([run("with-1")], ""),
        ([aborted("with-1")], "1 run was aborted by a mock and counts as 0, not graded"),
        (
            [aborted("with-1"), aborted("without-1")],
            "2 runs were aborted by a mock and count as 0, not graded",
        ),
    ],
    ids=["none", "one", "two"],
)
def test_aborted_runs_are_counted_apart_from_errors(runs: list[RunReport], line: str) -> None:
    lines = _summary(*runs)

    assert _line(lines, "aborted") == line
    assert not _line(lines, "ended with an error")


@pytest.mark.parametrize(
    ("runs", "line"),
    [
        ([attempted(run("with-1"), 1)], ""),
        ([attempted(run("with-1"), 2)], "1 run took more than one attempt"),
        (
            [attempted(run("with-1"), 2), attempted(lost("without-1"), 3)],
            "2 runs took more than one attempt",
        ),
    ],
)
def test_repeated_runs_are_counted(runs: list[RunReport], line: str) -> None:
    assert _line(_summary(*runs), "attempt").partition(":")[0] == line


FIRED = {"name": "fired", "type": "tool_used", "config": {"tool": "Skill"}}


def _strict(count: int) -> list[CaseResult]:
    """Return cases in which the skill was used and a judge failed the answer."""
    graded = (verdict("P", "fired", with_only=True, scored=False), judged("F", "FFF"))
    infos = [replace(case_info(f"c{number}"), graders=(FIRED,)) for number in range(count)]
    return [case(info, *(run(f"with-{n}", graded, case=info) for n in (1, 2))) for info in infos]


def test_strict_judge_is_hinted_at_once_a_case() -> None:
    suite = suite_result(suite_info(), _strict(2), partial_reason=None)

    hints = [line for line in summary_lines(suite) if line.startswith("hint: ")]

    assert [hint.partition(" failed ")[0] for hint in hints] == [
        "hint: evals/c0: grader 'tone'",
        "hint: evals/c1: grader 'tone'",
    ]


def test_hints_stay_few() -> None:
    suite = suite_result(suite_info(), _strict(20), partial_reason=None)

    lines = summary_lines(suite)

    assert sum(line.startswith("hint: ") for line in lines) == 5
    assert "and 15 more such hints, see the result document" in lines


def test_runs_taken_over_are_told_from_those_made_now() -> None:
    lines = _summary(run("with-1"), run("without-1"), resumed=1, spent_usd=0.01)

    assert "1 run taken over from an earlier session, 1 made now for $0.01" in lines


@pytest.mark.parametrize(
    ("spent_usd", "line"),
    [
        (0.0, "replay: recorded runs, graded afresh (in May)"),
        (
            0.003,
            "replay: recorded runs, graded afresh (in May); votes not recorded cost $0.0030 now",
        ),
    ],
)
def test_replay_tells_what_votes_cost_it(spent_usd: float, line: str) -> None:
    lines = _summary(run("with-1"), mode="replay", recorded="in May", spent_usd=spent_usd)

    assert line in lines


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"ceiling_usd": 1.0, "spent_usd": 1.25}, True),
        ({"ceiling_usd": 1.0, "spent_usd": 1.0}, True),
        ({"ceiling_usd": 1.0, "spent_usd": 0.75}, False),
        ({"ceiling_usd": None, "spent_usd": 1.25}, False),
        ({"ceiling_usd": 0.0, "spent_usd": 0.0}, False),
        ({"ceiling_usd": 1.0, "spent_usd": 1.25, "not_started": ("evals/x",)}, False),
        (
            {
                "ceiling_usd": 1.0,
                "spent_usd": 1.25,
                "runs_not_started": (NotStarted(case="evals/x", runs=("with-2",), reason=REASON),),
            },
            False,
        ),
    ],
)
def test_ceiling_that_cut_nothing_is_told(fields: dict[str, object], told: bool) -> None:
    line = _line(_summary(run("with-1"), partial=None, **fields), "nothing was left out")

    assert bool(line) is told


def test_ceiling_that_only_judges_met_does_not_claim_runs_were_not_started() -> None:
    lines = _summary(run("with-1", (unjudged("S", REASON),)), ceiling_usd=1.0, spent_usd=1.25)

    assert "⚠ partial: the cost ceiling kept judges from being asked" in lines
    assert not _line(lines, "nothing was left out")


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (("with-2",), "with-2"),
        (("with-2", "with-3"), "with-2 to 3"),
        (("with-1", "with-3", "without-1"), "with-1, with-3, without-1"),
        (("with-3", "without-1", "without-2", "without-3"), "with-3, without-1 to 3"),
    ],
)
def test_runs_not_started_are_named_with_the_reason(names: tuple[str, ...], shown: str) -> None:
    missing = (NotStarted(case="evals/x", runs=names, reason=REASON),)

    line = _line(_summary(run("with-1"), runs_not_started=missing), "not started")

    assert line.endswith(f"not started ({REASON}): evals/x: {shown}")


@pytest.mark.parametrize(
    ("path", "mode", "told"),
    [
        (
            "evals/results/1/runs/evals/first-case/with-1.jsonl",
            "live",
            "plugin-eval rescore evals/results/1 asks for them, without an agent",
        ),
        (
            "/a b/recordings/evals/first-case/with-1.jsonl",
            "replay",
            "a replay that names the evals asks for them (without -n), and plugin-eval rescore "
            "'/a b/recordings' for all",
        ),
        ("", "live", "plugin-eval rescore asks for them, without an agent"),
    ],
    ids=["results", "recordings", "not kept"],
)
def test_missing_votes_come_with_what_asks_for_them(path: str, mode: str, told: str) -> None:
    lacking = replace(run("with-1", (unjudged("E", "overloaded"),)), record_path=path)

    line = _line(_summary(lacking, mode=mode), "lacks only")

    assert line == f"1 run lacks only a judge's votes: {told}"


def test_runs_of_cases_that_never_started_are_not_listed_again() -> None:
    missing = (NotStarted(case="evals/x", runs=("with-1",), reason=REASON),)

    lines = _summary(run("with-1"), runs_not_started=missing, not_started=("evals/x",))

    assert _line(lines, "not started") == (
        f"⚠ 1 case not started ({REASON}), in no number here: evals/x"
    )


def test_cases_that_never_started_are_listed_by_reason() -> None:
    missing = (
        NotStarted(case="evals/a", runs=("with-1",), reason="disk full"),
        NotStarted(case="evals/b", runs=("with-1",), reason="disk full"),
        NotStarted(case="evals/c", runs=("with-1",), reason="disk full"),
        NotStarted(case="evals/c", runs=("without-1",), reason=REASON),
    )

    lines = _summary(
        runs_not_started=missing,
        not_started=("evals/a", "evals/b", "evals/c", "evals/d"),
        partial="not_measured",
    )

    assert [line for line in lines if "not started" in line] == [
        "⚠ 2 cases not started (disk full), in no number here: evals/a, evals/b",
        f"⚠ 1 case not started (disk full; {REASON}), in no number here: evals/c",
        "⚠ 1 case not started, in no number here: evals/d",
    ]


def test_list_of_runs_not_started_stays_short() -> None:
    missing = tuple(
        NotStarted(case=f"evals/c{number}", runs=("with-1",), reason=REASON)
        for number in range(100)
    )

    line = _line(_summary(run("with-1"), runs_not_started=missing), "not started")

    assert line.startswith("⚠ 100 runs not started")
    assert line.endswith("; evals/c7: with-1; and of 92 further cases")


def test_every_line_stands_once() -> None:
    lines = summary_lines(judged_suite())

    assert len(lines) == len(set(lines)) == 11
