"""Whose a results directory is: a marker file inside names the session that writes to it."""

from __future__ import annotations

import os
import re
import sys
from datetime import datetime
from pathlib import Path

__all__ = ["LOCK", "MARKER", "is_running", "other_live_session", "owner", "process_of"]

MARKER = ".session"
LOCK = ".session.lock"

_NAME = re.compile(r"\S+ ([1-9][0-9]{0,9})", re.ASCII)
# Of a process's start, which the system counts in ticks since a boot time in whole seconds.
_SLACK_S = 3.0


def owner(directory: Path) -> str | None:
    """Return the session that uses *directory*, or used it and was killed; ``None`` without one."""
    try:
        return (directory / MARKER).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def process_of(session: str) -> int | None:
    """Return the process id in a session's name, ``<timestamp> <process id>``, if it has one."""
    found = _NAME.fullmatch(session)
    return int(found[1]) if found else None


def other_live_session(directory: Path, session: str) -> int | None:
    """Return the process of another session that still uses *directory*, or ``None``.

    Workers of the asking *session* are no other. A process that began after the session it is said
    to be of was given the number of one that has gone.
    """
    found = owner(directory)
    if found is None or found == session:
        return None
    process = process_of(found)
    # Sessions of one process come one after the other, so the earlier one is over.
    if process is None or process == process_of(session) or not is_running(process):
        return None
    began, stamp = _start_of(process), _moment(found)
    if began is not None and stamp is not None and began > stamp + _SLACK_S:
        return None
    return process


def is_running(process: int) -> bool:
    """Return whether a process is there and has not ended."""
    if sys.platform == "win32":  # signal 0 would end the process there
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return _state_of(process) not in ("Z", "X")


def _state_of(process: int) -> str:
    fields = _stat(process)
    return fields[0] if fields else ""


def _start_of(process: int) -> float | None:
    """Return when a process began, in seconds since the epoch, where the system tells it."""
    fields = _stat(process)
    try:
        lines = Path("/proc/stat").read_text(encoding="ascii").splitlines()
        booted = next(int(line.split()[1]) for line in lines if line.startswith("btime "))
        return booted + int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def _stat(process: int) -> list[str]:
    """Return the fields of ``/proc/<process>/stat`` after the name, which may hold anything."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _moment(session: str) -> float | None:
    try:
        return datetime.strptime(session.partition(" ")[0], "%Y-%m-%dT%H-%M-%S-%f%z").timestamp()
    except ValueError:
        return None
