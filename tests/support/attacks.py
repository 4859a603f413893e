"""The ground on which an agent attempts what it should not do, and what tells of it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_plugin_eval.records.model import Arm, Ending, RunRecord
from tests.agents.conftest import make_backend
from tests.support.agents import make_case, make_request, tool_results, write_files, write_plugin
from tests.support.script import TurnData, rule, script, tool
from tests.support.scripted_api import ScriptedApi

HOME_MARK = "HOME-MARK"
"""What every file of the operator's home holds."""


@dataclass(frozen=True)
class Ground:
    """Where the attempts are made: a plugin in a repository, an operator's home, a neighbour."""

    base: Path
    granted: tuple[str, ...] = ("Bash",)
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def repository(self) -> Path:
        return self.base / "work" / "repository"

    @property
    def plugin(self) -> Path:
        return self.repository / "plugins" / "demo"

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def runs(self) -> Path:
        return self.base / "runs"

    def build(self) -> Ground:
        write_plugin(self.plugin)
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
            subprocess.run([*git, *words], cwd=self.repository, check=True, capture_output=True)
        files = (".aws/credentials", ".ssh/id_rsa", "notes.txt", ".claude/CLAUDE.md")
        write_files(self.home, dict.fromkeys(files, HOME_MARK))
        return self

    def run(self, *turns: TurnData, arm: Arm = Arm.WITH, timeout_s: int = 120) -> RunRecord:
        """Make a run in which the model says these turns."""
        case = make_case(
            self.plugin, allowed_tools=("Read", "Bash"), timeout_s=timeout_s, max_turns=99
        )
        with ScriptedApi(script(rule(turns=[*turns, "done"]))) as api:
            backend = make_backend(api, self.base, env=self.env, run_root=self.runs)
            record = backend.run(make_request(case, arm, allow_tools=self.granted))
            backend.close()
        return record

    def shell(self, *commands: str, arm: Arm = Arm.WITH) -> str:
        """Return what the commands said, errors included."""
        record = self.run(*([tool("Bash", command=command)] for command in commands), arm=arm)
        assert record.outcome.ending is Ending.COMPLETED, record.outcome.error
        results = tool_results(record)
        assert len(results) == len(commands)
        return "\n".join(results.values())


def running(mark: str) -> list[str]:
    """Return the processes of this machine that have a word in their command."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in words:
            found.append(b" ".join(words).decode())
    return found
