"""What is taken of a model's proposals, and what is wrong with the rest.

The reply is data from outside: whatever it says, it becomes texts and numbers within these limits
or nothing. It names no file, no option and no tool that is granted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pytest_plugin_eval.authoring.limits import MOST_CASES, MOST_GRADERS
from pytest_plugin_eval.authoring.names import LONGEST as LONGEST_NAME
from pytest_plugin_eval.cases.new_case import check_case_name
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.quality.judge_replies import Unreadable, read_object
from pytest_plugin_eval.text import did_you_mean, one_line, plural, shown

__all__ = ["Proposal", "ProposedGrader", "Reading", "Refused", "read"]

MOST_CALLS = 1000
PROMPT = 4000
CRITERIA = 2000
LINE = 300
PATTERN = 500
_SKILL_TOOL = "Skill"

# What YAML cannot hold as it is, what a terminal obeys, and lines that only some readers see.
_FORBIDDEN = re.compile(
    "[^\\n\\t\\x20-\\x7e\\xa0-\\ud7ff\\ue000-\\ufffd\U00010000-\U0010ffff]"
    "|[\\u2028\\u2029\\ufeff\\u202a-\\u202e\\u2066-\\u2069]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedGrader:
    """One grader, checked."""

    type: str
    name: str
    fields: Mapping[str, str | int | bool]
    """Options, without type, name and criteria."""
    criteria: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One case, checked; the grader on the skill itself follows from *should_trigger*."""

    name: str
    skill: str
    should_trigger: bool
    prompt: str
    why: str
    graders: tuple[ProposedGrader, ...]


class Refused(NamedTuple):
    """A proposal that cannot be used."""

    name: str
    """For people, whatever it was called; one line."""
    problems: tuple[str, ...]
    raw: object = None
    """As it was proposed; ``None`` where the whole reply is meant."""


class Reading(NamedTuple):
    """What a reply holds."""

    proposals: tuple[Proposal, ...]
    refused: tuple[Refused, ...]
    raw: tuple[object, ...] = ()
    """Of each of the proposals, as it was made."""


class _Flaw(ValueError):
    """What is wrong with a value, after the name of its place."""


class _Fields:
    """A mapping from outside, read key by key; collects what is wrong."""

    def __init__(self, data: Mapping[str, object], place: str, known: Collection[str]) -> None:
        self.data = data
        self.problems: list[str] = []
        self._place = place
        for key in data:
            if key not in known:
                hint = did_you_mean(key, known) or f", expected only {', '.join(known)}"
                self.problems.append(f"{place}unknown key {shown(key)}{hint}")

    def note(self, key: str, text: str) -> None:
        """Note what is wrong with a key."""
        self.problems.append(f"{self._place}{key} {text}")

    def text(self, key: str, longest: int, *, lines: bool = False, default: str = "") -> str:
        """Return a text that is not blank; *default* where the key is absent and not needed."""
        if key not in self.data and default:
            return default
        try:
            return _text(self.data.get(key), longest, lines=lines)
        except _Flaw as flaw:
            self.note(key, str(flaw))
            return ""

    def flag(self, key: str, default: bool | None = None) -> bool:
        """Return true or false."""
        value = self.data.get(key, default)
        if isinstance(value, bool):
            return value
        self.note(key, f"must be true or false, got {shown(value)}")
        return False


def read(text: str, *, skills: Collection[str]) -> Reading:
    """Return the proposals in a reply, and those that cannot be used; *skills* may be named."""
    reply = read_object(text)
    if isinstance(reply, Unreadable):
        return Reading((), (Refused("the reply", (reply.error,)),))
    listed = reply.get("cases")
    if not isinstance(listed, list) or not listed:
        problem = f"cases must be a list of objects, got {shown(listed)}"
        return Reading((), (Refused("the reply", (problem,)),))
    proposals: list[Proposal] = []
    refused: list[Refused] = []
    raws: list[object] = []
    for number, raw in enumerate(listed, 1):
        if number > MOST_CASES:
            problem = f"there are {plural(len(listed), 'case')}, expected at most {MOST_CASES}"
            refused.append(Refused("the rest", (problem,)))
            break
        try:
            proposals.append(_proposal(raw, skills))
        except _Problems as found:
            refused.append(Refused(_called(raw, number), found.problems, raw))
        else:
            raws.append(raw)
    return Reading(tuple(proposals), tuple(refused), tuple(raws))


class _Problems(Exception):
    """All that is wrong with a proposal."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


_CASE_KEYS = ("name", "skill", "should_trigger", "prompt", "why", "graders")


def _proposal(raw: object, skills: Collection[str]) -> Proposal:
    if not isinstance(raw, dict):
        raise _Problems((f"must be an object, got {shown(raw)}",))
    fields = _Fields(raw, "", _CASE_KEYS)
    name = _name(fields, "name")
    skill = fields.text("skill", LINE, default=next(iter(skills)) if len(skills) == 1 else "")
    if skill and skill not in skills:
        known = ", ".join(skills)
        fields.note("skill", f"{shown(skill)} is not asked for, expected one of {known}")
    proposal = Proposal(
        name=name,
        skill=skill,
        should_trigger=fields.flag("should_trigger"),
        prompt=fields.text("prompt", PROMPT, lines=True),
        why=fields.text("why", LINE),
        graders=tuple(_graders(fields)),
    )
    if fields.problems:
        raise _Problems(tuple(fields.problems))
    return proposal


def _graders(fields: _Fields) -> Iterator[ProposedGrader]:
    listed = fields.data.get("graders", [])
    if not isinstance(listed, list):
        fields.note("graders", f"must be a list of objects, got {shown(listed)}")
        return
    if len(listed) > MOST_GRADERS:
        fields.note("graders", f"are {len(listed)}, expected at most {MOST_GRADERS}")
        return
    names: set[str] = set()
    for number, raw in enumerate(listed, 1):
        if _is_about_skill(raw):
            continue  # `should_trigger` says it, and the grader is made of that
        grader = _grader(raw, f"grader {number}: ", fields.problems)
        if grader is None:
            continue
        if grader.name.casefold() in names:
            fields.note("graders", f"have the name {shown(grader.name)} twice")
        names.add(grader.name.casefold())
        yield grader


def _is_about_skill(raw: object) -> bool:
    return (
        isinstance(raw, dict)
        and raw.get("type") == "tool_used"
        and (raw.get("tool") == _SKILL_TOOL)
    )


def _grader(raw: object, place: str, problems: list[str]) -> ProposedGrader | None:
    if not isinstance(raw, dict):
        problems.append(f"{place}must be an object, got {shown(raw)}")
        return None
    kind = raw.get("type")
    maker = _MAKERS.get(kind) if isinstance(kind, str) else None
    if maker is None:
        problems.append(f"{place}type must be one of {', '.join(_MAKERS)}, got {shown(kind)}")
        return None
    keys, options = maker
    fields = _Fields(raw, place, ("type", "name", *keys))
    name = _name(fields, "name")
    made = options(fields)
    criteria = made.pop("criteria", None)
    problems.extend(fields.problems)
    return ProposedGrader(
        type=str(kind),
        name=name,
        fields=made,
        criteria=None if criteria is None else str(criteria),
    )


_Options = dict[str, str | int | bool]


def _regex(fields: _Fields) -> _Options:
    options: _Options = {"pattern": fields.text("pattern", PATTERN)}
    if "flags" in fields.data and fields.data["flags"] != "":
        options["flags"] = fields.text("flags", LINE)
    match = fields.text("match", LINE, default="contains")
    if match not in ("contains", "not_contains"):
        fields.note("match", f"must be contains or not_contains, got {shown(match)}")
    if match != "contains":
        options["match"] = match
    return options


def _tool_used(fields: _Fields) -> _Options:
    options: _Options = {"tool": fields.text("tool", LINE)}
    if "input_match" in fields.data:
        options["input_match"] = fields.text("input_match", PATTERN)
    for key in ("min", "max"):
        value = fields.data.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST_CALLS:
            fields.note(key, f"must be a whole number from 0 to {MOST_CALLS}, got {shown(value)}")
            continue
        options[key] = value
    if options.get("max") == 0:
        options.setdefault("min", 0)  # `min` is 1 otherwise, and no count would do
    return options


def _file_exists(fields: _Fields) -> _Options:
    options: _Options = {"path": fields.text("path", LINE)}
    if not fields.flag("exists", default=True):
        options["exists"] = False
    return options


def _llm(fields: _Fields) -> _Options:
    return {"criteria": fields.text("criteria", CRITERIA, lines=True)}


_MAKERS: Mapping[str, tuple[tuple[str, ...], Callable[[_Fields], _Options]]] = {
    "regex": (("pattern", "flags", "match"), _regex),
    "tool_used": (("tool", "input_match", "min", "max"), _tool_used),
    "file_exists": (("path", "exists"), _file_exists),
    "llm": (("criteria",), _llm),
}


def _name(fields: _Fields, key: str) -> str:
    name = fields.text(key, LINE)
    if not name:
        return name
    if len(name) > LONGEST_NAME:
        fields.note(key, f"has {len(name)} characters, expected at most {LONGEST_NAME}")
    try:
        check_case_name(name)
    except EvalError:
        expected = "expected letters, digits and '-', and not the name of a special directory"
        fields.note(key, f"{shown(name)} will not do, {expected}")
    return name


def _text(value: object, longest: int, *, lines: bool) -> str:
    if not isinstance(value, str):
        raise _Flaw("is missing" if value is None else f"must be a string, got {shown(value)}")
    text = value.replace("\r\n", "\n").strip()
    if not text:
        raise _Flaw("is blank")
    if len(text) > longest:
        raise _Flaw(f"has {len(text)} characters, expected at most {longest}")
    if found := _FORBIDDEN.search(text):
        raise _Flaw(f"holds the character {found[0]!a}, which is not allowed")
    if not lines and "\n" in text:
        raise _Flaw("has several lines, expected one")
    return text


def _called(raw: object, number: int) -> str:
    name = raw.get("name") if isinstance(raw, dict) else None
    if isinstance(name, str) and name.strip():
        return one_line(name)[:LONGEST_NAME]
    return f"case {number}"
