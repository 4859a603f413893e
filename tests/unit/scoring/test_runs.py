"""The score of one run. Spec: behaviour-evals, 5.1; deviations, D1, D2, D4."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.records.model import Ending
from pytest_plugin_eval.scoring.runs import mean, sinks_case, total
from tests.support.results import run, verdict


def test_score_is_the_weighted_share_of_passed_graders() -> None:
    graded = tuple(
        verdict(letter, name, weight=weight)
        for letter, name, weight in (("P", "a", 3), ("P", "b", 1), ("F", "c", 0.5), ("F", "d", 2))
    )

    report = run("with-1", graded)

    assert report.score == 0.6153846153846154
    assert (report.measured, report.passed, report.unmeasured_reason) == (True, False, None)


def test_grader_that_is_not_scored_changes_nothing() -> None:
    indicator = verdict("F", "fired", weight=5, with_only=True, scored=False)

    report = run("with-1", (verdict("P"), indicator))

    assert (report.score, report.passed) == (1.0, True)


@pytest.mark.parametrize(
    "ending", [Ending.COMPLETED, Ending.TURN_LIMIT, Ending.TIMED_OUT, Ending.STOPPED]
)
def test_run_that_ended_by_its_own_doing_is_scored(ending: Ending) -> None:
    report = run("with-1", "PF", ending=ending, error="something")

    assert (report.score, report.measured) == (0.5, True)


@pytest.mark.parametrize("ending", [Ending.AGENT_ERROR, Ending.NO_RESULT, Ending.INTERRUPTED])
def test_run_lost_to_the_infrastructure_has_no_score(ending: Ending) -> None:
    report = run("with-1", "PP", ending=ending, error="connection lost")

    assert (report.score, report.measured, report.passed) == (None, False, False)
    assert report.unmeasured_reason == "connection lost"


@pytest.mark.parametrize(
    ("graded", "reason"),
    [
        (
            (verdict("P"), verdict("E", "tone", explanation="judge gone")),
            "grader 'tone' errored: judge gone",
        ),
        (
            (verdict("P"), verdict("S", "tone", explanation="cost ceiling")),
            "grader 'tone' skipped: cost ceiling",
        ),
        ((verdict("S", scored=False),), "no scored grader was evaluated"),
        ((), "no scored grader was evaluated"),
    ],
    ids=["errored", "skipped at the ceiling", "all left out", "none"],
)
def test_run_without_a_verdict_that_counts_has_no_score(
    graded: tuple[object, ...], reason: str
) -> None:
    report = run("with-1", graded)  # type: ignore[arg-type]  # verdicts, by the table above

    assert (report.score, report.measured, report.passed) == (None, False, False)
    assert report.unmeasured_reason == reason


def test_errored_indicator_leaves_the_run_measured() -> None:
    report = run("with-1", (verdict("P"), verdict("E", "fired", with_only=True, scored=False)))

    assert report.score == 1.0


def test_paid_graders_left_out_are_told() -> None:
    report = run("with-1", "PS")

    assert (report.score, report.skipped_paid) == (1.0, True)


@pytest.mark.parametrize(
    ("score", "threshold", "planned", "sinks"),
    [
        (1.0, 1.0, 1, False),
        (0.99, 1.0, 50, True),
        (0.0, 0.8, 5, False),
        (0.0, 0.8, 4, True),
        (0.0, 0.9, 10, False),
        (0.7, 0.7, 1, False),
        (0.1, 0.7, 3, False),
        (0.09, 0.7, 3, True),
        (0.0, 0.0, 1, False),
    ],
)
def test_run_sinks_its_case_when_the_others_cannot_make_up_for_it(
    score: float, threshold: float, planned: int, sinks: bool
) -> None:
    assert sinks_case(score, threshold, planned) is sinks


def test_sum_is_plain_on_every_python_version() -> None:
    assert total([0.1] * 10) == 0.9999999999999999


def test_mean_of_nothing_is_none() -> None:
    assert mean([]) is None
