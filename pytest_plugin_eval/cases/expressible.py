"""Which scores the runs of a case can come to."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

__all__ = ["reachable_scores"]

# Above these there are so many scores that nearly every threshold is one.
MOST_SCORES = 400
MOST_STEPS = 40_000


def reachable_scores(weights: Sequence[float], runs: int) -> tuple[Fraction, ...]:
    """Return every score that *runs* runs of graders with these weights can have, ascending.

    A run's score is Σ weight of passed / Σ weight, the case's their mean (spec: behaviour-evals,
    5.1 and 5.3). Empty when there are none, or too many to work out.
    """
    return _scores(tuple(sorted(weights)), runs)


@lru_cache(maxsize=1024)
def _scores(weights: tuple[float, ...], runs: int) -> tuple[Fraction, ...]:
    if not weights or runs < 1:
        return ()
    exact = [Fraction(weight).limit_denominator(1000) for weight in weights]
    whole = sum(exact)
    if not whole:
        return ()
    one = _sums([{Fraction(0), weight} for weight in exact])
    sums = _sums([one] * runs) if one else None
    return tuple(sorted(value / (whole * runs) for value in sums)) if sums else ()


def _sums(parts: Sequence[set[Fraction]]) -> set[Fraction] | None:
    """Return the sums of one value of each part, or ``None`` when they are too many."""
    sums, steps = {Fraction(0)}, 0
    for part in parts:
        steps += len(sums) * len(part)
        if steps > MOST_STEPS:
            return None
        sums = {value + more for value in sums for more in part}
        if len(sums) > MOST_SCORES:
            return None
    return sums
