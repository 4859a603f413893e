"""Where the agent binary is, and whether it is new enough."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_plugin_eval.errors import AgentError
from pytest_plugin_eval.text import one_line, shown

__all__ = ["Binary", "find_binary", "find_git", "version_of"]

OLDEST_CLAUDE = (2, 1, 269)
OLDEST_GIT = (2, 31)
QUESTION_TIMEOUT_S = 60

_NAME = "claude.exe" if sys.platform == "win32" else "claude"
_UPGRADE = "upgrade with 'claude update' or name another one with pytest's --eval-agent-path"


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """An agent binary that can be used."""

    path: Path
    version: str
    origin: str
    """How it was found, for people."""

    @property
    def description(self) -> str:
        """Return version, path and origin in a few words."""
        return f"Claude Code {self.version}: {self.path} ({self.origin})"


def find_binary(agent_path: Path | None, env: Mapping[str, str]) -> Binary:
    """Return the binary named by the user, else the one on PATH, else that of the Python package.

    Raises `AgentError` when there is none, or it or git is too old (decisions, 26).
    """
    path, origin = _located(agent_path, env)
    version = version_of(path, env)
    if _numbers(version) < OLDEST_CLAUDE:
        raise AgentError(
            f"{path}: Claude Code is version {version}, expected {_dotted(OLDEST_CLAUDE)} or later,"
            f" {_UPGRADE}"
        )
    find_git(env)
    return Binary(path=path, version=version, origin=origin)


def version_of(path: Path, env: Mapping[str, str]) -> str:
    """Return what the binary calls its version, or raise `AgentError`."""
    answer = _answer([str(path), "--version"], env)
    found = re.match(r"\d+(\.\d+)+", answer)
    if found is None:
        raise AgentError(
            f"{path}: --version was answered with {shown(answer)}, expected that of Claude Code"
        )
    return found[0]


def _located(agent_path: Path | None, env: Mapping[str, str]) -> tuple[Path, str]:
    if agent_path is not None:
        if not agent_path.is_file():
            raise AgentError(f"--eval-agent-path: {shown(str(agent_path))} is not a file")
        return agent_path.absolute(), "--eval-agent-path"
    on_path = shutil.which("claude", path=env.get("PATH", ""))
    if on_path:
        return Path(on_path).absolute(), "on PATH"
    bundled = _bundled()
    if bundled is not None:
        return bundled, "of the Python package claude-agent-sdk"
    raise AgentError(
        "claude: no agent binary on PATH, install Claude Code or pip install"
        " 'pytest-plugin-eval[claude]', or name one with pytest's --eval-agent-path"
    )


def _bundled() -> Path | None:
    # The package is found, not imported: it brings half a second of imports.
    spec = importlib.util.find_spec("claude_agent_sdk")
    if spec is None or spec.origin is None:
        return None
    path = Path(spec.origin).parent / "_bundled" / _NAME
    return path if path.is_file() else None


def find_git(env: Mapping[str, str]) -> str | None:
    """Return what git says of its version; ``None`` without git, which no run needs.

    Raises `AgentError` when it is too old.
    """
    git = shutil.which("git", path=env.get("PATH", ""))
    if git is None:
        return None
    answer = _answer([git, "--version"], env)
    found = re.search(r"\d+(\.\d+)+", answer)
    if found and _numbers(found[0]) < OLDEST_GIT:
        raise AgentError(
            f"{git}: git is version {found[0]}, expected {_dotted(OLDEST_GIT)} or later: older ones"
            " run programs that a repository names"
        )
    return answer


def _answer(command: list[str], env: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            command,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=QUESTION_TIMEOUT_S,
            check=False,
        )
    except OSError as error:
        raise AgentError(f"{command[0]}: cannot be started: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise AgentError(
            f"{command[0]}: --version was not answered within {QUESTION_TIMEOUT_S} s"
        ) from error
    return one_line(done.stdout.decode("utf-8", "replace")).strip()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
