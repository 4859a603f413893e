"""Signals that end a session in order: SIGTERM and SIGHUP as Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable
from types import FrameType, TracebackType
from typing import Self

__all__ = ["SessionSignals"]


class SessionSignals:
    """While entered, SIGTERM and SIGHUP stop the session the way SIGINT does.

    Finished runs are then kept and the results written. The former handlers come back afterwards,
    and are called when they are functions.
    """

    def __init__(self, names: Iterable[str] = ("SIGINT", "SIGTERM", "SIGHUP")) -> None:
        self.received: signal.Signals | None = None
        self.is_ending = False
        """Whether what was paid for is being written: only Ctrl-C stops that.

        Services that cancel a job send SIGINT and a few seconds later SIGTERM.
        """
        self._signals = [getattr(signal, name) for name in names if hasattr(signal, name)]
        self._former: dict[signal.Signals, object] = {}

    def __enter__(self) -> Self:
        """Install the handlers; only the main thread can."""
        if threading.current_thread() is threading.main_thread():
            for number in self._signals:
                self._former[number] = signal.signal(number, self._stop)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Put the former handlers back."""
        for number, handler in self._former.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal() gave us
        self._former.clear()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self.is_ending and number != signal.SIGINT:
            return
        self.received = signal.Signals(number)
        former = self._former.get(self.received)
        if callable(former):
            former(number, frame)
        raise KeyboardInterrupt
