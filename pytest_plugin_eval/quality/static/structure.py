"""Whether a skill has the pieces of a complete text. Spec: 3.4."""

from __future__ import annotations

import re

from pytest_plugin_eval.quality.parse import SkillSource
from pytest_plugin_eval.quality.static.parts import Step, SubScore, reached, summed

__all__ = [
    "DEPTH",
    "DEPTH_WORDS",
    "EXAMPLES",
    "FENCE_STEPS",
    "HEADING_STEPS",
    "LANGUAGE_STEPS",
    "TABLE",
    "TROUBLESHOOTING",
    "structural_completeness",
]

HEADING_STEPS = (Step(6, 0.20), Step(4, 0.15), Step(2, 0.10))
"""Headings of the second and third level together."""
FENCE_STEPS = (Step(5, 0.20), Step(3, 0.15), Step(1, 0.10))
LANGUAGE_STEPS = (Step(3, 0.15), Step(2, 0.10))
"""Distinct languages of fences."""
EXAMPLES = 0.15
TROUBLESHOOTING = 0.15
TABLE = 0.10
DEPTH = 0.05
DEPTH_WORDS = ("decision", "when to use", "comparison", "tradeoff")

_TABLE_ROW = re.compile(r"\|[^|\n]*\|[^|\n]*\|")


def structural_completeness(source: SkillSource, lowered: str) -> SubScore:
    """Return the sub-score of a skill; *lowered* is its content in lower case."""
    counts = source.counts
    has_depth = any(word in lowered for word in DEPTH_WORDS)
    return summed(
        "structural_completeness",
        {
            "headings": reached(counts.h2_count + counts.h3_count, HEADING_STEPS),
            "fences": reached(counts.fence_count, FENCE_STEPS),
            "languages": reached(len(set(counts.languages)), LANGUAGE_STEPS),
            "examples": EXAMPLES if counts.has_examples else 0.0,
            "troubleshooting": TROUBLESHOOTING if counts.has_troubleshooting else 0.0,
            "table": TABLE if _TABLE_ROW.search(source.content) else 0.0,
            "depth": DEPTH if has_depth else 0.0,
        },
    )
