"""`--eval-concurrency`: agent runs started ahead of their items, in one process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

__all__ = ["RunPool"]

T = TypeVar("T")
K = TypeVar("K")


class RunPool(Generic[K, T]):
    """Works through keys in order, a few at once, never far ahead of the one that is waited for.

    The work is waiting for child processes, so threads do. A session that stops at its first
    failure (``-x``) must not have paid for the whole suite by then: *ahead* bounds how many runs
    beyond the awaited one may have been started.
    """

    def __init__(
        self, work: Callable[[K], T], keys: Sequence[K], *, workers: int, ahead: int | None = None
    ) -> None:
        self._work = work
        self._keys = tuple(keys)
        self._positions = {key: position for position, key in enumerate(self._keys)}
        self._ahead = ahead if ahead is not None else len(self._keys)
        self._futures: dict[K, Future[T]] = {}
        self._next = 0
        self._executor = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="eval-run")

    def result(self, key: K) -> T:
        """Wait for the run of *key*, starting it and those that come after it."""
        self._start_up_to(self._positions.get(key, 0) + self._ahead)
        # A key asked for twice is a rerun: it is made again.
        future = self._futures.pop(key, None) or self._executor.submit(self._work, key)
        return future.result()

    def close(self) -> None:
        """Cancel what has not started and wait for what has; end the runs in flight before this."""
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _start_up_to(self, last: int) -> None:
        while self._next < len(self._keys) and self._next <= last:
            key = self._keys[self._next]
            self._next += 1
            self._futures[key] = self._executor.submit(self._work, key)
