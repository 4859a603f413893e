"""Room for what was paid for: a record can be written although the disk has filled up."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

__all__ = ["RESERVE_PATTERN", "Space"]

T = TypeVar("T")

MIB = 1024 * 1024
RESERVE_BYTES = 8 * MIB
"""Set aside by each process in each results directory; most records take less than 1 MiB."""
RESERVE_PATTERN = ".reserve-*"

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Space:
    """Keeps room in results directories; safe to use from several threads.

    A file of `RESERVE_BYTES` is removed when a record finds no room. Until it can be made again,
    no further run is to start.
    """

    def __init__(self, *, reserve_bytes: int = RESERVE_BYTES) -> None:
        self._bytes = reserve_bytes
        self._lock = threading.Lock()
        self._reserves: dict[Path, bool] = {}
        """By directory: whether its reserve is there."""

    def reserve(self, directory: Path) -> None:
        """Set room aside in *directory*, which must exist.

        Raises `OSError`, naming the directory, when there is too little.
        """
        with self._lock:
            if not self._reserves.get(directory):
                self._reserves[directory] = False
                self._make(directory)

    def enough(self, directory: Path) -> str | None:
        """Return why no further run may start, or ``None`` when its record could be kept."""
        try:
            self.reserve(directory)
            usage = shutil.disk_usage(directory)
        except OSError as error:
            return f"the record could not be kept: {directory}: {error.strerror}"
        # Some network file systems tell nothing.
        if usage.total and usage.free < self._bytes:
            # Without what is left, which differs from run to run: it would be many reasons.
            return f"the record could not be kept: {directory} is full, {self._needed}"
        return None

    def write(self, directory: Path, action: Callable[[], T]) -> T:
        """Return the result of *action*, which writes into *directory*.

        It is done once more, with the reserve given up, when there was no room.
        """
        try:
            return action()
        except OSError as error:
            if error.errno not in _FULL or not self._give_up(directory):
                raise
        return action()

    def release(self) -> None:
        """Give up every reserve; the session's last files may use the room."""
        with self._lock:
            for directory in self._reserves:
                _reserve_file(directory).unlink(missing_ok=True)
            self._reserves.clear()

    @property
    def _needed(self) -> str:
        """What is set aside, and as much again for the next record."""
        return f"expected room for {2 * self._bytes / MIB:g} MiB"

    def _make(self, directory: Path) -> None:
        path = _reserve_file(directory)
        try:
            _allocate(path, self._bytes)
        except OSError as error:
            path.unlink(missing_ok=True)
            needed = f", {self._needed}" if error.errno in _FULL else ""
            raise OSError(error.errno, f"{error.strerror}{needed}", str(directory)) from error
        self._reserves[directory] = True

    def _give_up(self, directory: Path) -> bool:
        """Remove the reserve; whether there was something to remove."""
        with self._lock:
            had = self._reserves.get(directory, False)
            if had:
                _reserve_file(directory).unlink(missing_ok=True)
                self._reserves[directory] = False
            return had


def _reserve_file(directory: Path) -> Path:
    return directory / f".reserve-{os.getpid()}"


def _allocate(path: Path, size: int) -> None:
    with path.open("wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
            return
        # Random, since file systems that compress would keep no room for zeros.
        file.write(os.urandom(size))
        file.flush()
        os.fsync(file.fileno())
