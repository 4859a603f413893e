"""What there is to say of a plugin before cases for it are proposed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_plugin_eval.cases.manifest import declared_servers, manifest_of
from pytest_plugin_eval.cases.plugin_roots import SKILL_FILE
from pytest_plugin_eval.quality.parse import AgentSource, SkillSource, read_plugin, read_skill
from pytest_plugin_eval.text import cut, one_line, plural, without_surrogates

__all__ = ["PluginView", "SkillView", "found_lines", "view_of"]

DESCRIPTION_SHOWN = 160
USER_ONLY = "disable-model-invocation"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillView:
    """A skill, as far as cases for it need it."""

    name: str
    aliases: tuple[str, ...]
    """All names by which it may be called: its own and its directory's."""
    description: str
    content: str
    user_only: bool = False
    """The model cannot choose it: somebody has to name it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginView:
    """A plugin or a bare skill."""

    name: str
    """What the agent calls it."""
    skills: tuple[SkillView, ...]
    agents: tuple[tuple[str, str], ...] = ()
    """Name and description."""
    servers: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """What could not be read."""


def view_of(root: Path) -> PluginView:
    """Return the plugin or skill in *root*.

    Raises `QualityError` where a skill's own ``SKILL.md`` cannot be read.
    """
    source = read_plugin(root)
    own = (read_skill(root),) if (root / SKILL_FILE).is_file() else ()
    place = os.path.abspath(root)  # noqa: PTH100 -- `resolve` would follow links
    return PluginView(
        name=manifest_of(place).plugin.name,
        skills=tuple(map(_skill, (*own, *source.skills))),
        agents=tuple(map(_agent, source.agents)),
        servers=declared_servers(place),
        problems=(*(text for one in own for text in one.problems), *source.problems),
    )


def found_lines(view: PluginView) -> Iterator[str]:
    """Yield what was found, a line each."""
    skills = plural(len(view.skills), "skill")
    agents, servers = plural(len(view.agents), "agent"), plural(len(view.servers), "MCP server")
    yield f"plugin {view.name}: {skills}, {agents}, {servers}"
    for skill in view.skills:
        only = " (not chosen by the model, has to be named)" if skill.user_only else ""
        yield f"  skill {skill.name}{only}: {_short(skill.description)}"
    for name, description in view.agents:
        yield f"  agent {name}: {_short(description)}"
    for server in view.servers:
        yield f"  MCP server {server}"
    for problem in view.problems:
        yield f"  warning: {problem}"


def _skill(source: SkillSource) -> SkillView:
    named = source.name if isinstance(source.name, str) else ""
    name = one_line(without_surrogates(named)).strip() or source.directory_name
    return SkillView(
        name=name,
        aliases=tuple(dict.fromkeys((name, source.directory_name))),
        description=source.description,
        content=source.content,
        user_only=source.fields.get(USER_ONLY) is True,
    )


def _agent(source: AgentSource) -> tuple[str, str]:
    name = source.name if isinstance(source.name, str) else source.path.stem
    return one_line(name), source.description


def _short(description: str) -> str:
    text = " ".join(one_line(description).split())
    return cut(text, DESCRIPTION_SHOWN) or "no description"
