"""Suites of evals, generated: a plugin with a skill, cases that ask for it, and recordings."""

from __future__ import annotations

import json
from pathlib import Path

from pytest_plugin_eval.records.model import (
    Arm,
    Ending,
    FileEntry,
    FileKind,
    RunKey,
    RunOutcome,
    RunRecord,
)
from pytest_plugin_eval.records.trace import Trace
from pytest_plugin_eval.storage.record_files import write_record

__all__ = ["RUNS", "make_suite", "record_suite"]

RUNS = 3
_SKILL = """---
name: greet
description: Greets people the way this team does. Use it whenever somebody is to be greeted.
---

Say good day, and the name.
"""
_PROMPT = """---
description: Case {number} of a generated suite
tags: [generated, group_{group}]
allowed_tools: [Read, Glob, Grep, Skill, Write]
max_turns: 5
---

Greet colleague number {number} and write down what you said.
"""
# The last pattern is one for the JavaScript engine, in each case another one; the others are
# answered without it.
_GRADERS = {
    "skill-fired": "---\ntype: tool_used\ntool: Skill\ninput_match: greet\n---\n",
    "says-good-day": "---\ntype: regex\npattern: Good day\n---\n",
    "written": "---\ntype: file_exists\npath: greetings/*.md\n---\n",
    "names-the-number": "---\ntype: regex\n---\n\n^Good day, colleague {number}\\b[.,]?\n",
}


def make_suite(root: Path, cases: int, *, with_files: bool = True) -> Path:
    """Write a plugin with *cases* cases of four free graders each and return its eval directory.

    Without *with_files* no grader asks for a created file, which an agent would have to be allowed
    to write.
    """
    _write(root / ".claude-plugin" / "plugin.json", '{"name": "demo", "version": "1.0.0"}\n')
    _write(root / "skills" / "greet" / "SKILL.md", _SKILL)
    for number in range(1, cases + 1):
        case = root / "evals" / f"group-{number % 10}" / f"case-{number:04d}"
        _write(case / "prompt.md", _PROMPT.format(number=number, group=number % 10))
        for name, text in _GRADERS.items():
            if with_files or name != "written":
                _write(case / "graders" / f"{name}.md", text.format(number=number))
    return root / "evals"


def record_suite(evals: Path) -> int:
    """Write recordings of every case, three runs in each arm, and return how many there are."""
    count = 0
    for case in sorted(evals.glob("group-*/case-*")):
        for arm in Arm:
            for number in range(1, RUNS + 1):
                key = RunKey(case=case.relative_to(evals.parent).as_posix(), arm=arm, number=number)
                write_record(evals / "recordings", _record(key))
                count += 1
    return count


def _record(key: RunKey) -> RunRecord:
    who = int(key.case.rpartition("-")[2])
    text = f"Good day, colleague {who}.\n\nI have written it to greetings/{who}.md."
    return RunRecord(
        key=key,
        outcome=RunOutcome(
            ending=Ending.COMPLETED,
            turns=5,
            cost_usd=0.0123,
            duration_s=14.2,
            started_at="2026-01-02T03:04:05.678Z",
        ),
        trace=Trace(_trace(text, fires=key.arm is Arm.WITH)),
        files=(
            FileEntry(path="greetings", kind=FileKind.DIRECTORY, created=False),
            FileEntry(
                path=f"greetings/{who}.md",
                kind=FileKind.FILE,
                created=True,
                content=f"{text}\n".encode(),
            ),
        ),
        provenance={
            "claude_version": "2.1.332",
            "model": "a-model",
            "recorded_at": "2026-01-02T03:04:05.678Z",
        },
    )


def _trace(text: str, *, fires: bool) -> list[str]:
    """Return twelve lines of the size that those of a short agent session have."""
    names = [f"tool-number-{number}" for number in range(30)]
    events: list[object] = [
        {"type": "system", "subtype": "init", "cwd": "/run/workspace", "tools": names,
         "slash_commands": names, "agents": names[:6], "skills": names[:12], "mcp_servers": [],
         "plugins": [{"name": "demo", "path": "/demo"}], "claude_code_version": "2.1.332"},
    ]  # fmt: skip
    calls: list[tuple[str, dict[str, object]]] = [
        ("Skill" if fires else "Glob", {"skill": "demo:greet"}),
        ("Read", {"file_path": "/run/workspace/people.md"}),
        ("Grep", {"pattern": "colleague", "output_mode": "content", "-n": True}),
        ("Write", {"file_path": "/run/workspace/greetings/1.md", "content": text * 3}),
    ]
    for number, (tool, asked) in enumerate(calls):
        events.append(_message({"type": "tool_use", "id": f"toolu_{number:024d}", "name": tool,
                                "input": asked}))  # fmt: skip
        events.append({"type": "user", "session_id": "0", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": f"toolu_{number:024d}", "content": "line\n" * 60}
        ]}})  # fmt: skip
    events.append(_message({"type": "thinking", "thinking": "What else is there to do? " * 10}))
    events.append(_message({"type": "text", "text": text}))
    events.append({"type": "result", "subtype": "success", "is_error": False, "num_turns": 5,
                   "result": text, "total_cost_usd": 0.0123, "duration_ms": 14200})  # fmt: skip
    return [json.dumps(event, ensure_ascii=False, separators=(",", ":")) for event in events]


def _message(block: object) -> object:
    usage = {"input_tokens": 100, "output_tokens": 40, "cache_read_input_tokens": 12000}
    message = {"id": "msg_0", "role": "assistant", "model": "a-model", "content": [block]}
    return {"type": "assistant", "session_id": "0", "message": {**message, "usage": usage}}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
