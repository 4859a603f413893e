"""A change that would mend one thing, as what it does to the parts of the score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_plugin_eval.quality.model import AntiPattern
from pytest_plugin_eval.quality.parse import SkillSource
from pytest_plugin_eval.quality.static.parts import SubScore

__all__ = ["Mending", "ScoredSkill", "lacks"]

NOISE = 1e-12
"""Less than this is binary rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mending:
    """What was found, what to do about it, and which parts that changes to what."""

    rule: str
    """The sub-score, or the flag of the anti-pattern or portability finding."""
    line: int | None
    text: str
    remedy: str
    parts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By sub-score, then part: its value once this is mended. Other parts stay."""
    entries: int = 0
    """How many anti-pattern entries go with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSkill:
    """A skill with its sub-scores, so that each is computed once."""

    source: SkillSource
    sub_scores: Mapping[str, SubScore]
    entries: tuple[AntiPattern, ...]
    lowered: str
    """The content in lower case, as most rules see it."""

    def part(self, sub_score: str, part: str) -> float:
        """Return what a part of a sub-score gives."""
        return self.sub_scores[sub_score].parts[part]

    def has_flag(self, flag: str) -> bool:
        """Return whether an anti-pattern is among the entries."""
        return any(entry.flag == flag for entry in self.entries)


def lacks(value: float, most: float) -> bool:
    """Return whether a part is below what it could be."""
    return value < most - NOISE
