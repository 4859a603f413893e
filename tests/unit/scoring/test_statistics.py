"""Intervals, spreads and ratings: the specification's figures, and an independent computation."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest

from pytest_plugin_eval.scoring.statistics import (
    EloMatch,
    Interval,
    Spread,
    bootstrap_mean,
    clopper_pearson,
    elo_expected,
    elo_interval,
    elo_rating,
    mean,
    median,
    population_std,
    spread,
    wilson,
)

QUALITIES = [0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 1.0, 1.0]
TOKENS = [1207 + 100 * digit for digit in range(8)] + [500]


def _at_most(events: int, n: int, rate: Fraction) -> Fraction:
    """Return the probability of at most so many events."""
    return Fraction(
        sum(
            (math.comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(events + 1)),
            Fraction(),
        )
    )


def _bisected(is_below: Callable[[Fraction], bool]) -> float:
    """Return where the predicate turns, to 44 binary digits."""
    low, high = Fraction(0), Fraction(1)
    for _ in range(44):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return float(low)


def _by_binomial_sums(events: int, n: int) -> Interval:
    """Return the exact interval from its definition, in fractions."""
    tail = Fraction(1, 40)
    lower = upper = 0.0
    if events > 0:
        lower = _bisected(lambda rate: 1 - _at_most(events - 1, n, rate) < tail)
    upper = 1.0 if events == n else _bisected(lambda rate: _at_most(events, n, rate) > tail)
    return Interval(lower, upper)


@pytest.mark.parametrize(
    ("successes", "n", "lower", "upper"),
    [
        (40, 50, 0.6696262789551477, 0.8875637005402612),
        (0, 50, 0.0, 0.07135003417431873),
        (50, 50, 1 - 0.07135003417431873, 1.0),
        (0, 0, 0.0, 1.0),
        (1, 1, 0.20654329147389294, 1.0),
    ],
)
def test_wilson(successes: int, n: int, lower: float, upper: float) -> None:
    assert wilson(successes, n) == pytest.approx((lower, upper), abs=1e-15)


@pytest.mark.parametrize("n", [1, 3, 7, 50, 100])
def test_wilson_ends_are_exact(n: int) -> None:
    assert (wilson(0, n).lower, wilson(n, n).upper) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("events", "n", "lower", "upper"),
    [
        (0, 50, 0.0, 0.07112173646419767),
        (4, 50, 0.022227963654929753, 0.19234278359596285),
        (5, 50, 0.033275093589022475, 0.21813536643420225),
        (50, 50, 1 - 0.07112173646419767, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_clopper_pearson(events: int, n: int, lower: float, upper: float) -> None:
    assert clopper_pearson(events, n) == pytest.approx((lower, upper), abs=1e-14)


@pytest.mark.parametrize(
    ("events", "n"),
    [*((k, n) for n in (1, 2, 3, 10) for k in range(n + 1)), (1, 100), (4, 100), (99, 100)]
    + [(k, 50) for k in range(0, 51, 5)],
)
def test_clopper_pearson_is_that_of_the_binomial_sum(events: int, n: int) -> None:
    expected = _by_binomial_sums(events, n)

    assert clopper_pearson(events, n) == pytest.approx(expected, abs=1e-12)


def test_clopper_pearson_is_none_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.special", None)

    assert clopper_pearson(4, 50) is None


@pytest.mark.parametrize("interval", [wilson, clopper_pearson])
@pytest.mark.parametrize(("events", "n"), [(-1, 5), (6, 5), (0, -1)])
def test_counts_that_cannot_be_are_refused(
    interval: Callable[[int, int], object], events: int, n: int
) -> None:
    with pytest.raises(ValueError, match=f"expected from 0 to n = {n} events, got {events}"):
        interval(events, n)


@pytest.mark.parametrize(
    ("values", "lower", "upper"),
    [
        pytest.param([0.2, 0.4, 0.6, 0.8], 0.3, 0.7, id="four"),
        pytest.param(QUALITIES * 5, 0.5875, 0.7875, id="50 runs"),
        pytest.param(QUALITIES * 10, 0.6125, 0.76, id="100 runs"),
        pytest.param([0.4], 0.4, 0.4, id="one"),
        pytest.param([], 0.0, 0.0, id="none"),
    ],
)
def test_bootstrap_mean(values: Sequence[float], lower: float, upper: float) -> None:
    assert bootstrap_mean(values) == pytest.approx((lower, upper), abs=1e-12)


def test_bootstrap_mean_draws_in_the_order_of_the_runs() -> None:
    # Equal values elsewhere are other draws: the order is part of the figure.
    values = [0.0, 0.1, 0.25, 0.5, 0.7, 1.0, 1.0]

    assert bootstrap_mean(values) != bootstrap_mean(values[::-1])


@pytest.mark.parametrize("value", [0.1, 0.7, 1 / 3])
@pytest.mark.parametrize("count", [3, 6, 7, 49])
def test_bootstrap_mean_of_equal_values_is_their_value(value: float, count: int) -> None:
    assert bootstrap_mean([value] * count) == (value, value)


def test_mean_and_deviation() -> None:
    values = QUALITIES * 5

    assert mean(values) == 0.6875
    assert population_std(values) == pytest.approx(0.3295356581616017, abs=1e-15)


def test_mean_is_correctly_rounded() -> None:
    # Added up one by one, the first two leave nothing of the third.
    assert mean([1e16, 1.0, -1e16]) == 1 / 3


@pytest.mark.parametrize("figure", [mean, median, population_std])
def test_figure_of_nothing_is_zero(figure: Callable[[Sequence[float]], float]) -> None:
    assert figure([]) == 0.0


@pytest.mark.parametrize(
    ("values", "middle", "iqr", "outliers"),
    [
        pytest.param(TOKENS * 5, 1507, 400, 0, id="50 runs"),
        pytest.param(TOKENS * 10, 1507, 400, 0, id="100 runs"),
        pytest.param([4, 1, 3, 2], 2.5, 2, 0, id="even"),
        pytest.param([3, 1, 2], 2, 2, 0, id="odd"),
        pytest.param([7], 7, 0, 0, id="one"),
        pytest.param([], 0, 0, 0, id="none"),
        # Quartiles 2 and 4: the fence stands at 7 and is no outlier itself.
        pytest.param([1, 2, 3, 4, 7], 3, 2, 0, id="on the fence"),
        pytest.param([1, 2, 3, 4, 8], 3, 2, 1, id="beyond the fence"),
        pytest.param([5, 5, 5, 5, 6, 5, 5, 5], 5, 0, 1, id="without any width"),
    ],
)
def test_spread(values: Sequence[float], middle: float, iqr: float, outliers: int) -> None:
    assert spread(values) == Spread(median=middle, iqr=iqr, outlier_count=outliers)


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [(1500, 1500, 0.5), (1900, 1500, 10 / 11), (1500, 1900, 1 / 11), (-1e6, 1e6, 0.0)],
)
def test_elo_expected(own: float, other: float, expected: float) -> None:
    assert elo_expected(own, other) == pytest.approx(expected, abs=1e-15)


def test_elo_rating_takes_matches_in_sequence() -> None:
    matches = [EloMatch(1540, 1), EloMatch(1500, 0), EloMatch(1460, 1)]

    assert elo_rating(matches) == pytest.approx(1515.1333952936222, abs=1e-9)
    assert elo_rating(matches[::-1]) != elo_rating(matches)


def test_elo_interval() -> None:
    matches = [EloMatch(1500, 1)] * 4 + [EloMatch(1500, 0)] * 4

    lower, upper = elo_interval(matches)

    assert 1500 - 8 * 16 < lower < elo_rating(matches) < upper < 1500 + 8 * 16
    assert elo_interval(matches) == (lower, upper)


@pytest.mark.parametrize(
    ("matches", "rating"), [([], 1500.0), ([EloMatch(1500, 1)], 1516.0)], ids=["none", "one"]
)
def test_elo_interval_without_variation_has_no_width(
    matches: list[EloMatch], rating: float
) -> None:
    assert elo_interval(matches) == (rating, rating)
