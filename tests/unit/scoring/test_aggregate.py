"""The numbers of a case and a suite. Spec: behaviour-evals, 5.3 and 5.4; deviations, D1."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.records.model import Ending
from pytest_plugin_eval.scoring.aggregate import case_result, suite_result
from pytest_plugin_eval.scoring.model import RunReport, Verdict
from tests.support.results import (
    case,
    case_info,
    lost,
    plan,
    run,
    suite_info,
    unjudged,
    verdict,
)


def _arm(arm: str, *graded: str) -> list[RunReport]:
    return [run(f"{arm}-{number}", letters) for number, letters in enumerate(graded, 1)]


def test_case_has_the_means_of_its_arms_and_their_difference() -> None:
    result = case(None, *_arm("with", "PP", "PF", "PP"), *_arm("without", "FF", "PF", "FF"))

    assert result.score == pytest.approx(5 / 6)
    assert result.score_without == pytest.approx(1 / 6)
    assert result.delta == pytest.approx(2 / 3)
    assert result.pass_rate == pytest.approx(2 / 3)
    assert result.pass_rate_without == 0
    assert (result.passed, result.withheld) == (False, None)


def test_one_arm_has_no_comparison() -> None:
    info = case_info(runs=plan(2, 0))

    result = case(info, run("with-1", case=info), run("with-2", case=info))

    assert (result.score, result.score_without, result.delta) == (1.0, None, None)
    assert (result.passed, result.withheld) == (True, None)


@pytest.mark.parametrize(
    ("runs", "score", "withheld"),
    [
        (
            [*_arm("with", "P", "P", "P"), *_arm("without", "P", "F"), lost("without-3")],
            1.0,
            "asymmetric loss: 1 of 3 without-runs not measured",
        ),
        (
            [*_arm("with", "P", "P"), lost("with-3"), *_arm("without", "P", "F", "F")],
            1.0,
            "asymmetric loss: 1 of 3 with-runs not measured",
        ),
        ([lost("with-1"), lost("without-1")], None, "no run was measured"),
        ([lost("with-1"), run("without-1"), lost("without-2")], None, "no with-run was measured"),
        ([run("with-1"), lost("with-2"), lost("without-1")], 1.0, "no without-run was measured"),
        (_arm("with", "P", "P", "P"), 1.0, "no without-run was made"),
        (_arm("without", "P"), None, "no with-run was made"),
    ],
    ids=[
        "without lost one",
        "with lost one",
        "all lost",
        "with lost all",
        "without lost all",
        "no without",
        "no with",
    ],
)
def test_delta_is_withheld_when_the_arms_are_not_comparable(
    runs: list[RunReport], score: float | None, withheld: str
) -> None:
    result = case(None, *runs)

    assert (result.score, result.score_without, result.delta) == (score, None, None)
    assert (result.withheld, result.passed) == (withheld, False)


SKIPPED = (verdict("P"), unjudged("S", "cost ceiling $1 reached"))
FAILED = (verdict("P"), unjudged("E", "the judge gave no answer"))


@pytest.mark.parametrize(
    ("graded_with", "graded_without", "withheld"),
    [
        (["P", "P"], ["F", SKIPPED], "1 of 2 without-runs not judged under the cost ceiling"),
        ([SKIPPED, SKIPPED], ["F"], "2 of 2 with-runs not judged under the cost ceiling"),
        (["P", FAILED], ["F", "F"], "1 of 2 with-runs not measured"),
        (["P", SKIPPED, FAILED], ["F"], "2 of 3 with-runs not measured"),
        # Both arms lost runs, but only one of them its judges (spec: behaviour-evals, 5.3.1).
        (["P", FAILED], ["F", SKIPPED], "1 of 2 without-runs not judged under the cost ceiling"),
        (["P", SKIPPED], ["F", FAILED], "1 of 2 with-runs not judged under the cost ceiling"),
    ],
    ids=[
        "without-run skipped",
        "all with-runs skipped",
        "with-judge failed",
        "skipped and failed",
        "failed, skipped",
        "skipped, failed",
    ],
)
def test_judges_that_one_arm_had_to_do_without_are_an_asymmetric_loss(
    graded_with: list[str | tuple[Verdict, ...]],
    graded_without: list[str | tuple[Verdict, ...]],
    withheld: str,
) -> None:
    runs = [run(f"with-{n}", graded) for n, graded in enumerate(graded_with, 1)]
    runs += [run(f"without-{n}", graded) for n, graded in enumerate(graded_without, 1)]

    result = case(None, *runs)

    assert result.withheld == f"asymmetric loss: {withheld}"
    assert (result.score_without, result.delta, result.passed) == (None, None, False)


def test_delta_stands_when_both_arms_had_to_do_without_judges() -> None:
    result = case(
        None,
        run("with-1"),
        run("with-2", SKIPPED),
        run("without-1", "F"),
        run("without-2", SKIPPED),
    )

    assert (result.delta, result.withheld) == (1.0, None)


def test_skipped_grader_that_is_not_scored_costs_no_measurement() -> None:
    left_out = (verdict("P"), verdict("S", "tone", with_only=True, scored=False))

    result = case(case_info(runs=plan(1, 1)), run("with-1", left_out), run("without-1", "F"))

    assert (result.delta, result.withheld, result.passed) == (1.0, None, True)
    assert result.with_runs[0].skipped_paid


def test_delta_stands_when_both_arms_lost_some_runs() -> None:
    result = case(None, run("with-1"), lost("with-2"), run("without-1", "PF"), lost("without-2"))

    assert (result.score, result.score_without, result.delta) == (1.0, 0.5, 0.5)
    assert not result.passed


def test_unequal_numbers_of_runs_do_not_withhold_delta() -> None:
    result = case(None, *_arm("with", "P", "P", "P"), *_arm("without", "F"))

    assert (result.delta, result.withheld, result.passed) == (1.0, None, False)


def test_run_that_never_started_is_no_run() -> None:
    not_started = run("without-2", "", ending=Ending.NOT_STARTED, error="cost ceiling")

    result = case(None, *_arm("with", "P"), *_arm("without", "F"), not_started)

    assert len(result.without_runs) == 1
    assert (result.delta, result.passed) == (1.0, False)


def test_case_passes_on_what_was_selected() -> None:
    result = case_result(case_info(), _arm("with", "P", "P"), threshold=1.0, expected=plan(2, 0))

    assert (result.passed, result.withheld) == (True, "no without-run was selected")


@pytest.mark.parametrize(
    ("graded", "threshold", "passed"),
    [
        (("P", "F", "P"), 0.5, True),
        (("P", "F", "P"), 0.67, False),
        (("P", "P", "P", "P", "F"), 0.8, True),
        # The mean of three 0.7 is 0.6999999999999998, and compared as it stands.
        (("PPPPPPPFFF",) * 3, 0.7, False),
        (("F",), 0.0, True),
    ],
)
def test_case_passes_at_the_threshold(
    graded: tuple[str, ...], threshold: float, passed: bool
) -> None:
    info = case_info(runs=plan(len(graded), 0))

    result = case_result(info, _arm("with", *graded), threshold=threshold)

    assert result.passed is passed


@pytest.mark.parametrize(
    ("min_delta", "passed"), [(None, True), (0.5, True), (0.51, False), (-1.0, True)]
)
def test_case_fails_below_the_difference_asked_for(min_delta: float | None, passed: bool) -> None:
    runs = (*_arm("with", "P", "P"), *_arm("without", "P", "F"))

    result = case(case_info(runs=plan(2, 2)), *runs, min_delta=min_delta)

    assert (result.passed, result.missed_delta is None) == (passed, passed)


def test_case_without_a_difference_misses_the_one_asked_for() -> None:
    result = case(case_info(runs=plan(1, 0)), *_arm("with", "P"), min_delta=-1.0)

    assert (result.passed, result.missed_delta) == (False, -1.0)


def test_suite_means_are_over_cases() -> None:
    one = case(case_info("one"), *_arm("with", "P", "P", "P"), *_arm("without", "F", "F", "F"))
    two = case(case_info("two"), *_arm("with", "P", "F", "F"), *_arm("without", "P", "P", "P"))

    suite = suite_result(suite_info(), [two, one], partial_reason=None)

    assert [result.info.name for result in suite.cases] == ["one", "two"]
    assert suite.cases_passed == 1
    assert suite.overall_score == suite.overall_pass_rate == pytest.approx(2 / 3)
    assert suite.mean_delta == pytest.approx(1 / 6)
    assert suite.cost_usd == pytest.approx(0.12)
    assert suite.partial_reason is None


def test_suite_leaves_out_what_has_no_number() -> None:
    measured = case(case_info("one"), *_arm("with", "P"), *_arm("without", "F"))
    nothing = case(case_info("two"), lost("with-1"), lost("without-1"))
    never = case(case_info("three"))

    suite = suite_result(suite_info(), [measured, nothing, never], partial_reason=None)

    assert [result.info.name for result in suite.cases] == ["one", "two"]
    assert (suite.overall_score, suite.mean_delta) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("stopped", "runs", "reason"),
    [
        (None, [run("with-1")], None),
        (None, [run("with-1"), lost("without-1")], "not_measured"),
        ("cost_ceiling", [run("with-1"), lost("without-1")], "cost_ceiling"),
        ("interrupted", [run("with-1")], "interrupted"),
        (None, [run("with-1", SKIPPED)], "cost_ceiling"),
        (None, [run("with-1", FAILED)], "not_measured"),
        (None, [run("with-1", FAILED), run("with-2", SKIPPED), lost("with-3")], "cost_ceiling"),
        ("not_measured", [run("with-1", SKIPPED)], "cost_ceiling"),
        ("auth_failed", [run("with-1", SKIPPED)], "auth_failed"),
        ("interrupted", [run("with-1", SKIPPED), lost("with-2")], "interrupted"),
        ("cost_ceiling", [run("with-1")], "cost_ceiling"),
    ],
)
def test_weightiest_reason_for_partial_results_counts(
    stopped: str | None, runs: list[RunReport], reason: str | None
) -> None:
    suite = suite_result(suite_info(), [case(None, *runs)], partial_reason=stopped)

    assert suite.partial_reason == reason


@pytest.mark.parametrize(
    "dear",
    [run("with-2", cost_usd=None), run("with-2", judge_cost_usd=None)],
    ids=["agent", "judge"],
)
def test_one_unknown_cost_makes_the_sum_unknown(dear: RunReport) -> None:
    runs = [run("with-1"), dear]

    suite = suite_result(suite_info(), [case(None, *runs)], partial_reason=None)

    assert suite.cost_usd is None
