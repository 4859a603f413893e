"""How cases did over many sessions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_plugin_eval.scoring.aggregate import case_result, suite_result
from pytest_plugin_eval.scoring.model import SuiteResult
from pytest_plugin_eval.scoring.trend import (
    COPY,
    SHARD,
    Condition,
    Trend,
    conditions_changed,
    trends,
)
from tests.support import results


def _suite(
    day: int,
    letters: str = "PP",
    *,
    case: str = "one",
    lost: bool = False,
    partial: str | None = None,
    **fields: object,
) -> SuiteResult:
    info = results.case_info(case, runs=results.plan(2, 1))
    second = results.lost("with-2", case=info)
    runs = [
        results.run("with-1", letters, case=info),
        second if lost else results.run("with-2", letters, case=info),
        results.run("without-1", "PF", case=info),
    ]
    return suite_result(
        results.suite_info(started_at=f"2026-01-{day:02}T09:00:00.000Z", **fields),
        [case_result(info, runs, threshold=1.0)],
        partial_reason=partial,
    )


def _trend(*suites: SuiteResult, with_replays: bool = False) -> Trend:
    (found,) = trends(((suite, None) for suite in suites), with_replays=with_replays)
    return found


def test_sessions_stand_by_time_whatever_their_order() -> None:
    found = _trend(_suite(3, "PF"), _suite(1, "PP"), _suite(2, "FF"))

    assert [session.started_at[8:10] for session in found.sessions] == ["01", "02", "03"]
    (case,) = found.cases
    assert [point and point.with_score for point in case.points] == [1.0, 0.0, 0.5]
    assert [point and point.passed for point in case.points] == [True, False, False]


def test_case_that_a_session_did_not_have_is_a_gap() -> None:
    found = _trend(_suite(1), _suite(2, case="two"))

    assert {case.name: [point is not None for point in case.points] for case in found.cases} == {
        "one": [True, False],
        "two": [False, True],
    }


@pytest.mark.parametrize(
    ("suite", "reason"),
    [
        (_suite(2, partial="interrupted"), "interrupted"),
        (_suite(2, partial="cost_ceiling"), "stopped by the cost ceiling"),
        (_suite(2, partial="auth_failed"), "stopped by a refused credential"),
        (_suite(2, mode="replay"), "graded again from earlier runs"),
        (_suite(2, mode="rescore"), "graded again from earlier runs"),
        (_suite(2, shard="1/4"), SHARD),
        (_suite(1), COPY),
    ],
)
def test_what_does_not_count_is_left_out_and_counted(suite: SuiteResult, reason: str) -> None:
    found = _trend(_suite(1), suite)

    assert len(found.sessions) == 1
    assert found.left_out == {reason: 1}


def test_session_without_a_measured_run_is_no_zero() -> None:
    info = results.case_info("one", runs=results.plan(1, 0))
    case = case_result(info, [results.lost("with-1", case=info)], threshold=1.0)
    empty = suite_result(results.suite_info(), [case], partial_reason=None)

    found = _trend(_suite(1), empty)

    assert found.left_out == {"without a measured run": 1}
    assert len(found.sessions) == 1


def test_lost_run_is_left_out_of_its_mean_and_counted() -> None:
    found = _trend(_suite(1, "PP", lost=True))

    assert found.unmeasured == 1
    point = found.cases[0].points[0]
    assert point is not None
    assert (point.with_score, point.runs, point.delta) == (1.0, 1, None)


def test_replays_count_when_they_are_asked_for() -> None:
    found = _trend(_suite(1), _suite(2, mode="replay"), with_replays=True)

    assert len(found.sessions) == 2


def test_plugins_have_trends_of_their_own() -> None:
    other = replace(
        _suite(1), info=results.suite_info(plugins=({"name": "else", "path": "/else"},))
    )

    found = trends([(_suite(1), 70.5), (other, None)])

    assert [(trend.suite, len(trend.sessions)) for trend in found] == [("demo", 1), ("else", 1)]
    assert [trend.sessions[0].composite for trend in found] == [70.5, None]


def test_sessions_that_began_at_once_are_no_copies() -> None:
    assert len(_trend(_suite(1), _suite(1, "PF")).sessions) == 2


def test_conditions_of_a_session_are_compared_with_the_one_before() -> None:
    one, other = _trend(
        _suite(1), _suite(2, claude_version="3", threshold=0.5, ablation="none", free_only=True)
    ).sessions

    assert conditions_changed(one, one) == ()
    assert conditions_changed(one, other) == (
        Condition("Claude Code", "2.1.332", "3"),
        Condition("arms", "with-without", "none"),
        Condition("threshold", "1", "0.5"),
        Condition("llm graders", "evaluated", "left out"),
    )


def test_what_a_session_does_not_tell_has_not_changed() -> None:
    told, silent = _trend(_suite(1), _suite(2, claude_version="")).sessions

    assert conditions_changed(told, silent) == ()
