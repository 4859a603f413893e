"""Short ways to make records, traces and cases for tests of what looks at them."""

from __future__ import annotations

import json
from pathlib import Path

from pytest_plugin_eval.cases.model import Case, GraderSpec, Source
from pytest_plugin_eval.records.model import (
    Arm,
    Ending,
    FileEntry,
    FileKind,
    RunKey,
    RunOutcome,
    RunRecord,
    Vote,
)
from pytest_plugin_eval.records.trace import Trace


def assistant(*blocks: object, parent: str | None = None) -> str:
    """Return an ``assistant`` line with these content blocks."""
    event = {
        "type": "assistant",
        "message": {"role": "assistant", "content": list(blocks)},
        "parent_tool_use_id": parent,
    }
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def said(text: str, parent: str | None = None) -> str:
    """Return an ``assistant`` line with one text block."""
    return assistant({"type": "text", "text": text}, parent=parent)


def called(tool: str, parent: str | None = None, /, **inputs: object) -> str:
    """Return an ``assistant`` line with one tool call."""
    return assistant({"type": "tool_use", "id": "t", "name": tool, "input": inputs}, parent=parent)


def file(path: str, content: bytes | str | None = b"", *, created: bool = True) -> FileEntry:
    """Return a regular file of the workspace; content `None` means not kept."""
    data = content.encode() if isinstance(content, str) else content
    return FileEntry(path=path, kind=FileKind.FILE, created=created, content=data)


def link(path: str, target: str | None = None, *, leaves: bool = False) -> FileEntry:
    """Return a symbolic link of the workspace."""
    return FileEntry(path=path, kind=FileKind.LINK, created=True, target=target, leaves=leaves)


def record(*lines: str, arm: Arm = Arm.WITH, files: tuple[FileEntry, ...] = ()) -> RunRecord:
    """Return the record of a completed run with this trace."""
    return RunRecord(
        key=RunKey(case="evals/first", arm=arm, number=1),
        outcome=RunOutcome(ending=Ending.COMPLETED, turns=1, cost_usd=0.01, duration_s=1.5),
        trace=Trace(lines),
        files=files,
    )


def vote(
    question: str = "q",
    passed: bool = True,
    *,
    grader: str = "g",
    judging: int = 1,
    number: int = 1,
    model: str = "judge-1",
    cost_usd: float | None = 0.001,
) -> Vote:
    """Return a vote of a judge that answers by the name it was asked for."""
    return Vote(
        question=question,
        grader=grader,
        judging=judging,
        number=number,
        passed=passed,
        reply="PASS" if passed else "FAIL",
        asked_model=model,
        model=model,
        cost_usd=cost_usd,
        asked_at="2026-01-31T00:00:00.000Z",
    )


def case(*graders: GraderSpec) -> Case:
    """Return a case with these graders."""
    return Case(
        id="evals/first",
        directory=Path("plugin/evals/first"),
        eval_dir=Path("plugin/evals"),
        root=Path("plugin"),
        name="first",
        source=Source.PROSE,
        prompt="Do it.",
        graders=graders,
    )
