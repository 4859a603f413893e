"""Two quality scores side by side. Spec: quality-score, 13."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_plugin_eval.quality.model import Dimension, Finding, QualityReport

__all__ = ["Change", "Comparison", "Row", "compared"]

A, B, TIE = "A", "B", "Tie"


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
    the next ones of one rule belong together, such as a count that has grown.
    """
    rest_a, rest_b = _without_common(a, b)
    by_rule: dict[str, deque[int]] = {}
    for position, one in enumerate(rest_b):
        by_rule.setdefault(one.rule, deque()).append(position)
    changed: list[Change] = []
    lost: list[Finding] = []
    paired: set[int] = set()
    for one in rest_a:
        if others := by_rule.get(one.rule):
            paired.add(others[0])
            changed.append(Change(a=one, b=rest_b[others.popleft()]))
        else:
            lost.append(one)
    gained = tuple(one for position, one in enumerate(rest_b) if position not in paired)
    return gained, tuple(lost), tuple(changed)


def _without_common(
    a: Sequence[Finding], b: Sequence[Finding]
) -> tuple[list[Finding], list[Finding]]:
    theirs: dict[tuple[str, str], deque[int]] = {}
    for position, one in enumerate(b):
        theirs.setdefault((one.rule, one.text), deque()).append(position)
    rest_a = []
    common: set[int] = set()
    for one in a:
        if same := theirs.get((one.rule, one.text)):
            common.add(same.popleft())
        else:
            rest_a.append(one)
    return rest_a, [one for position, one in enumerate(b) if position not in common]
