"""What keeps a skill or a plugin from more points, and what would win them back."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from pytest_plugin_eval.quality.composite import (
    ENTRY_COSTS,
    LEAST_PENALTY,
    composite_score,
    penalty,
)
from pytest_plugin_eval.quality.model import Finding, LayerResult
from pytest_plugin_eval.quality.parse import PluginSource, SkillSource
from pytest_plugin_eval.quality.remedies.agents import agent_mendings
from pytest_plugin_eval.quality.remedies.flags import flag_mendings
from pytest_plugin_eval.quality.remedies.frontmatter import frontmatter_mendings
from pytest_plugin_eval.quality.remedies.mending import NOISE, Mending, ScoredSkill
from pytest_plugin_eval.quality.remedies.portability import portability_mendings
from pytest_plugin_eval.quality.remedies.structure import disclosure_mendings, structure_mendings
from pytest_plugin_eval.quality.remedies.tokens import token_mendings
from pytest_plugin_eval.quality.remedies.wording import wording_mendings
from pytest_plugin_eval.quality.static.agent import agent_score
from pytest_plugin_eval.quality.static.anti_patterns import anti_patterns
from pytest_plugin_eval.quality.static.parts import SubScore, summed
from pytest_plugin_eval.quality.static.plugin import plugin_layer
from pytest_plugin_eval.quality.static.skill import skill_layer, sub_scores

__all__ = ["findings"]

SKILL_FILE = "SKILL.md"
PLUGIN_FILE = ".claude-plugin/plugin.json"
MOST_ENTRIES = math.ceil((1 - LEAST_PENALTY) / ENTRY_COSTS)
"""So many bring the penalty to its limit."""
T = TypeVar("T")

MENDINGS: tuple[Callable[[ScoredSkill], Iterator[Mending]], ...] = (
    frontmatter_mendings,
    wording_mendings,
    disclosure_mendings,
    structure_mendings,
    token_mendings,
    portability_mendings,
    flag_mendings,
)


def findings(source: SkillSource | PluginSource) -> tuple[Finding, ...]:
    """Return everything that costs a skill or plugin points of its composite, dearest first.

    The points of a finding are what the composite at quick depth rises by when it alone is mended:
    the score is computed again with the parts that the remedy changes, and without its
    anti-patterns. Two findings that one change mends both count it, so they need not add up to
    what mending everything wins. Also among them: findings on portability, which cost a plugin
    points but not a skill, and anti-patterns beyond those that the penalty still counts.
    """
    found = _of_skill(source) if isinstance(source, SkillSource) else _of_plugin(source)
    return tuple(sorted(found, key=_dearest_first))


def _dearest_first(finding: Finding) -> tuple[float, str, int, str, str]:
    # The same points twice differ in their last bits: rounded, the order is that of the file.
    return (-round(finding.points, 9), finding.file, finding.line or 0, finding.rule, finding.text)


def _of_skill(source: SkillSource) -> Iterator[Finding]:
    skill = _scored(source)
    before = composite_score([_skill_layer(skill)])
    for mending in _mendings(skill):
        points = composite_score([_skill_layer(skill, mending)]) - before
        yield _finding(SKILL_FILE, mending, points, len(skill.entries))


def _of_plugin(source: PluginSource) -> Iterator[Finding]:
    skills = [_scored(skill) for skill in source.skills]
    layers = [_skill_layer(skill) for skill in skills]
    agents = [agent_score(agent) for agent in source.agents]
    scores = [agent.score for agent in agents]
    before = plugin_layer(source, layers, scores)
    total, entries = composite_score([before]), len(before.anti_patterns)
    if not layers and not scores:
        yield _empty(total)
    for number, skill in enumerate(skills):
        file = (skill.source.path / SKILL_FILE).relative_to(source.path).as_posix()
        for mending in _mendings(skill):
            mended = _replaced(layers, number, _skill_layer(skill, mending))
            points = composite_score([plugin_layer(source, mended, scores)]) - total
            yield _finding(file, _counted_twice(mending), points, entries)
    for number, (agent, score) in enumerate(zip(source.agents, agents, strict=True)):
        for mending in agent_mendings(agent):
            better = _mended({score.name: score}, mending)[score.name].score
            others = _replaced(scores, number, better)
            points = composite_score([plugin_layer(source, layers, others)])
            file = agent.path.relative_to(source.path).as_posix()
            yield _finding(file, mending, points - total, entries)


def _empty(total: float) -> Finding:
    return Finding(
        file=PLUGIN_FILE,
        line=None,
        rule="empty_plugin",
        text=f"the plugin has no skill and no agent, and {total:g} points all the same, an odd"
        " rule",
        points=0.0,
        remedy="add a skill, 'skills/<name>/SKILL.md'",
    )


def _scored(source: SkillSource) -> ScoredSkill:
    return ScoredSkill(
        source=source,
        sub_scores=sub_scores(source),
        entries=anti_patterns(source),
        lowered=source.content.lower(),
    )


def _mendings(skill: ScoredSkill) -> Iterator[Mending]:
    for each in MENDINGS:
        yield from each(skill)


def _skill_layer(skill: ScoredSkill, mending: Mending | None = None) -> LayerResult:
    """Return the static layer of a skill, with one thing mended."""
    if mending is None:
        return skill_layer(skill.source, skill.sub_scores, skill.entries)
    # Which entries go makes no difference: each costs the same. Those that the penalty does not
    # count any more would only be copied, thousands of them for each of thousands of findings.
    left = skill.entries[: min(len(skill.entries) - mending.entries, MOST_ENTRIES)]
    return skill_layer(skill.source, _mended(skill.sub_scores, mending), left)


def _mended(found: Mapping[str, SubScore], mending: Mending) -> dict[str, SubScore]:
    return {
        name: summed(name, {**each.parts, **mending.parts[name]}) if name in mending.parts else each
        for name, each in found.items()
    }


def _replaced(values: Sequence[T], number: int, value: T) -> list[T]:
    return [*values[:number], value, *values[number + 1 :]]


def _counted_twice(mending: Mending) -> Mending:
    if not mending.entries:
        return mending
    text = f"{mending.text}; a plugin pays for it twice, in the skill's score and in its own"
    return replace(mending, text=text)


def _finding(file: str, mending: Mending, points: float, entries: int) -> Finding:
    """Return a finding for a mending that wins *points* where there are so many entries."""
    text = mending.text
    left = entries - mending.entries
    if mending.entries and penalty(left) == penalty(entries):
        text = (
            f"{text}; there are {entries} anti-patterns, and the penalty is at its limit with"
            f" {left} as well, so mending this alone wins nothing of it"
        )
    return Finding(
        file=file,
        line=mending.line,
        rule=mending.rule,
        text=text,
        points=points if points > NOISE else 0.0,
        remedy=mending.remedy,
    )
