"""What the processes of a session on one machine share: money, pace, and how it began."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from pytest_plugin_eval.records.model import Ending
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter

__all__ = ["FirstRun", "Shared"]


class FirstRun:
    """Remembers the ending that was noted first; safe to use from several threads.

    With a directory, it is the first of all processes of a session on one machine: what the first
    run of a worker came to may be an ordinary loss in the middle of the session.
    """

    def __init__(self, directory: Path | None = None) -> None:
        """Begin without a run, or with that of the other processes."""
        self._path = None if directory is None else directory / "first-run"
        self._known: Ending | None = None
        self._lock = threading.Lock()

    @property
    def ending(self) -> Ending | None:
        """The ending of the first run, ``None`` while there is none."""
        with self._lock:
            if self._known is None and self._path is not None:
                self._known = _read(self._path)
            return self._known

    def note(self, ending: Ending) -> None:
        """Take the ending of a run, if no other was first."""
        if self.ending is not None:
            return
        with self._lock:
            if self._path is None:
                self._known = self._known or ending
                return
            try:
                with self._path.open("x", encoding="utf-8") as file:
                    file.write(ending.value)
            except FileExistsError:
                return  # another process was first
            except OSError:  # nobody can be told, so that this process has its own first run
                self._known = ending


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """Ledger, limiter and first run of a session."""

    ledger: Ledger
    limiter: Limiter = field(default_factory=Limiter)
    first_run: FirstRun = field(default_factory=FirstRun)

    @classmethod
    def among(cls, directory: Path | None, *, ceiling_usd: float | None) -> Self:
        """Return what is shared by way of *directory*; ``None`` for a session of one process.

        Raises `EvalError` when *directory* is missing or cannot be written to.
        """
        return cls(
            ledger=Ledger(ceiling_usd, directory),
            limiter=Limiter(directory),
            first_run=FirstRun(directory),
        )

    def close(self) -> None:
        """Let go of the files; sums can still be read."""
        self.ledger.close()
        self.limiter.close()


def _read(path: Path) -> Ending | None:
    try:
        return Ending(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # not there, or still being written
        return None
