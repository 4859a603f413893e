"""The script that fills the workspace before the agent starts. Spec: agent-run, 8."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from pytest_plugin_eval.agents.output import Tail
from pytest_plugin_eval.agents.processes import HAS_GROUPS, exit_of, kill_group, kill_strays
from pytest_plugin_eval.agents.sandbox import Sandbox
from pytest_plugin_eval.text import shown

__all__ = ["SCAFFOLD_TIMEOUT_S", "Scaffold", "scaffold_notice"]

SCAFFOLD_TIMEOUT_S = 120.0
"""Of deviations, D17: the reference has no limit."""
OUTPUT_BYTES = 4 << 10
DRAIN_S = 2.0
"""Between the end of the script and that of its output."""
_CHUNK = 1 << 16


def scaffold_notice(script: str, *, is_run: bool) -> str:
    """Return what to say about a scaffold script, whether or not it is run."""
    if is_run:
        return (
            f"scaffold_script {shown(script)} is run before each run: code of the case's author, "
            "as you and outside of any sandbox"
        )
    return (
        f"warning: scaffold_script {shown(script)} is not run, the agent finds an empty workspace; "
        "where you trust its author, pass --eval-scaffold"
    )


class Scaffold:
    """One execution of a case's script. `run` is called once; `stop` from any thread.

    The script is the author's and runs as the user, outside any sandbox; what it gets of the
    user's environment is ``PATH`` alone.
    """

    def __init__(
        self,
        script: Path,
        sandbox: Sandbox,
        *,
        env: Mapping[str, str],
        timeout_s: float = SCAFFOLD_TIMEOUT_S,
    ) -> None:
        """Prepare to run *script* in the workspace; *env* is the user's environment."""
        self._script = script
        self._cwd = sandbox.workspace
        self._config = sandbox.config
        self._env = _environment(sandbox, env)
        self._timeout_s = timeout_s
        self._events: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._stderr = Tail(OUTPUT_BYTES)
        self._stdout = Tail(OUTPUT_BYTES)
        self.notes: tuple[str, ...] = ()
        """What the reader should know, after `run`."""

    def stop(self) -> None:
        """Have the script ended; `run` then returns a problem."""
        self._events.put("stop")

    def run(self) -> str | None:
        """Run the script to its end and return why it failed, or ``None``.

        Nothing that it started is left running, as far as it can be found. Raises `OSError` when
        there is no ``bash``.
        """
        configured = _contents(self._config)
        process = subprocess.Popen(
            ["bash", str(self._script)],  # noqa: S607 - the user's own
            cwd=self._cwd,
            env=self._env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=HAS_GROUPS,
        )
        readers = self._watch(process)
        try:
            event = self._events.get(timeout=self._timeout_s)
        except queue.Empty:
            event = "timeout"
        finally:
            self._end(process, readers)
        name = f"scaffold_script {shown(self._script.name)}"
        if event == "exit":
            changed = configured != _contents(self._config)
            return self._failure(process.returncode) or (
                f"{name} changed the configuration of the agent, expected files in the workspace"
                if changed
                else None
            )
        if event == "stop":
            return f"{name} was ended with the session"
        return f"{name} did not end within {self._timeout_s:g} s and was ended{self._said()}"

    def _watch(self, process: subprocess.Popen[bytes]) -> list[threading.Thread]:
        def drain(pipe: IO[bytes] | None, tail: Tail) -> None:
            if pipe is None:
                return
            with contextlib.suppress(OSError, ValueError), pipe:
                while chunk := os.read(pipe.fileno(), _CHUNK):
                    tail.feed(chunk)

        def await_exit() -> None:
            exit_of(process)
            self._events.put("exit")

        readers = [
            threading.Thread(target=drain, args=args, daemon=True)
            for args in ((process.stdout, self._stdout), (process.stderr, self._stderr))
        ]
        for thread in (*readers, threading.Thread(target=await_exit, daemon=True)):
            thread.start()
        return readers

    def _end(self, process: subprocess.Popen[bytes], readers: list[threading.Thread]) -> None:
        kill_group(process)
        strays = kill_strays("HOME", self._env["HOME"], group=process.pid)
        if strays:
            what = "a process" if strays == 1 else f"{strays} processes"
            self.notes = (f"{what} that scaffold_script left running had to be ended",)
        process.wait()
        deadline = time.monotonic() + DRAIN_S
        for reader in readers:
            reader.join(max(0.0, deadline - time.monotonic()))

    def _failure(self, code: int) -> str | None:
        if code == 0:
            return None
        how = f"signal {-code}" if code < 0 else f"exit {code}"
        return f"scaffold failed ({how}){self._said()}"

    def _said(self) -> str:
        said = self._stderr.text().strip() or self._stdout.text().strip()
        return f": {said}" if said else ""


def _contents(directory: Path) -> dict[str, bytes | None]:
    """Return what is in a directory, by name; ``None`` for what is no file that can be read."""
    found: dict[str, bytes | None] = {}
    for path in directory.iterdir():
        with contextlib.suppress(OSError):
            found[path.name] = path.read_bytes() if path.is_file() else None
    return found


def _environment(sandbox: Sandbox, env: Mapping[str, str]) -> dict[str, str]:
    home, tmp = str(sandbox.home), str(sandbox.tmp)
    return {
        "PATH": env.get("PATH", os.defpath),
        "HOME": home,
        "USERPROFILE": home,
        "TMPDIR": tmp,
        "TMP": tmp,
        "TEMP": tmp,
        "TERM": "dumb",
        "NODE_ENV": "production",
        "USER_TYPE": "external",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
