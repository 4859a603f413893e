"""Short lines that the processes of a session tell each other through a directory."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from pytest_plugin_eval.errors import EvalError

__all__ = ["Journal"]


class Journal:
    """One file a process, read by all; whatever a process wrote survives its being killed.

    Only the owner appends to a file, so no lock is needed between processes, and a line that a
    killed process did not finish spoils no other. Not safe to use from several threads: the owner
    of a journal has a lock.
    """

    def __init__(self, directory: Path, kind: str) -> None:
        """Open a new file for lines of one *kind*, a word that tells files of a directory apart.

        Raises `EvalError` when *directory* is missing or cannot be written to.
        """
        self._directory = directory
        self._suffix = f".{kind}"
        self._own = f"{os.getpid()}-{secrets.token_hex(8)}{self._suffix}"
        self._offsets: dict[str, int] = {}
        self._unwritten = b""
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL
            self._file: int | None = os.open(directory / self._own, flags, 0o600)
        except OSError as error:
            raise EvalError(
                f"{directory}: no {kind} can be kept there ({error.strerror}),"
                " expected a directory that can be written to"
            ) from error

    def append(self, line: str) -> None:
        """Tell the others *line*.

        What cannot be written, as on a full disk, goes out later; the owner knows its own lines
        without the file.
        """
        if self._file is not None:
            self._unwritten += f"{line}\n".encode()
            self._write()

    def news(self) -> Iterator[tuple[str, str]]:
        """Return the lines of the other processes that were not returned before.

        Each comes with the name of its file. A line without its end is not returned yet.
        """
        self._write()
        for name, size in self._others():
            offset = self._offsets.get(name, 0)
            if size <= offset:
                continue
            with contextlib.suppress(OSError), Path(self._directory, name).open("rb") as file:
                file.seek(offset)
                whole, end, _ = file.read().rpartition(b"\n")
                self._offsets[name] = offset + len(whole) + len(end)
                if end:
                    for line in whole.split(b"\n"):
                        yield name, line.decode("utf-8", "replace")

    def close(self) -> None:
        """Write no more; lines of others can still be read."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _write(self) -> None:
        with contextlib.suppress(OSError):
            while self._unwritten and self._file is not None:
                # A part of a line that got out is completed by the next write.
                written = os.write(self._file, self._unwritten)
                self._unwritten = self._unwritten[written:]

    def _others(self) -> list[tuple[str, int]]:
        found = []
        # The directory may be removed under a session that is being ended: nothing is news then.
        with contextlib.suppress(OSError), os.scandir(self._directory) as entries:
            for entry in entries:
                if entry.name.endswith(self._suffix) and entry.name != self._own:
                    found.append((entry.name, entry.stat().st_size))
        return found
