"""Small suites written to a temporary directory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

GREET = "---\nname: greet\ndescription: Greets people in French\n---\nSay bonjour.\n"
Fields = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Suite:
    """A directory with evals, usually a plugin's."""

    root: Path

    def plugin(self, name: str = "demo", *, at: str = ".", **manifest: object) -> Suite:
        """Write a manifest, of version 1.2.0 unless said otherwise; ``None`` leaves a field out."""
        fields = {"name": name, "version": "1.2.0", "description": "A demo", **manifest}
        given = {key: value for key, value in fields.items() if value is not None}
        self.write(f"{at}/.claude-plugin/plugin.json", json.dumps(given))
        return self

    def skill(self, name: str = "greet", *, at: str = ".", text: str = GREET) -> Suite:
        """Write a skill of the plugin in *at*."""
        self.write(f"{at}/skills/{name}/SKILL.md", text)
        return self

    def write(self, path: str, text: str) -> Suite:
        """Write a file below the root, newlines as they are."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8"))
        return self

    def case(
        self,
        path: str,
        graders: Mapping[str, Fields],
        *,
        prompt: str | None = None,
        front: Fields | None = None,
    ) -> Suite:
        """Write a case of ``prompt.md`` and ``graders/*.md``, with one run unless said otherwise.

        *path* is relative to ``evals``, or to the root if it has a component ``evals``. The prompt
        is ``Do <name>.`` by default, so that a script can tell the cases apart.
        """
        folder = path if "evals" in path.split("/") else f"evals/{path}"
        fields = {"runs": 1, **(front or {})}
        text = prompt if prompt is not None else f"Do {folder.rpartition('/')[2]}."
        self.write(f"{folder}/prompt.md", f"{_front(fields)}{text}\n")
        for name, grader in graders.items():
            self.write(f"{folder}/graders/{name}.md", _front(grader))
        return self

    def case_yaml(self, path: str, **fields: object) -> Suite:
        """Write a ``case.yaml``, with ``schema_version`` 1.1 and one run unless said otherwise."""
        content = {"schema_version": "1.1", "runs": 1, **fields}
        dumped = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
        return self.write(f"evals/{path}/case.yaml", dumped)


def regex(pattern: str, **options: object) -> Fields:
    """Return a regex grader."""
    return {"type": "regex", "pattern": pattern, **options}


def used(tool: str, **options: object) -> Fields:
    """Return a tool_used grader."""
    return {"type": "tool_used", "tool": tool, **options}


def order(before: object, after: object, **options: object) -> Fields:
    """Return a tool_order grader."""
    return {"type": "tool_order", "before": before, "after": after, **options}


def exists(path: str, **options: object) -> Fields:
    """Return a file_exists grader."""
    return {"type": "file_exists", "path": path, **options}


def llm(criteria: str, **options: object) -> Fields:
    """Return an llm grader."""
    return {"type": "llm", "criteria": criteria, **options}


def baseline(criteria: str, baseline_file: str, **options: object) -> Fields:
    """Return a baseline grader."""
    return {"type": "baseline", "criteria": criteria, "baseline_file": baseline_file, **options}


def _front(fields: Fields) -> str:
    dumped = yaml.safe_dump(dict(fields), sort_keys=False, allow_unicode=True) if fields else ""
    return f"---\n{dumped}---\n"
