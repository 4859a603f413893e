"""Two quality scores side by side. Spec: quality-score, 13."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pytest_plugin_eval.quality.model import Dimension, Finding, QualityReport

__all__ = ["Change", "Comparison", "Row", "compared"]

A, B, TIE = "A", "B", "Tie"
_LINES = re.compile(r"\blines? \d+(?:(?:, | and |-)\d+)*")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_PLURAL = re.compile(r"(?<=# )(\w+?)s\b")
"""Of what is counted: one language, no languages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The composite or one dimension of both."""

    dimension: Dimension | None
    """``None``: the composite."""
    a: float | None
    """0 to 1, the composite 0 to 100; ``None`` where it was not measured."""
    b: float | None

    @property
    def difference(self) -> float | None:
        """Return by how much B is above A, ``None`` where one was not measured."""
        return None if self.a is None or self.b is None else self.b - self.a

    @property
    def winner(self) -> str | None:
        """Return ``A``, ``B`` or ``Tie`` by the unrounded values, ``None`` without both."""
        if self.a is None or self.b is None:
            return None
        return TIE if self.a == self.b else A if self.a > self.b else B


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A finding that both have, with other numbers."""

    a: Finding
    b: Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What tells two reports apart."""

    a: QualityReport
    b: QualityReport
    composite: Row
    dimensions: tuple[Row, ...]
    """All ten, in order."""
    gained: tuple[Finding, ...]
    """Findings of B that A does not have, dearest first."""
    lost: tuple[Finding, ...]
    """Findings of A that B does not have any more, dearest first."""
    changed: tuple[Change, ...]


def compared(a: QualityReport, b: QualityReport) -> Comparison:
    """Return what tells *b* from *a*."""
    gained, lost, changed = _findings(a.findings, b.findings)
    return Comparison(
        a=a,
        b=b,
        composite=Row(dimension=None, a=a.composite.score, b=b.composite.score),
        dimensions=tuple(_rows(a, b)),
        gained=gained,
        lost=lost,
        changed=changed,
    )


def _rows(a: QualityReport, b: QualityReport) -> Iterator[Row]:
    for one, other in zip(a.composite.dimensions, b.composite.dimensions, strict=True):
        yield Row(
            dimension=one.dimension,
            a=one.score if one.measured else None,
            b=other.score if other.measured else None,
        )


def _findings(
    a: Sequence[Finding], b: Sequence[Finding]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...], tuple[Change, ...]]:
    """Return the gained, the lost and the changed ones.

    The line is no part of what a finding is: text that moves stays the same. Of those that differ
    the ones that say the same of other numbers belong together, such as a count that has grown.
    """
    rest_a, rest_b, _ = _matched(a, b, _without_lines)
    lost, gained, pairs = _matched(rest_a, rest_b, _without_numbers)
    return tuple(gained), tuple(lost), tuple(Change(a=one, b=other) for one, other in pairs)


def _matched(
    a: Sequence[Finding], b: Sequence[Finding], likeness: Callable[[str], str]
) -> tuple[list[Finding], list[Finding], list[tuple[Finding, Finding]]]:
    """Return what is in *a* alone, in *b* alone, and the pairs of one rule and like texts."""
    theirs: dict[tuple[str, str], deque[int]] = {}
    for position, one in enumerate(b):
        theirs.setdefault((one.rule, likeness(one.text)), deque()).append(position)
    rest: list[Finding] = []
    pairs: list[tuple[Finding, Finding]] = []
    paired: set[int] = set()
    for one in a:
        if same := theirs.get((one.rule, likeness(one.text))):
            paired.add(same[0])
            pairs.append((one, b[same.popleft()]))
        else:
            rest.append(one)
    return rest, [one for position, one in enumerate(b) if position not in paired], pairs


def _without_lines(text: str) -> str:
    return _LINES.sub("", text)


def _without_numbers(text: str) -> str:
    return _PLURAL.sub(r"\1", _NUMBER.sub("#", text))
