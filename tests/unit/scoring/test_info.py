"""A case's definition as the document has it. Spec: behaviour-evals, 9."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from pytest_plugin_eval.cases.model import Case, GraderSpec, Plugin, Source
from pytest_plugin_eval.scoring.info import case_info, grader_definition
from tests.support.results import plan

GRADER: TypeAdapter[GraderSpec] = TypeAdapter(GraderSpec)


# What the reference wrote for these graders.
@pytest.mark.parametrize(
    ("grader", "definition"),
    [
        (
            '{"name": "r", "type": "regex", "pattern": "no", "arm": "both", "weight": 3}',
            '{"name": "r", "type": "regex", "weight": 3.0, "config": {"target": "last_message",'
            ' "pattern": "no", "flags": "", "match": "contains", "arm": "both"}}',
        ),
        (
            '{"name": "r", "type": "regex", "pattern": "no", "match": "not_contains",'
            ' "target": {"source": "file", "path": "x.md"}}',
            '{"name": "r", "type": "regex", "weight": 1, "config": {"target": {"source": "file",'
            ' "path": "x.md"}, "pattern": "no", "flags": "", "match": "not_contains"}}',
        ),
        (
            '{"name": "t", "type": "tool_used", "tool": "Read", "max": 2, "min": 0}',
            '{"name": "t", "type": "tool_used", "weight": 1,'
            ' "config": {"tool": "Read", "min": 0, "max": 2}}',
        ),
        (
            '{"name": "o", "type": "tool_order", "before": "Read",'
            ' "after": {"tool": "Grep", "input_match": "x"}}',
            '{"name": "o", "type": "tool_order", "weight": 1, "config": {"before":'
            ' {"tool": "Read"}, "after": {"tool": "Grep", "input_match": "x"}}}',
        ),
        (
            '{"name": "f", "type": "file_exists", "path": "*.txt"}',
            '{"name": "f", "type": "file_exists", "weight": 1,'
            ' "config": {"path": "*.txt", "exists": true}}',
        ),
        (
            '{"name": "l", "type": "llm", "criteria": "be nice"}',
            '{"name": "l", "type": "llm", "weight": 1, "graderMarkdown": "be nice",'
            ' "config": {"criteria": "be nice", "focus": "last_message"}}',
        ),
        (
            '{"name": "b", "type": "baseline", "baseline_file": "b.jsonl", "criteria": "as good",'
            ' "arm": "with-only"}',
            '{"name": "b", "type": "baseline", "weight": 1, "graderMarkdown": "as good", "config":'
            ' {"baseline_file": "b.jsonl", "criteria": "as good", "arm": "with-only"}}',
        ),
    ],
    ids=["regex", "file target", "tool_used", "tool_order", "file_exists", "llm", "baseline"],
)
def test_grader_definition_has_the_reference_form(grader: str, definition: str) -> None:
    spec = GRADER.validate_json(grader)

    assert json.dumps(grader_definition(spec)) == definition


def test_case_info_carries_plain_values(tmp_path: Path) -> None:
    case = Case(
        id="evals/a",
        directory=tmp_path / "evals" / "a",
        eval_dir=tmp_path / "evals",
        root=tmp_path,
        name="a",
        source=Source.MIXED,
        prompt="Say hi",
        graders=(),
        plugins=(Plugin(name="demo", path=tmp_path),),
    )
    case.directory.mkdir(parents=True)
    (case.directory / "prompt.md").touch()
    found = [("g", "first"), ("g", "second"), (None, "of the case")]

    info = case_info(case, plan(), advisories=found, not_granted=["Bash"])

    assert (info.source, info.own_runs, info.root) == ("mixed", 3, str(tmp_path))
    assert info.advisories == ("first", "second", "of the case")
    assert info.grader_advisories == {"g": "first"}
    assert info.plugins == ({"name": "demo", "path": str(tmp_path)},)
    assert info.source_file == str(tmp_path / "evals" / "a" / "prompt.md")
