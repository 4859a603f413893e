"""Whether a skill says enough, and leaves the rest to files beside it. Spec: 3.3."""

from __future__ import annotations

from pytest_plugin_eval.quality.parse import SkillSource
from pytest_plugin_eval.quality.static.parts import Step, SubScore, reached, summed

__all__ = ["ASSETS", "LENGTH_STEPS", "REFERENCE_STEPS", "progressive_disclosure"]

LENGTH_STEPS = (Step(801, 0.15), Step(601, 0.40), Step(200, 0.60), Step(100, 0.50), Step(0, 0.20))
"""Lines; best are 200 to 600."""
REFERENCE_STEPS = (Step(401, 0.25), Step(0, 0.15))
"""Lines, where there is a file in ``references``."""
ASSETS = 0.15
"""A file in ``assets``."""


def progressive_disclosure(source: SkillSource) -> SubScore:
    """Return the sub-score of a skill's length and the files beside it."""
    lines = source.line_count
    return summed(
        "progressive_disclosure",
        {
            "length": reached(lines, LENGTH_STEPS),
            "references": reached(lines, REFERENCE_STEPS) if source.reference_files else 0.0,
            "assets": ASSETS if source.asset_files else 0.0,
        },
    )
