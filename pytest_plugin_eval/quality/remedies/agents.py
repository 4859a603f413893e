"""What keeps an agent of a plugin from its full score. Spec: 7."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_plugin_eval.quality.parse import AgentSource
from pytest_plugin_eval.quality.reading import split_document
from pytest_plugin_eval.quality.remedies.mending import Mending, lacks
from pytest_plugin_eval.quality.remedies.places import line_of_field
from pytest_plugin_eval.quality.static.agent import (
    DESCRIPTION_STEPS,
    MODEL,
    PROACTIVE,
    TOOLS,
    agent_score,
)
from pytest_plugin_eval.text import plural, shown

__all__ = ["RULE", "agent_mendings"]

RULE = "agent_quality"
README = "readme"


def agent_mendings(source: AgentSource) -> Iterator[Mending]:
    """Yield what would raise an agent's score."""
    parts = agent_score(source).parts
    lines = {name: _line(source, name) for name in ("description", "tools", "model")}
    odd = _oddity(source)
    if lacks(parts["proactive"], PROACTIVE):
        yield _mending(
            "proactive",
            lines["description"],
            PROACTIVE,
            f"the agent's description does not say 'use proactively'{odd}",
            "where the agent is to be called without being asked, say 'Use proactively when …'",
        )
    if lacks(parts["tools"], TOOLS):
        yield _mending(
            "tools",
            lines["tools"],
            TOOLS,
            f"the agent names no tools{odd}",
            "list those it needs in the frontmatter: 'tools: Read, Grep'",
        )
    if lacks(parts["model"], MODEL):
        yield _mending(
            "model",
            lines["model"],
            MODEL,
            f"the agent names no model{odd}",
            "name one in the frontmatter: 'model: inherit' for that of the session",
        )
    yield from _description(source, parts["description"], lines["description"])


def _description(source: AgentSource, points: float, line: int | None) -> Iterator[Mending]:
    most = DESCRIPTION_STEPS[0]
    if lacks(points, most.points):
        length = len(source.description.strip())
        yield _mending(
            "description",
            line,
            most.points,
            f"the agent's description has {plural(length, 'character')},"
            f" {most.at_least:.0f} or more earn the most{_oddity(source)}",
            "say in a sentence what the agent does and when to call it,"
            f" in {most.at_least:.0f} characters or more",
        )


def _oddity(source: AgentSource) -> str:
    """Return a hint for a file that is an agent by its place alone."""
    if source.path.stem.lower() != README and source.fields:
        return ""
    return f"; every .md file in agents/ is taken for an agent, {shown(source.path.name)} too"


def _line(source: AgentSource, field: str) -> int | None:
    frontmatter, _ = split_document(source.content)
    # Its own first line is the one after the opening hyphens.
    line = line_of_field(frontmatter or "", field)
    return line + 1 if line else None


def _mending(part: str, line: int | None, most: float, text: str, remedy: str) -> Mending:
    return Mending(rule=RULE, line=line, text=text, remedy=remedy, parts={RULE: {part: most}})
