"""Ending processes: the child's group, those that left it, and a child whose parent was killed.

A process that left the group and cleared its environment is not found; where there is no
``/proc``, none that left the group is.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence

__all__ = ["HAS_GROUPS", "exit_of", "kill_group", "kill_strays", "tied"]

HAS_GROUPS = sys.platform != "win32"
# A stray may start another one while it is being looked for.
_STRAY_ROUNDS = 3
_TRIAL_S = 10.0


def tied(command: Sequence[str]) -> list[str]:
    """Return a command whose process is killed with the thread that starts it.

    A session that is killed cannot end its agents, which would go on to be paid for. Only Linux can
    see to that, by a program that nearly all its distributions have; it takes 3 ms, puts itself
    into the command's place, and leaves out what the command starts itself. A function that Python
    calls between fork and exec would do without it, and is not safe beside other threads.
    """
    # A program that is not there is to be told of as that.
    return [*(_tie() if os.access(command[0], os.X_OK) else ()), *command]


@functools.cache
def _tie() -> tuple[str, ...]:
    program = shutil.which("setpriv") if sys.platform == "linux" else None
    if program is None:
        return ()
    tie = (program, "--pdeathsig", "KILL", "--")
    try:  # versions before 2.33 of util-linux do not know the option
        trial = subprocess.run(
            [*tie, program, "--version"], capture_output=True, timeout=_TRIAL_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tie if trial.returncode == 0 else ()


def exit_of(process: subprocess.Popen[bytes]) -> None:
    """Wait for the end of a process without reaping it, so that its number is not given away."""
    if sys.platform == "win32":
        process.wait()
        return
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)


def kill_group(process: subprocess.Popen[bytes]) -> bool:
    """End the process and its group, which it leads; tell whether it was still running.

    The process must not have been reaped: until then no other group can have its number.
    """
    if sys.platform == "win32":
        running = process.poll() is None
        if running:
            subprocess.run(
                ["taskkill", "/T", "/F", "/PID", str(process.pid)],  # noqa: S607
                capture_output=True,
                check=False,
            )
        return running
    running = _is_running(process.pid)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    return running


def kill_strays(variable: str, value: str, *, group: int) -> int:
    """End every process outside *group* that has a variable of the run; return their number.

    *value* has to be the run's own; where it is empty, nothing is done.
    """
    if sys.platform != "linux" or not value:
        return 0
    ended: set[int] = set()
    for _ in range(_STRAY_ROUNDS):
        found = {
            pid for pid in _marked(variable.encode(), value.encode()) if _group_of(pid) != group
        } - ended
        if not found:
            break
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        ended |= found
    return len(ended)


def _is_running(pid: int) -> bool:
    if sys.platform == "win32":
        return False
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None
    except ChildProcessError:
        return False


def _group_of(pid: int) -> int | None:
    if sys.platform == "win32":
        return None
    try:
        return os.getpgid(pid)
    except OSError:
        return None


def _marked(variable: bytes, value: bytes) -> Iterator[int]:
    wanted = variable + b"=" + value
    with os.scandir("/proc") as listing:
        pids = [entry.name for entry in listing if entry.name.isdigit()]
    for pid in pids:
        try:
            with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:  # noqa: PTH123 - hot
                content = file.readall()
        except OSError:
            continue
        if value in content and wanted in content.split(b"\0"):
            yield int(pid)
