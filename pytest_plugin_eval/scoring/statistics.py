"""Intervals for rates and means, the spread of counts, and ratings from matches.

All are functions of their arguments alone: the bootstraps draw from a generator with a fixed seed.
Spec: quality-score, 9 and 14.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, TypeVar

__all__ = [
    "EloMatch",
    "Interval",
    "Spread",
    "bootstrap_mean",
    "clopper_pearson",
    "elo_expected",
    "elo_interval",
    "elo_rating",
    "mean",
    "median",
    "population_std",
    "spread",
    "wilson",
]

Z_95 = 1.960
"""The 0.975 quantile of the normal distribution as the specification rounds it."""
TAIL = 0.025
"""What a 95% interval leaves out at each end."""
SEED = 42
OUTLIER_REACH = 1.5
"""Tukey's fence: how many interquartile ranges above the upper quartile."""
ELO_START = 1500.0
ELO_STEP = 32.0
ELO_SCALE = 400.0

_T = TypeVar("_T")


class Interval(NamedTuple):
    """Both bounds of a 95% interval."""

    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Where counts lie, and how far apart."""

    median: float
    iqr: float
    """Between the quartiles."""
    outlier_count: int
    """Values more than one and a half of that above the upper quartile."""


class EloMatch(NamedTuple):
    """One comparison of two."""

    opponent: float
    """The opponent's rating."""
    actual: float
    """1 for a win, 0.5 for a draw, 0 for a loss."""


def wilson(successes: int, n: int) -> Interval:
    """Return Wilson's score interval of a rate; 0 to 1 where nothing was tried.

    With ``p = successes / n`` and ``z = 1.960``: centre ``(p + z²/2n) / (1 + z²/n)``, half width
    ``z / (1 + z²/n) · sqrt(p(1-p)/n + z²/4n²)``. E. B. Wilson, "Probable inference, the law of
    succession, and statistical inference", Journal of the American Statistical Association 22
    (1927), 209-212. Raises `ValueError` for counts that cannot be.
    """
    _check(successes, n)
    if n == 0:
        return Interval(0.0, 1.0)
    rate = successes / n
    squared = Z_95 * Z_95 / n
    centre = (rate + squared / 2) / (1 + squared)
    half = Z_95 / (1 + squared) * math.sqrt(rate * (1 - rate) / n + squared / (4 * n))
    # At the ends the two terms are equal; rounding would leave a bound beside the rate itself.
    lower = 0.0 if successes == 0 else max(0.0, centre - half)
    return Interval(lower, 1.0 if successes == n else min(1.0, centre + half))


def clopper_pearson(events: int, n: int) -> Interval | None:
    """Return the exact interval of a rate; ``None`` without scipy (extra ``stats``).

    The bounds are the quantiles ``B(0.025; k, n - k + 1)`` and ``B(0.975; k + 1, n - k)`` of the
    beta distribution, 0 below no event and 1 above nothing but events. C. J. Clopper and
    E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the
    binomial", Biometrika 26 (1934), 404-413. Raises `ValueError` for counts that cannot be.
    """
    _check(events, n)
    try:
        # Not `scipy.stats`, whose import takes twice the time and memory of this.
        from scipy.special import betaincinv
    except ImportError:
        return None
    lower = float(betaincinv(events, n - events + 1, TAIL)) if events > 0 else 0.0
    upper = float(betaincinv(events + 1, n - events, 1 - TAIL)) if events < n else 1.0
    return Interval(lower, upper)


def bootstrap_mean(values: Sequence[float]) -> Interval:
    """Return the percentile bootstrap interval of the mean; 0 to 0 where there is no value.

    1,000 resamples, each drawn value by value in order with `Random.choice`, from seed 42; the
    means sorted, entries 25 and 974, counted from 0. B. Efron, "Bootstrap methods: another look
    at the jackknife", Annals of Statistics 7 (1979), 1-26.
    """
    if not values:
        return Interval(0.0, 0.0)
    if len(values) == 1:
        return Interval(values[0], values[0])
    return _bootstrap(values, mean, resamples=1000, entries=(25, 974))


def mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean, between the least and the greatest; 0 where there is no value."""
    if not values:
        return 0.0
    # `sum` rounds otherwise from Python 3.12 on: figures would depend on the interpreter.
    centre = math.fsum(values) / len(values)
    # Three times 0.1, rounded and divided by three, is more than 0.1.
    return max(min(values), min(max(values), centre))


def population_std(values: Sequence[float]) -> float:
    """Return the standard deviation, divided by n; 0 where there is no value."""
    centre = mean(values)
    return math.sqrt(mean([(value - centre) ** 2 for value in values]))


def median(values: Sequence[float]) -> float:
    """Return the middle value, or the mean of the two middle ones; 0 where there is no value."""
    if not values:
        return 0.0
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def spread(values: Sequence[float]) -> Spread:
    """Return median, interquartile range and outliers; all 0 where there is no value.

    With m sorted values the quartiles are entries ``m // 4`` and ``3m // 4``, not interpolated.
    """
    if not values:
        return Spread(median=0.0, iqr=0.0, outlier_count=0)
    ordered = sorted(values)
    upper = ordered[3 * len(ordered) // 4]
    iqr = upper - ordered[len(ordered) // 4]
    fence = upper + OUTLIER_REACH * iqr
    return Spread(
        median=median(ordered), iqr=iqr, outlier_count=sum(value > fence for value in ordered)
    )


def elo_expected(own: float, other: float) -> float:
    """Return the share of points to be expected: ``1 / (1 + 10^((other - own) / 400))``.

    A. E. Elo, "The rating of chessplayers, past and present" (1978), with the logistic curve.
    """
    try:
        return 1 / (1 + 10 ** ((other - own) / ELO_SCALE))
    except OverflowError:
        return 0.0


def elo_rating(matches: Sequence[EloMatch], start: float = ELO_START) -> float:
    """Return the rating after *matches*, one after the other: ``old + 32 · (actual - expected)``.

    Opponents keep the rating that the match names.
    """
    rating = start
    for match in matches:
        rating += ELO_STEP * (match.actual - elo_expected(rating, match.opponent))
    return rating


def elo_interval(matches: Sequence[EloMatch], start: float = ELO_START) -> Interval:
    """Return the percentile bootstrap interval of the rating; *start* twice without a match.

    500 resamples of the matches from seed 42, entries 12 and 486 of the sorted ratings.
    """
    if not matches:
        return Interval(start, start)
    return _bootstrap(
        matches, lambda drawn: elo_rating(drawn, start), resamples=500, entries=(12, 486)
    )


def _bootstrap(
    values: Sequence[_T],
    figure: Callable[[Sequence[_T]], float],
    *,
    resamples: int,
    entries: tuple[int, int],
) -> Interval:
    rng = Random(SEED)  # noqa: S311 -- figures that can be repeated, not secrets
    figures = sorted(figure([rng.choice(values) for _ in values]) for _ in range(resamples))
    return Interval(figures[entries[0]], figures[entries[1]])


def _check(events: int, n: int) -> None:
    if not 0 <= events <= n:
        raise ValueError(f"expected from 0 to n = {n} events, got {events}")
