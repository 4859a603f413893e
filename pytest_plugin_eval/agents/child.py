"""The agent process: started in a group of its own, read to the end, and always ended."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pytest_plugin_eval.agents.output import Lines, Tail
from pytest_plugin_eval.agents.processes import HAS_GROUPS, exit_of, kill_group, kill_strays, tied

__all__ = ["Child", "ChildResult", "Limits"]

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a child may take and how much it may say."""

    timeout_s: float
    grace_s: float = 10.0
    """Between the result line, or later output, and the end of the process."""
    drain_s: float = 5.0
    """Between the end of the process and that of its output."""
    farewell_s: float = 1.0
    """For the accounts of a session that is broken off."""
    output_bytes: int = 64 << 20
    stderr_bytes: int = 64 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildResult:
    """How a child ended and what it said."""

    lines: tuple[str, ...]
    farewell: tuple[str, ...] = ()
    """What it said when it was asked to end: its accounts, but no work of the agent."""
    exit_code: int | None = None
    """Negative: the signal that ended it; ``None``: ended by us."""
    timed_out: bool = False
    stopped: bool = False
    stderr: str = ""
    duration_s: float = 0.0
    notes: tuple[str, ...] = ()


class Child:
    """One agent process. `run` is called once; `stop` from any thread, at any time."""

    def __init__(
        self, command: Sequence[str], *, cwd: Path, env: Mapping[str, str], limits: Limits
    ) -> None:
        self._command = list(command)
        self._cwd = cwd
        self._env = dict(env)
        self._limits = limits
        self._events: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._lines = Lines(limits.output_bytes)
        self._stderr = Tail(limits.stderr_bytes)
        self._notes: list[str] = []
        self._stopped = False
        self._timed_out = False

    def stop(self) -> None:
        """Have the process ended; `run` then returns a result that says so."""
        self._stopped = True
        self._events.put("stop")

    def run(
        self,
        prompt: str,
        *,
        is_wrong: Callable[[str], bool] | None = None,
        on_refusal: Callable[[str], None] | None = None,
    ) -> ChildResult:
        """Give the prompt to the process and follow it to its end.

        *is_wrong* is asked about the ``init`` line; when it agrees, the process is ended there.
        *on_refusal* is given the lines that tell of a request which the service refused for now.
        Raises `OSError` when the process cannot be started.
        """
        self._lines.is_wrong = is_wrong
        self._lines.on_refusal = on_refusal
        start = time.monotonic()
        with tempfile.TemporaryFile() as stdin:
            # A file, not a pipe: nobody has to feed it, whether or not the process ever reads.
            stdin.write(prompt.encode("utf-8", "surrogatepass"))
            stdin.seek(0)
            process = self._start(stdin)
        readers = self._watch(process)
        try:
            self._follow(start)
            farewell = self._farewell(process)
        finally:
            exit_code = self._end(process, readers)
        lines, cut = self._lines.take()
        if cut:
            self._notes.append(f"the agent's output was cut after {cut} bytes")
        while self._stopped and farewell is not None and _is_answer(lines[farewell:]):
            farewell += 1  # it was on its way when the call in it ended the run
        return ChildResult(
            lines=lines[:farewell],
            farewell=() if farewell is None else lines[farewell:],
            exit_code=exit_code,
            timed_out=self._timed_out,
            stopped=self._stopped,
            stderr=self._stderr.text(),
            duration_s=time.monotonic() - start,
            notes=tuple(self._notes),
        )

    def _start(self, stdin: IO[bytes]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            tied(self._command),
            cwd=self._cwd,
            env=self._env,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=HAS_GROUPS,
        )

    def _watch(self, process: subprocess.Popen[bytes]) -> list[threading.Thread]:
        jobs: list[tuple[Callable[..., None], tuple[object, ...]]] = [
            (self._drain, (process.stdout, self._on_output)),
            (self._drain, (process.stderr, self._stderr.feed)),
            (self._await_exit, (process,)),
        ]
        threads = [threading.Thread(target=job, args=args, daemon=True) for job, args in jobs]
        for thread in threads:
            thread.start()
        return threads[:2]

    def _drain(self, pipe: IO[bytes] | None, feed: Callable[[bytes], None]) -> None:
        if pipe is None:
            return
        with contextlib.suppress(OSError, ValueError), pipe:
            while chunk := os.read(pipe.fileno(), _CHUNK):
                feed(chunk)

    def _on_output(self, chunk: bytes) -> None:
        if news := self._lines.feed(chunk):
            self._events.put(news)

    def _await_exit(self, process: subprocess.Popen[bytes]) -> None:
        exit_of(process)
        self._events.put("exit")

    def _follow(self, start: float) -> None:
        """Return when the process has ended by itself or has to be ended."""
        grace_s = self._limits.grace_s
        limit = deadline = start + self._limits.timeout_s
        while True:
            try:
                event = self._events.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                self._on_deadline()
                return
            if event in ("exit", "stop", "wrong"):
                return
            if self._lines.has_result:
                # A session with background agents has several results: patience after each line.
                now = time.monotonic()
                limit = max(limit, now + grace_s) if event == "result" else limit
                deadline = min(limit, now + grace_s)

    def _on_deadline(self) -> None:
        if self._lines.has_result:
            self._notes.append("the agent process did not end after its result and was ended")
        else:
            self._timed_out = True

    def _farewell(self, process: subprocess.Popen[bytes]) -> int | None:
        """Ask a process that is broken off for its accounts; return how many lines came before.

        ``None`` when it was not asked: then all of its lines are the agent's work, those included
        that are still on their way when the process has ended.
        """
        before = self._lines.count
        if not (self._timed_out or self._stopped) or self._lines.has_result or not before:
            return None
        if not HAS_GROUPS or process.returncode is not None:
            return None
        with contextlib.suppress(OSError):
            process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + self._limits.farewell_s
        with contextlib.suppress(queue.Empty):
            while self._events.get(timeout=max(0.0, deadline - time.monotonic())) != "exit":
                pass
        return before

    def _end(
        self, process: subprocess.Popen[bytes], readers: Sequence[threading.Thread]
    ) -> int | None:
        """End whatever is left of the run's processes, wait for the output, and reap the child."""
        ended_itself = not kill_group(process)
        mark = "CLAUDE_CONFIG_DIR"
        strays = kill_strays(mark, self._env.get(mark, ""), group=process.pid)
        if strays:
            self._notes.append(
                f"{strays} processes outlived the agent and were ended"
                if strays > 1
                else "a process outlived the agent and was ended"
            )
        process.wait()
        deadline = time.monotonic() + self._limits.drain_s
        for reader in readers:
            reader.join(max(0.0, deadline - time.monotonic()))
        if any(reader.is_alive() for reader in readers):
            self._notes.append("a process that outlived the agent still holds its output open")
        return process.returncode if ended_itself else None


def _is_answer(lines: Sequence[str]) -> bool:
    """Tell whether the first of some lines is the model's."""
    return bool(lines) and lines[0].startswith('{"type":"assistant"')
