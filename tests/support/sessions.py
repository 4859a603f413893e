"""Whole pytest sessions with the real agent, in processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.differential.suite import Suite
from tests.support.reference import base_environment
from tests.support.scripted_api import ScriptedApi


class Sessions:
    """Runs pytest on a suite against a scripted API, in a process of its own."""

    def __init__(self, base: Path, api: ScriptedApi) -> None:
        self.suite = Suite(base / "plugin").plugin().skill()
        self.api = api
        self.runs = base / "run-root"
        self._home = base / "home"
        (self._home / "tmp").mkdir(parents=True)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a session."""
        pytest = [sys.executable, "-m", "pytest", "--trust-plugin"]
        pytest += ["--eval-run-root", str(self.runs)]
        return self.start_command([*pytest, *arguments])

    def start_command(self, command: Sequence[str]) -> subprocess.Popen[str]:
        """Start a command where and as a session would be."""
        return subprocess.Popen(
            command,
            cwd=self.suite.root,
            env={**base_environment(self.api.url, self._home), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str) -> tuple[int, str]:
        """Run a session to its end; return exit status and output."""
        process = self.start(*arguments)
        output, _ = process.communicate(timeout=180)
        return process.returncode, output

    @property
    def document(self) -> Mapping[str, Any]:
        """The newest result document."""
        found = sorted((self.suite.root / "evals/results").glob("*/aggregate-result.json"))
        document: Mapping[str, Any] = json.loads(found[-1].read_text(encoding="utf-8"))
        return document

    def leftovers(self) -> list[Path]:
        """Run directories that are still there."""
        return [path for path in self.runs.rglob("home") if path.is_dir()]


def agents_in(run_root: Path) -> list[int]:
    """Return the processes that work in a run directory."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                where = str((entry / "cwd").readlink())
            except OSError:
                continue
            if where.startswith(str(run_root)):
                found.append(int(entry.name))
    return found
