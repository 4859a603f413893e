"""Signals that end a session in order: SIGTERM and SIGHUP as Ctrl-C."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterable, Mapping
from types import FrameType
from typing import Self

from pytest_plugin_eval.signals import ENDING, Former, handled

__all__ = ["SessionSignals"]


class SessionSignals:
    """While entered, SIGTERM and SIGHUP stop the session the way SIGINT does.

    Finished runs are then kept and the results written. The former handlers come back afterwards,
    and are called when they are functions.
    """

    def __init__(self, names: Iterable[str] = ENDING, *, once: bool = False) -> None:
        """*once*: what follows the first signal is as if what was paid for were being written."""
        self.received: signal.Signals | None = None
        self.is_ending = False
        """Whether what was paid for is being written: only Ctrl-C stops that.

        Services that cancel a job send SIGINT and a few seconds later SIGTERM.
        """
        self._names = tuple(names)
        self._once = once
        self._former: Mapping[int, Former] = {}
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Install the handlers."""
        self._former = self._stack.enter_context(handled(self._handle, self._names))
        return self

    def __exit__(self, *_: object) -> None:
        """Put the former handlers back."""
        self._stack.close()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.is_ending and number != signal.SIGINT:
            return
        self.received = signal.Signals(number)
        self.is_ending |= self._once
        former = self._former.get(number)
        if callable(former):
            former(number, frame)
        raise KeyboardInterrupt
