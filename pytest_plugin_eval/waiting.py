"""Waiting for work in other threads without being deaf to signals."""

from __future__ import annotations

from concurrent import futures
from typing import TypeVar

__all__ = ["awaited"]

T = TypeVar("T")
_LOOK_S = 0.5


def awaited(future: futures.Future[T]) -> T:
    """Return the future's result, or raise what its work raised.

    Signal handlers run in the main thread between two looks. A wait without an end would put them
    off where the system hands a signal to another thread than the one that waits.
    """
    while not future.done():
        futures.wait((future,), timeout=_LOOK_S)
    return future.result()
