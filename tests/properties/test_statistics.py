"""What holds for every interval."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_plugin_eval.scoring.statistics import (
    EloMatch,
    Interval,
    bootstrap_mean,
    clopper_pearson,
    elo_expected,
    elo_rating,
    mean,
    population_std,
    spread,
    wilson,
)

COUNTS = st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=30)
TOKENS = st.lists(st.integers(0, 10**9), min_size=1, max_size=120)
RATINGS = st.floats(0, 4000)


def _exact(events: int, n: int) -> Interval:
    interval = clopper_pearson(events, n)
    assert interval is not None
    return interval


KINDS = pytest.mark.parametrize("interval", [wilson, _exact], ids=["wilson", "exact"])
Kind = Callable[[int, int], Interval]


@KINDS
@given(counts=COUNTS)
def test_interval_holds_the_rate(interval: Kind, counts: tuple[int, int]) -> None:
    events, n = counts

    lower, upper = interval(events, n)

    assert 0 <= lower <= events / n <= upper <= 1
    assert lower < upper


@KINDS
@given(counts=COUNTS)
def test_interval_rises_with_the_events(interval: Kind, counts: tuple[int, int]) -> None:
    events, n = counts

    before, after = interval(events, n + 1), interval(events + 1, n + 1)

    assert before.lower < after.lower
    assert before.upper < after.upper


@KINDS
@given(counts=COUNTS)
def test_interval_is_symmetric(interval: Kind, counts: tuple[int, int]) -> None:
    events, n = counts

    lower, upper = interval(n - events, n)

    assert interval(events, n) == pytest.approx((1 - upper, 1 - lower), abs=1e-12)


@KINDS
@given(counts=COUNTS)
def test_interval_narrows_with_the_runs(interval: Kind, counts: tuple[int, int]) -> None:
    events, n = counts

    few, many = interval(events, n), interval(2 * events, 2 * n)

    assert many.upper - many.lower < few.upper - few.lower


@given(SHARES)
def test_bootstrap_lies_within_the_values(values: list[float]) -> None:
    lower, upper = bootstrap_mean(values)

    assert min(values) <= lower <= upper <= max(values)
    assert bootstrap_mean(values) == (lower, upper)


@given(SHARES)
def test_mean_and_deviation_depend_on_no_order(values: list[float]) -> None:
    assert mean(values) == mean(values[::-1])
    assert population_std(values) == population_std(values[::-1])
    assert 0 <= population_std(values) <= 0.5 + 1e-12


@given(TOKENS)
def test_spread_lies_within_the_values(values: list[int]) -> None:
    found = spread(values)

    assert min(values) <= found.median <= max(values)
    assert 0 <= found.iqr <= max(values) - min(values)
    assert 0 <= found.outlier_count <= len(values) / 4
    assert spread(values[::-1]) == found


@given(RATINGS, RATINGS)
def test_elo_expectations_add_up(own: float, other: float) -> None:
    assert elo_expected(own, other) + elo_expected(other, own) == pytest.approx(1)


@given(st.lists(st.tuples(RATINGS, st.sampled_from([0.0, 0.5, 1.0])), max_size=20))
def test_elo_moves_by_at_most_a_step_a_match(results: list[tuple[float, float]]) -> None:
    matches = [EloMatch(*result) for result in results]

    assert abs(elo_rating(matches) - 1500) <= 32 * len(matches)
