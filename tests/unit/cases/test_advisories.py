"""Graders that cannot pass with the tools granted. Spec: behaviour-evals, 8.4.

The occasions were observed with the reference command, version 2.1.332.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import TypeAdapter

from pytest_plugin_eval.cases.advisories import Advisory, advisories, folded
from pytest_plugin_eval.cases.model import Case, GraderSpec, Source

GRADER: TypeAdapter[GraderSpec] = TypeAdapter(GraderSpec)
FILE = {"source": "file", "path": "a.txt"}


def _case(grader: dict[str, object], **fields: object) -> Case:
    values: dict[str, object] = {
        "id": "evals/a",
        "directory": Path("evals/a"),
        "eval_dir": Path("evals"),
        "root": Path(),
        "name": "a",
        "source": Source.PROSE,
        "prompt": "Do it",
        "graders": (GRADER.validate_python({"name": "g", **grader}),),
        **fields,
    }
    return Case(**values)  # type: ignore[arg-type]  # fields of a test's choice


def _regex(target: object, match: str = "contains") -> dict[str, object]:
    return {"type": "regex", "pattern": "x", "match": match, "target": target}


def _used(tool: str, **counts: object) -> dict[str, object]:
    return {"type": "tool_used", "tool": tool, **counts}


@pytest.mark.parametrize(
    ("grader", "count"),
    [
        ({"type": "file_exists", "path": "a.txt"}, 1),
        ({"type": "file_exists", "path": "a.txt", "exists": False}, 0),
        (_regex(FILE), 1),
        (_regex(FILE, "not_contains"), 1),
        (_regex("files"), 1),
        (_regex("files", "not_contains"), 0),
        (_regex("files", "count:2"), 1),
        (_regex("files", "count:0"), 0),
        (_regex("files", "count:00"), 0),
        (_regex("trace"), 0),
        ({"type": "llm", "criteria": "x", "focus": FILE}, 1),
        ({"type": "llm", "criteria": "x", "focus": "files"}, 0),
        (_used("Write"), 1),
        (_used("Write", max=3), 1),
        (_used("Write", min=0, max=0), 0),
        (_used("Read"), 0),
        (_used("Skill"), 0),
        (_used("mcp__server__tool"), 0),
        (_used("NoSuchTool"), 0),
        (_used("WebFetch"), 1),
        (_used("Monitor"), 1),
        ({"type": "tool_order", "before": "Write", "after": {"tool": "Bash"}}, 2),
        ({"type": "tool_order", "before": "Read", "after": "Edit"}, 1),
    ],
)
def test_grader_that_cannot_pass_without_grants_is_told(
    grader: dict[str, object], count: int
) -> None:
    found = advisories(_case(grader), grants=(), disallowed=())

    assert [name for name, _ in found] == ["g"] * count


@pytest.mark.parametrize(
    ("grader", "grants", "count"),
    [
        ({"type": "file_exists", "path": "a.txt"}, ["Bash(git *)"], 0),
        ({"type": "file_exists", "path": "a.txt"}, ["mcp__server__tool"], 0),
        ({"type": "file_exists", "path": "a.txt"}, ["WebFetch"], 1),
        (_used("Write"), ["Edit"], 0),
        (_used("NotebookEdit"), ["Write(docs/**)"], 0),
        (_used("Write"), ["Bash"], 1),
        (_used("Monitor"), ["Monitor"], 1),
        ({"type": "file_exists", "path": "a.txt"}, ["Write(/etc/*)"], 1),
        ({"type": "file_exists", "path": "a.txt"}, ["Edit(../x)", "NotebookEdit(~/x)"], 1),
        ({"type": "file_exists", "path": "a.txt"}, ["Write(/etc/*)", "Edit(out/**)"], 0),
        ({"type": "file_exists", "path": "a.txt"}, ["Write(//**)"], 0),
        ({"type": "file_exists", "path": "a.txt"}, ["Write()"], 0),
        (_used("Write"), ["Write(/etc/*)"], 0),
    ],
)
def test_grant_makes_a_grader_possible(
    grader: dict[str, object], grants: list[str], count: int
) -> None:
    assert len(advisories(_case(grader), grants=grants, disallowed=())) == count


def test_tool_taken_away_is_told_in_other_words() -> None:
    of_case = _case(_used("Read"), disallowed_tools=("Read",))

    ((_, by_case),) = advisories(of_case, grants=(), disallowed=())
    ((_, by_operator),) = advisories(_case(_used("Read")), grants=("Read",), disallowed=("Read",))

    assert by_case == by_operator
    assert "takes away" in by_case


def test_grant_of_a_tool_taken_away_does_not_count() -> None:
    case = _case({"type": "file_exists", "path": "a.txt"}, disallowed_tools=("Write",))

    ((_, text),) = advisories(case, grants=["Write"], disallowed=())

    assert "disallowed_tools" in text


@pytest.mark.parametrize(
    ("grader", "count"), [(_regex(FILE), 0), ({"type": "file_exists", "path": "a.txt"}, 1)]
)
def test_scaffold_may_make_the_file_that_is_read(grader: dict[str, object], count: int) -> None:
    case = _case(grader, scaffold_script="make.sh")

    assert len(advisories(case, grants=(), disallowed=(), scaffold=True)) == count


@pytest.mark.parametrize(
    ("told", "texts"),
    [
        ([("a", "grader 'a' cannot pass: it needs X")], ["grader 'a' cannot pass: it needs X"]),
        (
            [
                ("a", "grader 'a' cannot pass: it needs X"),
                ("b", "grader 'b' cannot pass: it looks at Y"),
                ("c", "grader 'c' cannot pass: it needs X"),
                (None, "something else"),
            ],
            [
                "graders 'a', 'c' cannot pass: each needs X",
                "grader 'b' cannot pass: it looks at Y",
                "something else",
            ],
        ),
        ([], []),
    ],
    ids=["alone", "alike", "none"],
)
def test_what_is_said_of_several_graders_is_said_once(
    told: list[Advisory], texts: list[str]
) -> None:
    assert list(folded(told)) == texts
