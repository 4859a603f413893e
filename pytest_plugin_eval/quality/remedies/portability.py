"""What keeps a skill from working in other harnesses than Claude Code. Spec: 4."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pytest_plugin_eval.quality.remedies.mending import Mending, ScoredSkill
from pytest_plugin_eval.quality.remedies.places import line_of, lines_of
from pytest_plugin_eval.quality.static.portability import (
    MOST_BYTES,
    MOST_TOOL_REFERENCES,
    TOOL_PROSE_PATTERN,
    TOOL_REFERENCE,
    TOOL_REFERENCE_PATTERN,
    harness_portability,
    size_bytes,
    tools_referenced,
)
from pytest_plugin_eval.text import plural

__all__ = ["portability_mendings"]

RULE = "harness_portability"
OVER_CAP, REFERENCES, PROSE = "SKILL_OVER_CODEX_CAP", "CLAUDE_TOOL_REFS", "CLAUDE_TOOL_PROSE"
COST = "counts in a plugin's score, not in a skill's composite"
"""A finding of no points has to say why it is there."""
OTHER_WORDS = " … "


def portability_mendings(skill: ScoredSkill) -> Iterator[Mending]:
    """Yield what would raise ``harness_portability``, which no dimension of a skill holds."""
    content = skill.source.content
    if skill.part(RULE, OVER_CAP) < 0:
        yield Mending(
            rule=OVER_CAP,
            line=None,
            text=f"SKILL.md has {size_bytes(content)} bytes, Codex reads {MOST_BYTES} ({COST})",
            remedy=f"shorten it to {MOST_BYTES} bytes, or move detail into files in references/",
            parts={RULE: {OVER_CAP: 0.0}},
        )
    if skill.part(RULE, REFERENCES) < 0:
        names = sorted(tools_referenced(content))
        most = round(MOST_TOOL_REFERENCES / TOOL_REFERENCE)
        capped = f", of which {most} count" if len(names) > most else ""
        yield Mending(
            rule=REFERENCES,
            line=line_of(content, TOOL_REFERENCE_PATTERN),
            text=f"the text names {plural(len(names), 'tool')} of Claude Code in backticks:"
            f" {', '.join(names)} ({lines_of(content, TOOL_REFERENCE_PATTERN)}){capped};"
            f" spellings count apart ({COST})",
            remedy="say what is to be done, 'read the file', rather than by which tool",
            parts={RULE: {**_without(skill, TOOL_REFERENCE_PATTERN), REFERENCES: 0.0}},
        )
    if skill.part(RULE, PROSE) < 0:
        yield Mending(
            rule=PROSE,
            line=line_of(content, TOOL_PROSE_PATTERN),
            text="the text speaks of 'the … tool' of Claude Code"
            f" ({lines_of(content, TOOL_PROSE_PATTERN)}; {COST})",
            remedy="say what is to be done, 'search the files', rather than by which tool",
            parts={RULE: {**_without(skill, TOOL_PROSE_PATTERN), PROSE: 0.0}},
        )


def _without(skill: ScoredSkill, pattern: re.Pattern[str]) -> Mapping[str, float]:
    """Return the parts on tools of a text that has other words where *pattern* matches.

    "Use the `Read` tool" counts twice, and who rewords it mends both.
    """
    if not (skill.part(RULE, REFERENCES) < 0 and skill.part(RULE, PROSE) < 0):
        return {}
    content = pattern.sub(OTHER_WORDS, skill.source.content)
    parts = harness_portability(content, has_references=skill.source.has_references).parts
    return {part: parts[part] for part in (REFERENCES, PROSE)}
