"""Sub-scores as sums of named parts, and tables of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Step", "SubScore", "reached"]


class Step(NamedTuple):
    """A row of a table of steps; the first row that applies counts, no other."""

    at_least: float
    points: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SubScore:
    """One of the seven numbers, and what it is made of."""

    name: str
    score: float
    """0 to 1: the sum of the parts, held within that range."""
    parts: Mapping[str, float]
    """What each part gives, or takes where it is below 0, by its name."""


def summed(name: str, parts: Mapping[str, float]) -> SubScore:
    """Return the sub-score that some parts make."""
    return SubScore(name=name, score=min(1.0, max(0.0, sum(parts.values()))), parts=parts)


def reached(value: float, steps: Sequence[Step]) -> float:
    """Return the points of the first step, from the highest, that *value* reaches; 0 for none."""
    for step in steps:
        if value >= step.at_least:
            return step.points
    return 0.0
