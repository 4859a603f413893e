"""Signals that ask a process to end, taken in hand for a while."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FrameType
from typing import TypeAlias

__all__ = ["ENDING", "Former", "handled"]

ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
"""By name: not every system has all of them."""

Former: TypeAlias = Callable[[int, FrameType | None], object] | int | None
"""What `signal.signal` gives back."""


@contextlib.contextmanager
def handled(
    handle: Callable[[int, FrameType | None], None], names: Iterable[str] = ENDING
) -> Iterator[Mapping[int, Former]]:
    """Have *handle* called for the signals; the former handlers come back afterwards.

    Yields these. It is called in the main thread, between two of its instructions; in any other
    thread nothing is done, since only that one can install handlers.
    """
    former: dict[int, Former] = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for name in names:
                number = getattr(signal, name, None)
                if number is not None:
                    former[number] = signal.signal(number, handle)
        yield former
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
