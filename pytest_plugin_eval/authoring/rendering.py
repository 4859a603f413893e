"""A proposal as the files of a case. All that a model wrote stands in quotes or below them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from pytest_plugin_eval.authoring.contract import Proposal, ProposedGrader
from pytest_plugin_eval.authoring.names import free_name
from pytest_plugin_eval.authoring.view import PluginView

__all__ = ["FIRED", "STAYED_OUT", "files_of"]

FIRED = "skill-fired"
STAYED_OUT = "skill-stayed-out"
MAX_TURNS = 10
READING = ("Read", "Glob", "Grep", "Skill")
_SPECIAL = re.compile(r"[.*+?^${}()|\[\]\\/]")
_Value = str | int | bool | tuple[str, ...]


def files_of(proposal: Proposal, view: PluginView) -> dict[str, str]:
    """Return the case's files by relative path."""
    files = {"prompt.md": _document(_case_fields(proposal), proposal.prompt)}
    taken = [grader.name for grader in proposal.graders]
    for name, text in _graders(proposal, view, taken):
        files[f"graders/{name}.md"] = text
    return files


def skill_pattern(skill: str, view: PluginView) -> str:
    """Return what a call of a skill matches, with the plugin's name before it or not."""
    known = next((one for one in view.skills if one.name == skill), None)
    names = [_escaped(name) for name in (known.aliases if known else (skill,))]
    either = names[0] if len(names) == 1 else f"(?:{'|'.join(names)})"
    return f'"skill":"(?:{_escaped(view.name)}:)?{either}"'


def _case_fields(proposal: Proposal) -> Mapping[str, _Value]:
    writes = any(
        one.type == "file_exists" and one.fields.get("exists", True) is True
        for one in proposal.graders
    )
    return {
        "description": proposal.why,
        "tags": ("triggers" if proposal.should_trigger else "stays-out",),
        "max_turns": MAX_TURNS,
        "allowed_tools": (*READING, "Write", "Edit") if writes else READING,
    }


def _graders(
    proposal: Proposal, view: PluginView, taken: Iterable[str]
) -> Iterator[tuple[str, str]]:
    pattern = skill_pattern(proposal.skill, view)
    fields: dict[str, _Value] = {"type": "tool_used", "tool": "Skill", "input_match": pattern}
    name = FIRED
    if not proposal.should_trigger:
        # Without `arm` a grader on Skill is not scored beside others, and would be in vain here.
        name, fields = STAYED_OUT, {**fields, "min": 0, "max": 0, "arm": "both"}
    yield free_name(name, taken), _document(fields)
    for grader in proposal.graders:
        yield grader.name, _grader(grader)


def _grader(grader: ProposedGrader) -> str:
    return _document({"type": grader.type, **grader.fields}, grader.criteria)


def _document(fields: Mapping[str, _Value], body: str | None = None) -> str:
    lines = ["---", *(f"{key}: {_yaml(value)}" for key, value in fields.items()), "---"]
    if body is not None:
        lines += ["", body]
    return "\n".join(lines) + "\n"


def _yaml(value: _Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case tuple():
            return f"[{', '.join(value)}]"  # words of ours
        case str() if value in _PLAIN:
            return value
        case str():
            return "'" + value.replace("'", "''") + "'"  # one line: nothing else is special


_PLAIN = frozenset(
    ("regex", "tool_used", "file_exists", "llm", "Skill", "both", "not_contains", "contains")
)


def _escaped(name: str) -> str:
    """Return a name as it stands in JSON, for a JavaScript regular expression."""
    text = json.dumps(name, ensure_ascii=False)[1:-1]
    return _SPECIAL.sub(r"\\\g<0>", text)
