"""Whether a skill repeats itself or shouts. Spec: 3.5."""

from __future__ import annotations

from pytest_plugin_eval.quality.counts import Counts
from pytest_plugin_eval.quality.static.parts import SubScore, summed

__all__ = [
    "DENSITY_STEPS",
    "REPETITION",
    "compared_lines",
    "directive_density",
    "token_efficiency",
]

DENSITY_STEPS = ((0.5, -0.4), (0.2, -0.2), (0.1, -0.1))
"""Directives a line, each to be exceeded, and what that costs."""
REPETITION = -0.4
"""Times the share of lines that stood further up already."""


def token_efficiency(content: str, counts: Counts) -> SubScore:
    """Return the sub-score of a text."""
    density = directive_density(counts)
    lines = compared_lines(content)
    repeated = 1.0 - len(set(lines)) / len(lines) if lines else 0.0
    return summed(
        "token_efficiency",
        {
            "base": 1.0,
            "density": next((points for over, points in DENSITY_STEPS if density > over), 0.0),
            "repetition": REPETITION * repeated,
        },
    )


def directive_density(counts: Counts) -> float:
    """Return how many directives there are a line."""
    return counts.directive_count / max(counts.line_count, 1)


def compared_lines(content: str) -> list[str]:
    """Return the lines among which repeats are looked for, stripped."""
    return [
        stripped
        for line in content.splitlines()
        if (stripped := line.strip()) and not line.startswith("---")
    ]
