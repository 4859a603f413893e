"""The directory in which the processes of a distributed session on one machine meet."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_plugin_eval.storage.atomic_write import write_text
from pytest_plugin_eval.storage.marker import is_running

if TYPE_CHECKING:
    from filelock import FileLock

__all__ = ["FACTS", "SessionPlace", "forget_process", "leave_facts", "leave_process"]

PREFIX = "plugin-eval-session-"
FACTS = "facts.json"
LOCK = "owner.lock"
"""Held while the session lives, so that the system tells when it was killed."""
STOPPING_S = 20.0
"""For workers to end their agents and to keep what these were paid for."""
LOOK_S = 0.05
A_MINUTE_S = 60.0
"""More than passes between the making of a directory and its being locked."""


class SessionPlace:
    """A directory of the controller; nothing is there until `money` is asked for."""

    def __init__(self) -> None:
        self.path = Path(tempfile.gettempdir(), f"{PREFIX}{os.urandom(16).hex()}")
        """Where workers on this machine that have runs to make leave their process ids."""
        self.is_interrupted = False
        """Whether workers were told to end."""
        self._lock: FileLock | None = None

    @property
    def remote(self) -> Path:
        """Where workers on this machine that work in another directory keep what they made."""
        return self.path / "remote"

    @property
    def away(self) -> Path:
        """The same on another machine, relative to its directory for temporary files.

        Not of the name by which directories of sessions that were killed are known: nobody holds
        its lock.
        """
        return Path(self.path.name.replace(PREFIX, "plugin-eval-workers-", 1), self.remote.name)

    def money(self) -> Path:
        """Return the directory, made here, in which the workers of this machine share a ledger."""
        directory = self.path / "money"
        for made in (self.path, directory):  # prompts of cases lie there: for nobody else
            made.mkdir(mode=0o700, exist_ok=True)
        if self._lock is None:
            from filelock import FileLock

            self._lock = FileLock(self.path / LOCK)
            self._lock.acquire()
            _sweep(self.path.parent)
        return directory

    def interrupt_workers(self) -> None:
        """End the runs in hand; xdist would have them finished, for minutes and for money."""
        self.is_interrupted = True
        for process in self._workers():
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGTERM)

    def wait_for_workers(self) -> None:
        """Wait until interrupted workers have kept what they made; a further Ctrl-C ends that."""
        if not self.is_interrupted:
            return
        until = time.monotonic() + STOPPING_S
        with contextlib.suppress(KeyboardInterrupt):
            while self.has_workers and time.monotonic() < until:
                time.sleep(LOOK_S)

    @property
    def has_workers(self) -> bool:
        """Whether a worker may still write what it made."""
        return any(map(is_running, self._workers()))

    def facts(self) -> Mapping[str, object] | None:
        """Return what the first worker that got ready has told, ``None`` where none has."""
        try:
            found: object = json.loads((self.path / FACTS).read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def remove(self) -> None:
        """Remove the directory at the session's end."""
        if self._lock is not None:
            self._lock.release()
            self._lock = None
        shutil.rmtree(self.path, ignore_errors=True)

    def _workers(self) -> Iterator[int]:
        return (int(file.name) for file in self.path.glob("*") if file.name.isdecimal())


def leave_process(place: Path) -> None:
    """Tell the controller that this process has runs to make."""
    place.mkdir(mode=0o700, exist_ok=True)
    (place / str(os.getpid())).touch()


def forget_process(place: Path) -> None:
    """Tell the controller that all that this process made is kept."""
    (place / str(os.getpid())).unlink(missing_ok=True)


def leave_facts(place: Path, facts: Mapping[str, object]) -> None:
    """Tell the controller what a worker that is interrupted or killed will not be able to."""
    # What cannot be written is told at the worker's end, if it comes to that.
    with contextlib.suppress(OSError):
        write_text(place / FACTS, json.dumps(facts))


def _sweep(base: Path) -> None:
    """Remove the directories of sessions of this user that were killed."""
    from filelock import FileLock, Timeout

    oldest = time.time() - A_MINUTE_S
    for path in base.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError, Timeout):  # of a session that lives, or swept meanwhile
            found = path.lstat()
            is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == getattr(os, "getuid", int)()
            if is_own and found.st_mtime < oldest:
                with FileLock(path / LOCK).acquire(timeout=0):
                    shutil.rmtree(path)
