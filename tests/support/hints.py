"""Cases to give hints on, and the hints that come."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import TypeAdapter

from pytest_plugin_eval.cases.advisories import offer
from pytest_plugin_eval.cases.hints import (
    Circumstances,
    hints,
)
from pytest_plugin_eval.cases.model import Case, GraderSpec, Source
from pytest_plugin_eval.cases.plugin_skills import Skill

GRADER: TypeAdapter[GraderSpec] = TypeAdapter(GraderSpec)
Fields = dict[str, object]
FILE: Fields = {"source": "file", "path": "a.txt"}
SKILL = Skill("demo", "greet")
COINED = Skill("demo", "commit-message")
FIRED: Fields = {"type": "tool_used", "tool": "Skill"}
SAID: Fields = {"type": "regex", "pattern": "hello"}
SERVERS = (("demo", "tracker"),)


def case_of(*graders: Fields, **fields: object) -> Case:
    """Return a case with these graders, named a, b, c unless they have names."""
    named = [{"name": "abcdefg"[number], **grader} for number, grader in enumerate(graders)]
    values: Fields = {
        "id": "evals/it",
        "directory": Path("evals/it"),
        "eval_dir": Path("evals"),
        "root": Path(),
        "name": "it",
        "source": Source.PROSE,
        "prompt": "Do it",
        "graders": tuple(map(GRADER.validate_python, named)),
        **fields,
    }
    return Case(**values)  # type: ignore[arg-type]  # fields of a test's choice


def found_in_python(pattern: str, flags: str, text: str) -> bool:
    """Search as JavaScript would, for patterns that mean the same to both."""
    return re.search(pattern, text, re.IGNORECASE if "i" in flags else 0) is not None


def told(case: Case, *, grants: tuple[str, ...] | None = ("Write",), **more: object) -> list[str]:
    """Return the texts of the hints of a case, with *grants*, ``None`` for a replay."""
    values: Fields = {
        "offer": None if grants is None else offer(case, grants=grants, disallowed=()),
        "matches": found_in_python,
        **more,
    }
    return [hint.text for hint in hints(case, Circumstances(**values))]  # type: ignore[arg-type]  # fields of a test's choice


def regex(pattern: str, match: str = "contains", target: object = "last_message") -> Fields:
    """Return a grader that looks for a pattern."""
    return {"type": "regex", "pattern": pattern, "match": match, "target": target}


def used(tool: str, **more: object) -> Fields:
    """Return a grader that counts calls."""
    return {"type": "tool_used", "tool": tool, **more}


def file(path: str, **more: object) -> Fields:
    """Return a grader that looks for files."""
    return {"type": "file_exists", "path": path, **more}
