"""Run the agent binary and `claude plugin eval` against a scripted Messages API."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.scripted_api import ScriptedApi

_GRACE_S = 10.0

# What the command wrote, to be indexed freely by assertions.
Document = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResult:
    """An ended `claude -p`; `lines` are those of its stream that are JSON objects."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def lines(self) -> tuple[Mapping[str, object], ...]:
        """Return the records of the stream."""
        return tuple(json.loads(line) for line in self.stdout.splitlines() if line.startswith("{"))

    @property
    def result(self) -> Mapping[str, object]:
        """Return the last record of type `result`; raise `LookupError` if there is none."""
        for line in reversed(self.lines):
            if line.get("type") == "result":
                return line
        raise LookupError(f"no result in: {self.stdout[-500:]} {self.stderr[-500:]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceResult:
    """An ended `claude plugin eval`; `document` is what `--json` wrote, `None` if nothing."""

    exit_code: int
    stdout: str
    stderr: str
    document: Document | None


def agent_binary() -> Path | None:
    """Return `claude` on PATH, else the one in the installed `claude_agent_sdk`, else `None`."""
    if found := shutil.which("claude"):
        return Path(found)
    spec = importlib.util.find_spec("claude_agent_sdk")
    for folder in (spec and spec.submodule_search_locations) or ():
        bundled = Path(folder) / "_bundled" / "claude"
        if bundled.is_file():
            return bundled
    return None


def base_environment(api_url: str, home: Path) -> dict[str, str]:
    """Return an environment with nothing of the user's; `home` and its `tmp` are to exist."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "ANTHROPIC_BASE_URL": api_url,
        "ANTHROPIC_API_KEY": "sk-ant-scripted-0000",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def run_agent(
    prompt: str,
    api: ScriptedApi | str,
    *arguments: str,
    workspace: Path,
    timeout_s: float = 120.0,
    env: Mapping[str, str] | None = None,
) -> AgentResult:
    """Run `claude -p` in `workspace`, with a streamed output and no questions asked."""
    command = ["-p", "--output-format", "stream-json", "--verbose"]
    command += ["--permission-mode", "dontAsk", "--setting-sources", "user", *arguments]
    with tempfile.TemporaryDirectory(prefix="scripted-agent-") as home:
        done = _run(command, _environment(api, Path(home), env), workspace, timeout_s, prompt)
    return AgentResult(exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr)


def run_reference(
    target: Path,
    api: ScriptedApi | str,
    *arguments: str,
    timeout_s: float = 300.0,
    env: Mapping[str, str] | None = None,
    output_dir: Path | None = None,
    cwd: Path | None = None,
) -> ReferenceResult:
    """Run `claude plugin eval target`; only what it writes to `output_dir` outlives the call.

    It stands in `cwd`, by default in a directory of its own; whether it loads the plugin around a
    target may depend on that. `env` is added to `base_environment`. Raises
    `subprocess.TimeoutExpired` after `timeout_s`.
    """
    with tempfile.TemporaryDirectory(prefix="reference-") as scratch:
        home = Path(scratch) / "home"
        document = Path(scratch) / "document.json"
        results = output_dir or Path(scratch) / "results"
        home.mkdir()
        command = ["plugin", "eval", str(target), "--trust-plugin"]
        command += ["--json", str(document), "--output-dir", str(results), *arguments]
        done = _run(command, _environment(api, home, env), cwd or Path(scratch), timeout_s, "")
        written = document.read_text(encoding="utf-8") if document.is_file() else "null"
    return ReferenceResult(
        exit_code=done.returncode,
        stdout=done.stdout,
        stderr=done.stderr,
        document=json.loads(written),
    )


def _environment(
    api: ScriptedApi | str, home: Path, env: Mapping[str, str] | None
) -> dict[str, str]:
    (home / "tmp").mkdir()
    url = api if isinstance(api, str) else api.url
    return {**base_environment(url, home), **(env or {})}


def _run(
    arguments: Sequence[str], env: Mapping[str, str], cwd: Path, timeout_s: float, stdin: str
) -> subprocess.CompletedProcess[str]:
    """Run the binary to its end; whatever of its process group is left then is killed."""
    binary = agent_binary()
    if binary is None:
        raise FileNotFoundError("no claude on PATH and no claude_agent_sdk installed")
    command = [str(binary), *arguments]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(env),
        cwd=cwd,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            stdout, stderr = process.communicate(stdin, timeout_s)
        finally:
            _end(process)
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def _end(process: subprocess.Popen[str]) -> None:
    """End a process that may still run: asked first, since its agents lead groups of their own."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_GRACE_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
