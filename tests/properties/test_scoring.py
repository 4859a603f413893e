"""What holds for every score."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from pytest_plugin_eval.records.model import Ending
from pytest_plugin_eval.scoring.aggregate import case_result
from pytest_plugin_eval.scoring.model import RunReport, Verdict
from pytest_plugin_eval.scoring.runs import meets_threshold, sinks_case
from tests.support.results import case_info, run, verdict

WEIGHTS = st.floats(min_value=0.01, max_value=100)
SHARES = st.floats(min_value=0, max_value=1)
GRADED = st.lists(st.tuples(st.booleans(), WEIGHTS), min_size=1, max_size=8)
LETTERS = st.text("PF", min_size=1, max_size=4)


def _verdicts(graded: list[tuple[bool, float]]) -> tuple[Verdict, ...]:
    return tuple(
        verdict("P" if passed else "F", f"g{number}", weight=weight)
        for number, (passed, weight) in enumerate(graded)
    )


def _runs(arm: str, letters: list[str]) -> list[RunReport]:
    """Return a run for each text; an empty one stands for a run that was lost."""
    return [
        run(f"{arm}-{number}", graded)
        if graded
        else run(f"{arm}-{number}", "P", ending=Ending.AGENT_ERROR, error="lost")
        for number, graded in enumerate(letters, 1)
    ]


ARM = st.lists(LETTERS | st.just(""), max_size=5)
MEASURED = st.lists(LETTERS, min_size=1, max_size=5)


@given(GRADED)
def test_run_score_is_a_share(graded: list[tuple[bool, float]]) -> None:
    report = run("with-1", _verdicts(graded))

    assert report.score is not None
    assert 0 <= report.score <= 1
    assert report.passed == all(passed for passed, _ in graded) == (report.score == 1)


@given(GRADED, st.data())
def test_run_score_rises_with_each_verdict(
    graded: list[tuple[bool, float]], data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, len(graded) - 1))
    better = [*graded[:index], (True, graded[index][1]), *graded[index + 1 :]]

    before, after = run("with-1", _verdicts(graded)).score, run("with-1", _verdicts(better)).score

    assert before is not None
    assert after is not None
    assert before <= after


@given(ARM, ARM, st.randoms())
def test_case_does_not_depend_on_the_order_of_runs(
    with_arm: list[str], without_arm: list[str], random: Random
) -> None:
    runs = [*_runs("with", with_arm), *_runs("without", without_arm)]
    shuffled = list(runs)
    random.shuffle(shuffled)

    assert case_result(case_info(), shuffled, threshold=0.5) == case_result(
        case_info(), runs, threshold=0.5
    )


@given(ARM, ARM)
def test_delta_is_with_minus_without(with_arm: list[str], without_arm: list[str]) -> None:
    runs = [*_runs("with", with_arm), *_runs("without", without_arm)]

    result = case_result(case_info(), runs, threshold=0.5)

    comparable = result.withheld is None
    assert (result.delta is not None) == comparable == (result.score_without is not None)
    assert comparable == (any(with_arm) and any(without_arm) and all(with_arm) == all(without_arm))


@given(MEASURED, MEASURED, st.integers(0, 2))
def test_delta_when_given_is_the_difference(
    with_arm: list[str], without_arm: list[str], lost: int
) -> None:
    gone = [""] * lost
    runs = [*_runs("with", [*with_arm, *gone]), *_runs("without", [*without_arm, *gone])]

    result = case_result(case_info(), runs, threshold=0.5)

    assert result.score is not None
    assert result.score_without is not None
    assert result.delta == result.score - result.score_without
    assert -1 <= result.score - result.score_without <= 1


@given(ARM)
def test_lost_run_never_moves_a_mean_and_never_lets_a_case_pass(with_arm: list[str]) -> None:
    kept = [graded for graded in with_arm if graded]

    all_runs = case_result(case_info(), _runs("with", with_arm), threshold=0.0)
    measured = case_result(case_info(), _runs("with", kept), threshold=0.0)

    assert (all_runs.score, all_runs.pass_rate) == (measured.score, measured.pass_rate)
    assert all(with_arm) or not all_runs.passed


@given(SHARES, SHARES, st.integers(1, 50))
def test_run_that_sinks_its_case_leaves_no_way_to_pass(
    score: float, threshold: float, planned: int
) -> None:
    best = (planned - 1 + score) / planned

    assert sinks_case(score, threshold, planned) != meets_threshold(best, threshold)
    assert not sinks_case(1.0, threshold, planned)
