"""Whether a skill's name and description make an agent load it. Spec: 3.1."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_plugin_eval.quality.parse import SkillSource
from pytest_plugin_eval.quality.static.parts import Step, SubScore, reached, summed

__all__ = [
    "CONTEXT",
    "CONTEXT_STEPS",
    "DESCRIPTION_STEPS",
    "NAME_DIFFERS",
    "NAME_EQUALS_DIRECTORY",
    "PUSHINESS",
    "PUSHINESS_SHARE",
    "TRIGGER",
    "frontmatter_quality",
    "pushiness",
]

NAME_DIFFERS = 0.15
NAME_EQUALS_DIRECTORY = 0.10
"""Less than for another name: the reference's rule."""
DESCRIPTION_STEPS = (Step(100, 0.25), Step(60, 0.20), Step(30, 0.15), Step(10, 0.05))
"""Characters of the stripped description."""
PUSHINESS_SHARE = 0.60
PUSHINESS: Mapping[str, float] = {
    "trigger": 0.25,
    "proactive": 0.15,
    "keyword": 0.10,
    "contexts": 0.20,
    "gerund": 0.15,
    "length": 0.10,
}
"""The most that each part of pushiness gives; they take part with `PUSHINESS_SHARE`."""
CONTEXT_STEPS = (Step(3, 0.20), Step(1, 0.10))
"""Matches of `CONTEXT`."""
PUSHY_LENGTH = 40

TRIGGER = re.compile(
    r"\bused?\s+(this\s+skill\s+)?(immediately\s+)?(when|whenever|after|before)\b"
    r"|\buse\s+proactively\b"
    r"|\btriggers?\s+(when|on)\b"
    r"|\bauto[-\s]?loads?\s+(when|on)\b",
    re.IGNORECASE,
)
"""What says in a description when to load the skill."""
CONTEXT = re.compile(
    r",\s*(?:or\s+)?(?:when|for|during|implementing|building|creating|debugging|testing|deploying"
    r"|configuring|setting up)"
)
"""A further occasion, in the lowercased description."""
_PROACTIVE = re.compile(r"\bproactively\b", re.IGNORECASE)
_KEYWORD = re.compile(r"\bautomatically\b|\balways\s+use\b|\btrigger\b|\binvoke\b", re.IGNORECASE)
_GERUND = re.compile(r"\b(?:when|for|during)\s+\w+ing\b", re.IGNORECASE)


def frontmatter_quality(source: SkillSource) -> SubScore:
    """Return the sub-score of the frontmatter; parts of pushiness bear their share already."""
    parts = {
        "name": _name_points(source.name, source.directory_name),
        "description": reached(len(source.description.strip()), DESCRIPTION_STEPS),
    }
    for part, points in pushiness(source.description).items():
        parts[part] = PUSHINESS_SHARE * points
    return summed("frontmatter_quality", parts)


def pushiness(description: str) -> dict[str, float]:
    """Return what a description's words and length give, by part."""
    found = {
        "trigger": TRIGGER.search(description),
        "proactive": _PROACTIVE.search(description),
        "keyword": _KEYWORD.search(description),
        "gerund": _GERUND.search(description),
        "length": len(description.strip()) >= PUSHY_LENGTH,
    }
    points = {part: PUSHINESS[part] if each else 0.0 for part, each in found.items()}
    points["contexts"] = reached(len(CONTEXT.findall(description.lower())), CONTEXT_STEPS)
    return {part: points[part] for part in PUSHINESS}


def _name_points(name: object, directory_name: str) -> float:
    if not name:
        return 0.0
    return NAME_EQUALS_DIRECTORY if name == directory_name else NAME_DIFFERS
