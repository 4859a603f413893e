"""Whether a skill knows its neighbours. Spec: 3.6."""

from __future__ import annotations

import re

from pytest_plugin_eval.quality.static.parts import SubScore, summed

__all__ = [
    "BASE",
    "CROSS_REFERENCE",
    "MOST_CROSS_REFERENCES",
    "RELATION",
    "RELATION_WORDS",
    "ecosystem_coherence",
]

BASE = 0.50
CROSS_REFERENCE = 0.08
"""Each, repeated and dead ones too."""
MOST_CROSS_REFERENCES = 0.25
RELATION = 0.25

RELATION_WORDS = re.compile(
    r"(?:related(?<!\wrelated)|see also(?<!\wsee also)|companion(?<!\wcompanion))\b"
    r"|complement(?<!\wcomplement)"
)


def ecosystem_coherence(lowered: str, cross_references: int) -> SubScore:
    """Return the sub-score of a lowercased text with so many cross references."""
    return summed(
        "ecosystem_coherence",
        {
            "base": BASE,
            "cross_references": min(MOST_CROSS_REFERENCES, CROSS_REFERENCE * cross_references),
            "relation": RELATION if RELATION_WORDS.search(lowered) else 0.0,
        },
    )
