"""What costs a skill a share of its whole score. Spec: 5."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from pytest_plugin_eval.quality.model import AntiPattern
from pytest_plugin_eval.quality.parse import SkillSource
from pytest_plugin_eval.quality.static.frontmatter import TRIGGER
from pytest_plugin_eval.text import plural, shown

__all__ = [
    "LEAST_DESCRIPTION",
    "MOST_DIRECTIVES",
    "MOST_LINES",
    "SEVERITIES",
    "anti_patterns",
    "is_exempt_from_trigger",
    "orphan_references",
    "reference_links",
]

MOST_DIRECTIVES = 15
LEAST_DESCRIPTION = 20
"""Characters, stripped."""
MOST_LINES = 800
"""Without ``references``."""
SEVERITIES = {
    "OVER_CONSTRAINED": 0.10,
    "EMPTY_DESCRIPTION": 0.10,
    "MISSING_TRIGGER": 0.15,
    "BLOATED_SKILL": 0.10,
    "ORPHAN_REFERENCE": 0.05,
    "DEAD_CROSS_REF": 0.05,
}
"""In the order of the entries; it is printed, and each entry costs the same."""

_LINK = "(references/"


def anti_patterns(source: SkillSource) -> tuple[AntiPattern, ...]:
    """Return a skill's entries of the penalty, in order."""
    return tuple(
        AntiPattern(flag=flag, description=text, severity=SEVERITIES[flag])
        for flag, text in _found(source)
    )


def _found(source: SkillSource) -> Iterator[tuple[str, str]]:
    directives = source.counts.directive_count
    if directives > MOST_DIRECTIVES:
        yield (
            "OVER_CONSTRAINED",
            f"MUST, NEVER and ALWAYS stand {directives} times, expected at most {MOST_DIRECTIVES}",
        )
    length = len(source.description.strip())
    if length < LEAST_DESCRIPTION:
        yield (
            "EMPTY_DESCRIPTION",
            f"the description has {plural(length, 'character')},"
            f" expected at least {LEAST_DESCRIPTION}",
        )
    if not is_exempt_from_trigger(source) and not TRIGGER.search(source.description):
        yield (
            "MISSING_TRIGGER",
            "the description does not say when to load the skill, expected words such as"
            " 'Use this skill when'",
        )
    if source.line_count > MOST_LINES and not source.has_references:
        yield (
            "BLOATED_SKILL",
            f"SKILL.md has {source.line_count} lines without a references directory,"
            f" expected at most {MOST_LINES}",
        )
    for link in orphan_references(source):
        yield (
            "ORPHAN_REFERENCE",
            f"the link to {shown('references/' + link)} leads to no file directly in references",
        )
    for path in source.dead_cross_references:
        yield "DEAD_CROSS_REF", f"the cross reference {shown(path)} leads to nothing"


def is_exempt_from_trigger(source: SkillSource) -> bool:
    """Return whether a skill is not loaded by its description; a list of paths does not count."""
    paths = source.fields.get("paths")
    is_manual = source.fields.get("disable-model-invocation") is True
    return is_manual or (isinstance(paths, str) and paths != "")


def orphan_references(source: SkillSource) -> tuple[str, ...]:
    """Return the links to ``references`` whose file is not there, without that directory."""
    if not source.has_references:
        return ()
    names = {name.lower() for name in source.reference_files}
    return tuple(
        link
        for link in reference_links(source.content)
        if PurePosixPath(link).name.lower() not in names
    )


def reference_links(content: str) -> Iterator[str]:
    r"""Yield what ``\(references/([^)]+)\)`` captures, in linear time where nothing closes."""
    start = content.find(_LINK)
    while start >= 0:
        begin = start + len(_LINK)
        end = content.find(")", begin)
        if end < 0:
            return
        if end > begin:
            yield content[begin:end]
        start = content.find(_LINK, end)
