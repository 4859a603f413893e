"""Runs the scripts of `action.yml` as the runner of GitHub Actions does, with stand-ins around."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tests.example.markdown import ROOT
from tests.example.workplace import NO_API
from tests.support.reference import base_environment

FILE = ROOT / "action.yml"
ACTION = yaml.safe_load(FILE.read_text(encoding="utf-8"))
STEPS: tuple[Mapping[str, object], ...] = tuple(ACTION["runs"]["steps"])
SCRIPTS = {str(step["name"]): step for step in STEPS if "run" in step}
DEFAULTS = {name: one.get("default", "") for name, one in ACTION["inputs"].items()}
EXPRESSION = re.compile(r"\$\{\{ ([\w.-]+) \}\}")


@dataclass(slots=True, kw_only=True)
class Job:
    """A job that uses the action: its inputs, and what the steps have put out so far."""

    place: Path
    """Working directory; the runner's own files lie beside it."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    context: Mapping[str, str] = field(default_factory=dict)
    """Values of expressions that are neither inputs nor outputs."""

    def __post_init__(self) -> None:
        unknown = set(self.inputs) - set(DEFAULTS)
        assert not unknown, unknown
        for one in ("temp", "home", "home/tmp"):
            (self.runner / one).mkdir(parents=True, exist_ok=True)

    @property
    def runner(self) -> Path:
        return self.place.parent / "runner"

    @property
    def summary(self) -> str:
        return (self.runner / "summary.md").read_text(encoding="utf-8")

    @property
    def outputs(self) -> dict[str, str]:
        """What the steps have put out; the action names a step that does for each."""
        file = self.runner / "output"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return dict(line.split("=", 1) for line in lines)

    def step(self, name: str) -> subprocess.CompletedProcess[str]:
        """Run the script of a step."""
        step = SCRIPTS[name]
        script = self.runner / "step.sh"
        script.write_text(str(step["run"]), encoding="utf-8")
        asked = step.get("env")
        assert isinstance(asked, dict)
        own = {key: EXPRESSION.sub(self._value, str(text)) for key, text in asked.items()}
        tools = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],  # as `shell: bash`
            cwd=self.place,
            env={
                **base_environment(NO_API, self.runner / "home"),
                "PATH": tools,
                "RUNNER_TEMP": str(self.runner / "temp"),
                "GITHUB_ACTION_PATH": str(ROOT),
                "GITHUB_OUTPUT": str(self.runner / "output"),
                "GITHUB_STEP_SUMMARY": str(self.runner / "summary.md"),
                "GITHUB_REPOSITORY": "org/repo",
                "GITHUB_RUN_ID": "77",
                "GITHUB_SERVER_URL": "https://github.invalid",
                "GITHUB_WORKFLOW": "Evals",
                **self.env,
                **own,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=240,
            check=False,
        )

    def _value(self, found: re.Match[str]) -> str:
        kind, _, name = found[1].partition(".")
        if kind == "inputs":
            return self.inputs.get(name, DEFAULTS[name])
        if kind == "steps" and name.startswith("run.outputs."):
            return self.outputs.get(name.removeprefix("run.outputs."), "")
        return self.context.get(found[1], "")
