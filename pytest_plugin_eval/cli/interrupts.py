"""Signals that end a command in order, so that what was paid for is kept."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable
from types import FrameType
from typing import Self

from pytest_plugin_eval.signals import handled

__all__ = ["Interrupts"]


class Interrupts:
    """While entered, the first SIGINT, SIGTERM or SIGHUP calls a function; the next one interrupts.

    The function is called in the main thread, between two of its instructions.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self.received: signal.Signals | None = None
        """The first one."""
        self._stop = stop
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Install the handlers."""
        self._stack.enter_context(handled(self._handle))
        return self

    def __exit__(self, *_: object) -> None:
        """Put the former handlers back."""
        self._stack.close()

    def _handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 -- signal's
        if self.received is not None:
            raise KeyboardInterrupt
        self.received = signal.Signals(number)
        self._stop()
