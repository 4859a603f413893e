"""Signals that end a command in order, so that what was paid for is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self

__all__ = ["Interrupts"]


class Interrupts:
    """While entered, the first SIGINT, SIGTERM or SIGHUP calls a function; the next one interrupts.

    The function is called in the main thread, between two of its instructions.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self.received: signal.Signals | None = None
        self._stop = stop
        names = ("SIGINT", "SIGTERM", "SIGHUP")
        self._signals = [getattr(signal, name) for name in names if hasattr(signal, name)]
        self._former: dict[signal.Signals, object] = {}

    def __enter__(self) -> Self:
        """Install the handlers; only the main thread can."""
        if threading.current_thread() is threading.main_thread():
            for number in self._signals:
                self._former[number] = signal.signal(number, self._handle)
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

    def _handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 -- signal's
        if self.received is not None:
            raise KeyboardInterrupt
        self.received = signal.Signals(number)
        self._stop()
