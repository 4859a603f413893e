"""A small plugin with an eval directory, and cases and requests for the agent's backend."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_plugin_eval.agents.base import AgentRequest
from pytest_plugin_eval.cases.case import Case, Plugin, Source
from pytest_plugin_eval.records.model import Arm, RunKey, RunRecord

PROMPT = "Greet the team."
FILES = {
    ".claude-plugin/plugin.json": '{"name": "demo", "version": "0.1.0", "description": "d"}',
    "skills/greet/SKILL.md": "---\nname: greet\ndescription: Greets.\n---\nSay bonjour.\n",
    "agents/helper.md": "---\nname: helper\ndescription: Helps.\n---\nYou help.\n",
    "hooks/hooks.json": json.dumps(
        {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo HOOKED"}]}]}}
    ),
    "CLAUDE.md": "PLUGIN-INSTRUCTIONS\n",
    "notes.txt": "PLUGIN-NOTES\n",
    "evals/hello/prompt.md": f"{PROMPT}\n",
    "evals/hello/graders/says.md": "---\ntype: regex\npattern: GRADER-PATTERN\n---\n",
}


def write_files(root: Path, files: Mapping[str, str]) -> Path:
    """Write texts below a directory and return it."""
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


def write_plugin(root: Path, files: Mapping[str, str] | None = None) -> Path:
    """Write the plugin ``demo`` with the case ``evals/hello``; *files* are added or replaced."""
    return write_files(root, {**FILES, **(files or {})})


def make_case(root: Path, **changes: Any) -> Case:
    """Return the case ``evals/hello`` of a plugin that `write_plugin` wrote."""
    case = Case(
        id="evals/hello",
        directory=root / "evals" / "hello",
        eval_dir=root / "evals",
        root=root,
        name="hello",
        source=Source.PROSE,
        prompt=PROMPT,
        graders=(),
        plugins=(Plugin(name="demo", path=root, version="0.1.0"),),
        timeout_s=120,
    )
    return replace(case, **changes)


def make_request(case: Case, arm: Arm = Arm.WITH, number: int = 1, **options: Any) -> AgentRequest:
    """Return the request for a run of the case."""
    return AgentRequest(key=RunKey(case=case.id, arm=arm, number=number), case=case, **options)


def tool_results(record: RunRecord) -> dict[str, str]:
    """Return what came back from the tools by ``<tool> <first input>``; errors begin with ``!``."""
    calls: dict[str, str] = {}
    results: dict[str, str] = {}
    for event in record.trace.events:
        message = event.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            if block.get("type") == "tool_use":
                first = next(iter(block["input"].values()), "")
                calls[block["id"]] = f"{block['name']} {first}"
            if block.get("type") == "tool_result":
                mark = "!" if block.get("is_error") else ""
                results[calls[block["tool_use_id"]]] = f"{mark}{block['content']}"
    return results
