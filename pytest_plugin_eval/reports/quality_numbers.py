"""Names and numbers of a quality score as people read them, the same in every report."""

from __future__ import annotations

from collections.abc import Callable

from pytest_plugin_eval.quality.composite import STEP_DECIMALS, badge, grade, settled
from pytest_plugin_eval.quality.model import AntiPattern, Dimension, QualityReport
from pytest_plugin_eval.text import decimals, plural

__all__ = [
    "ABSENT",
    "MOST_LISTED",
    "badge_name",
    "coverage_text",
    "depth_text",
    "difference",
    "findings_sum",
    "first_flags",
    "gain",
    "is_downgraded",
    "more_text",
    "penalty_text",
    "percent",
    "points",
    "share",
    "title",
    "unmeasured_dimensions",
]

ABSENT = "—"


MOST_LISTED = 1000
"""Anti-patterns, and findings, that a report for people lists; JSON has all."""


def first_flags(report: QualityReport) -> tuple[list[AntiPattern], int]:
    """Return the anti-patterns that a report lists, and how many more there are."""
    found = [one for layer in report.layers for one in layer.anti_patterns]
    return found[:MOST_LISTED], max(len(found) - MOST_LISTED, 0)


def more_text(more: int) -> str:
    """Return what stands below a list that was cut; empty where nothing was."""
    return f"and {more} more, which the JSON report lists" if more > 0 else ""


def title(name: str) -> str:
    """Return ``Triggering Accuracy`` for ``triggering_accuracy``."""
    return name.replace("_", " ").title()


def badge_name(name: str) -> str:
    """Return a badge for people, ``No Badge`` where there is none."""
    return title(name)


def points(score: float, digits: int = 1) -> str:
    """Return a composite; never one that looks like a badge it has not reached.

    89.96 is gold: it would be 90.0 with one decimal, which is platinum, so it takes two.
    """
    return _within_step(score, digits, badge)


def share(score: float, digits: int = 3) -> str:
    """Return a score of 0 to 1; never one that looks like a grade it has not reached."""
    return _within_step(score, digits, grade)


def percent(value: float) -> str:
    """Return ``25%`` for 0.25."""
    return f"{decimals(value * 100, 0)}%"


def penalty_text(penalty: float) -> str:
    """Return ``-15%`` for a factor of 0.85."""
    return f"-{percent(settled(1 - penalty))}"


def gain(value: float) -> str:
    """Return points that can be won, ``+3.4``; something is never shown as nothing."""
    return difference(value, 1)


def difference(value: float, digits: int = 2) -> str:
    """Return a difference with its sign, and digits enough that it is not 0 unless it is."""
    exact = settled(value)
    if exact == 0:
        return "0" if value == 0 else f"{value:+.0e}"
    text = next(
        (text for n in range(digits, STEP_DECIMALS + 1) if float(text := decimals(exact, n)) != 0),
        decimals(exact, STEP_DECIMALS),
    )
    return text if text.startswith("-") else f"+{text}"


def unmeasured_dimensions(report: QualityReport) -> tuple[Dimension, ...]:
    """Return the dimensions that no layer measured, in order."""
    return tuple(one.dimension for one in report.composite.dimensions if not one.measured)


def coverage_text(report: QualityReport) -> str:
    """Return how much of the composite's weight was measured: the rest is no part of it."""
    rows = report.composite.dimensions
    measured = [row.weight for row in rows if row.measured]
    return (
        f"{len(measured)} of {plural(len(rows), 'dimension')} measured, "
        f"{percent(settled(sum(measured)))} of the weight"
    )


def is_downgraded(report: QualityReport) -> bool:
    """Return whether a plugin was asked for at a depth that no plugin is scored at.

    Layers that could not measure a skill are told of elsewhere. Spec: quality-score, 17, B6.
    """
    return report.target == "plugin" and report.depth is not report.effective_depth


def depth_text(report: QualityReport) -> str:
    """Return the depth, with the effective one where a plugin was asked for at a deeper one."""
    if not is_downgraded(report):
        return report.depth.value
    return f"{report.depth.value} asked for, {report.effective_depth.value} in effect"


def findings_sum(report: QualityReport) -> str:
    """Return how many findings there are, in one phrase."""
    return plural(len(report.findings), "finding")


def _within_step(value: float, digits: int, step: Callable[[float], str]) -> str:
    """Return a value with the fewest digits that leave it in its step, at least *digits*."""
    exact = settled(value)
    texts = (decimals(exact, n) for n in range(digits, STEP_DECIMALS))
    return next(
        (text for text in texts if step(float(text)) == step(exact)),
        decimals(exact, STEP_DECIMALS),
    )
