"""What keeps a skill's name and description from making an agent load it. Spec: 3.1 and 5."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_plugin_eval.quality.parse import SkillSource
from pytest_plugin_eval.quality.remedies.mending import Mending, ScoredSkill, lacks
from pytest_plugin_eval.quality.remedies.places import line_of_field
from pytest_plugin_eval.quality.static.anti_patterns import LEAST_DESCRIPTION
from pytest_plugin_eval.quality.static.frontmatter import (
    CONTEXT,
    CONTEXT_STEPS,
    DESCRIPTION_STEPS,
    NAME_DIFFERS,
    NAME_EQUALS_DIRECTORY,
    PUSHINESS,
    PUSHINESS_SHARE,
)
from pytest_plugin_eval.text import plural, shown

__all__ = ["frontmatter_mendings"]

RULE = "frontmatter_quality"
EMPTY, NO_TRIGGER = "EMPTY_DESCRIPTION", "MISSING_TRIGGER"
MOST = {part: PUSHINESS_SHARE * points for part, points in PUSHINESS.items()}
"""What each part of pushiness gives at most."""


def frontmatter_mendings(skill: ScoredSkill) -> Iterator[Mending]:
    """Yield what would raise ``frontmatter_quality``, and its two anti-patterns."""
    yield from _name(skill)
    line = _line(skill.source, "description")
    yield from _description(skill, line)
    yield from _trigger(skill, line)
    yield from _contexts(skill, line)
    if lacks(skill.part(RULE, "proactive"), MOST["proactive"]):
        yield _part(
            "proactive",
            line,
            "the description has no word 'proactively'",
            "where the agent is to load the skill without being asked, say so with the word"
            " 'proactively'",
        )
    if lacks(skill.part(RULE, "gerund"), MOST["gerund"]):
        yield _part(
            "gerund",
            line,
            "the description names no activity: no word in -ing follows when, for or during",
            "name the work by its -ing form right after one of them, 'when reviewing a change'",
        )
    if lacks(skill.part(RULE, "keyword"), MOST["keyword"]):
        yield _part(
            "keyword",
            line,
            "the description has none of 'automatically', 'always use', 'trigger', 'invoke'",
            "say with one of them how the skill starts, 'always use it to …'",
        )


def _name(skill: ScoredSkill) -> Iterator[Mending]:
    source, directory = skill.source, skill.source.directory_name
    points = skill.part(RULE, "name")
    if not lacks(points, NAME_DIFFERS):
        return
    line = _line(source, "name")
    if lacks(points, NAME_EQUALS_DIRECTORY):
        yield Mending(
            rule=RULE,
            line=line,
            text=f"name is empty, {shown(source.name)}",
            remedy=f"write the skill's name, {shown(directory)}",
            parts={RULE: {"name": NAME_EQUALS_DIRECTORY}},
        )
        return
    yield Mending(
        rule=RULE,
        line=line,
        text=f"name {shown(source.name)} is that of the directory, which this score holds for"
        f" less than another one ({NAME_EQUALS_DIRECTORY:.2f} against {NAME_DIFFERS:.2f}):"
        " an odd rule",
        remedy="leave it where agents find the skill by its directory, as the Agent Skills format"
        " asks; only a name other than the directory's earns the rest",
        parts={RULE: {"name": NAME_DIFFERS}},
    )


def _description(skill: ScoredSkill, line: int | None) -> Iterator[Mending]:
    most = DESCRIPTION_STEPS[0]
    if not lacks(skill.part(RULE, "description"), most.points):
        return
    flagged = skill.has_flag(EMPTY)
    length = len(skill.source.description.strip())
    text = _length_text(skill.source, length) + f", {most.at_least:.0f} or more earn the most"
    remedy = "say in a sentence or two what the skill does and when to use it"
    if line is None or not skill.source.fields:
        remedy = f"{_where_to_add(skill.source)}: {remedy}"
    yield Mending(
        rule=EMPTY if flagged else RULE,
        line=line,
        text=text + (f", under {LEAST_DESCRIPTION} are an anti-pattern" if flagged else ""),
        remedy=f"{remedy}, in {most.at_least:.0f} characters or more",
        parts={RULE: {"description": most.points, "length": MOST["length"]}},
        entries=1 if flagged else 0,
    )


def _where_to_add(source: SkillSource) -> str:
    if not source.body_offset:
        return "begin the file with a frontmatter between lines of '---', with a 'description'"
    if not source.fields:
        return "write the frontmatter as fields that YAML can read, with a 'description'"
    return "add a field 'description' to the frontmatter"


def _length_text(source: SkillSource, length: int) -> str:
    if not source.body_offset:
        return "there is no frontmatter, and so no description (0 characters)"
    if not source.fields:
        return "the frontmatter gives no fields, and so no description (0 characters)"
    if "description" not in source.fields:
        return "there is no description (0 characters)"
    if not isinstance(source.fields["description"], str):
        return "the description is no text and counts as empty (0 characters)"
    return f"the description has {plural(length, 'character')}"


def _trigger(skill: ScoredSkill, line: int | None) -> Iterator[Mending]:
    if not lacks(skill.part(RULE, "trigger"), MOST["trigger"]):
        return
    flagged = skill.has_flag(NO_TRIGGER)
    is_list = flagged and isinstance(skill.source.fields.get("paths"), list)
    odd = "; a list of paths does not exempt a skill, a text would: an odd rule" if is_list else ""
    yield Mending(
        rule=NO_TRIGGER if flagged else RULE,
        line=line,
        text="the description does not say when to use the skill in words that count ('use this"
        " skill when', 'used after', 'use proactively', 'triggers on', 'auto-loads when')" + odd,
        remedy="begin the description with when to use it: 'Use this skill when …'",
        parts={RULE: {"trigger": MOST["trigger"]}},
        entries=1 if flagged else 0,
    )


def _contexts(skill: ScoredSkill, line: int | None) -> Iterator[Mending]:
    if not lacks(skill.part(RULE, "contexts"), MOST["contexts"]):
        return
    found = len(CONTEXT.findall(skill.source.description.lower()))
    yield _part(
        "contexts",
        line,
        f"the description lists {plural(found, 'occasion')} after a comma,"
        f" {CONTEXT_STEPS[0].at_least:.0f} or more earn the most",
        "list them, each after a comma of its own: ', when …, for …, during …' (or a verb such"
        " as building, testing, debugging)",
    )


def _part(part: str, line: int | None, text: str, remedy: str) -> Mending:
    return Mending(rule=RULE, line=line, text=text, remedy=remedy, parts={RULE: {part: MOST[part]}})


def _line(source: SkillSource, field: str) -> int | None:
    return line_of_field(source.content[: source.body_offset], field)
