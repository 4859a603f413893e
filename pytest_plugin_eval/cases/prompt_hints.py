"""What a case's prompt gives away. Spec: behaviour-evals, 4 and 5.2."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

from pytest_plugin_eval.cases.grader_hints import named
from pytest_plugin_eval.cases.model import Case, RegexSpec, ToolUsedSpec
from pytest_plugin_eval.cases.pattern_text import matches_anything
from pytest_plugin_eval.cases.plugin_skills import Skill

__all__ = ["Matches", "echo_hints", "named_skill", "wants_skill"]

Matches: TypeAlias = Callable[[str, str, str], bool]
"""Whether a JavaScript pattern, with flags, is found in a text; false when that takes long."""

# From this share of the score on it is worth saying that an echo of the prompt gets it.
LARGE_SHARE = 0.5
_SYNTAX = re.compile(r"[\\^$.*+?()\[\]{}|]")
_VERBS = "use|using|run|running|invoke|invoking|load|call|apply"
_QUOTE = "[`\"'*]*"


def named_skill(case: Case, skills: Sequence[Skill]) -> str | None:
    """Return the words by which the prompt names a skill that the model could choose itself.

    A name of one word may stand in any prompt; it counts only where it plainly is a skill's.
    """
    lowered = case.prompt.lower()
    for skill in skills:
        if skill.user_only or not skill.name or skill.name.lower() not in lowered:
            continue
        is_wanted = wants_skill(case, skill.name)
        if case.prompt.lstrip().startswith("/") and not is_wanted:
            continue  # a command on purpose, of a case that does not ask how the skill was found
        found = _explicit(skill.plugin, skill.name).search(case.prompt)
        if found is None and is_wanted and _is_coined(skill.name):
            found = _bare(skill.name).search(case.prompt)
        if found is not None:
            return " ".join(found[0].split())
    return None


def wants_skill(case: Case, name: str | None = None) -> bool:
    """Say whether a grader passes only when a skill is used: the one of that name, or any."""
    return any(
        isinstance(grader, ToolUsedSpec)
        and grader.tool == "Skill"
        and grader.min != 0
        and grader.max != 0
        and (name is None or not grader.input_match or name in _plain(grader.input_match))
        for grader in case.graders
    )


def echo_hints(
    case: Case, *, unscored: Collection[str], matches: Matches
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what an answer that repeats the prompt would come to, and the graders concerned.

    Only where that is a large share of the score: a grader among others may well look for a word
    of the prompt.
    """
    scored = [grader for grader in case.graders if grader.name not in unscored]
    whole = sum(grader.weight for grader in scored)
    asked = [
        grader
        for grader in scored
        if isinstance(grader, RegexSpec)
        and grader.target in {"last_message", "trace"}
        and not matches_anything(grader.pattern)
    ]
    wanting = [grader for grader in asked if grader.match == "contains"]
    passed = _matching(wanting, case.prompt, LARGE_SHARE * whole, matches)
    if passed:
        names = tuple(grader.name for grader in passed)
        yield (
            f"{named(names)} would pass on an answer that only repeats the prompt: the pattern is "
            "found in the prompt itself",
            names,
        )
    for grader in asked:
        if grader.match != "not_contains" or grader.target != "last_message":
            continue
        if matches(grader.pattern, grader.flags, case.prompt):
            yield (
                f"{named([grader.name])} would fail an answer that quotes the prompt: the pattern "
                "is found in the prompt itself",
                (grader.name,),
            )


def _matching(
    graders: Sequence[RegexSpec], text: str, least: float, matches: Matches
) -> list[RegexSpec]:
    """Return those whose pattern is in the text when they weigh enough, else none.

    Plain words are looked for first, so that the engine is mostly not needed to tell.
    """
    possible = sum(grader.weight for grader in graders)
    found: list[RegexSpec] = []
    for grader in sorted(graders, key=lambda grader: bool(_SYNTAX.search(grader.pattern))):
        if possible < least or not possible:
            return []
        if matches(grader.pattern, grader.flags, text):
            found.append(grader)
        else:
            possible -= grader.weight
    return [grader for grader in graders if grader in found] if possible >= least else []


def _is_coined(name: str) -> bool:
    return bool(re.search(r"[-_0-9]", name))


def _plain(pattern: str) -> str:
    return pattern.replace("\\-", "-")


@lru_cache(maxsize=256)
def _explicit(plugin: str, name: str) -> re.Pattern[str]:
    plugin, name = re.escape(plugin), re.escape(name)
    end = r"(?![\w-]|[./:]\w)"
    return re.compile(
        rf"(?<![\w:-]){plugin}:{name}{end}"
        rf"|(?<![\w/.~-])/(?:{plugin}:)?{name}{end}(?!/)"
        rf"|\b{name}{_QUOTE}\s+skill\b"
        rf"|\bskill\s+(?:named\s+|called\s+)?{_QUOTE}{name}{end}"
        rf"|\b(?:{_VERBS})\s+{_QUOTE}{name}{end}",
        re.IGNORECASE,
    )


@lru_cache(maxsize=256)
def _bare(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w./:-]){re.escape(name)}(?![\w/:-]|\.\w)")
