"""When a service asks one run to slow down, every run and judge call of the session does."""

from __future__ import annotations

import datetime
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path

from pytest_plugin_eval.spending.journal import Journal

__all__ = ["LONGEST_PAUSE_S", "Limiter"]

LONGEST_PAUSE_S = 600
"""A session that would have to wait longer starts nothing further."""

POLL_S = 1.0
"""Between looks at what other processes were told."""


class Limiter:
    """Holds everybody back until the furthest time that anybody was told; thread-safe.

    With a directory, it is shared by the processes of a session on one machine. The time is never
    moved to an earlier one.
    """

    def __init__(
        self, directory: Path | None = None, *, now: Callable[[], float] = time.time
    ) -> None:
        """Begin without a pause, or with that of the other processes.

        *now* returns seconds since the epoch. Raises `EvalError` when *directory* is missing or
        cannot be written to.
        """
        self._now = now
        self._journal = None if directory is None else Journal(directory, "limiter")
        self._until = 0.0
        self._lock = threading.Lock()

    def slow_down(self, until: float | None) -> None:
        """Hold everybody back until *until*, in seconds since the epoch; ``None`` changes nothing.

        So does a time that has passed, is earlier than the present one, or is no number.
        """
        if until is None or not math.isfinite(until) or until <= self._now():
            return
        with self._lock:
            if until > self._until:
                self._until = until
                if self._journal is not None:
                    self._journal.append(repr(float(until)))

    def pause_s(self) -> float:
        """Return for how many seconds nothing may start, 0 when nobody has to wait."""
        with self._lock:
            if self._journal is not None:
                for _, line in self._journal.news():
                    self._until = max(self._until, _time(line))
            return max(0.0, self._until - self._now())

    def wait(self, stopped: threading.Event) -> str | None:
        """Wait until calls may start or *stopped* is set; the caller looks at *stopped* again.

        Returns a reason, at once, when that is more than `LONGEST_PAUSE_S` away: nothing is to be
        started then.
        """
        while pause_s := self.pause_s():
            if pause_s > LONGEST_PAUSE_S:
                return _reason(self._now() + pause_s, pause_s)
            if stopped.wait(min(pause_s, POLL_S)):
                break
        return None

    def close(self) -> None:
        """Let go of the file; other processes are still listened to."""
        with self._lock:
            if self._journal is not None:
                self._journal.close()


def _time(line: str) -> float:
    try:
        until = float(line)
    except ValueError:
        return 0.0
    return until if math.isfinite(until) else 0.0


def _reason(until: float, pause_s: float) -> str:
    return (
        f"the service takes requests again {_moment(until, pause_s)},"
        f" longer than a session waits ({LONGEST_PAUSE_S // 60} minutes)"
    )


def _moment(until: float, pause_s: float) -> str:
    try:
        moment = datetime.datetime.fromtimestamp(until, datetime.UTC)
    except (ValueError, OverflowError, OSError):
        return "in the far future"
    return f"at {moment:%Y-%m-%d %H:%M} UTC, in {math.ceil(pause_s / 60)} minutes"
