"""Agent runs in threads: several at once (`--eval-concurrency`), started ahead of their items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Generic, TypeVar

from pytest_plugin_eval.waiting import awaited

__all__ = ["RunPool"]

T = TypeVar("T")
K = TypeVar("K")


class RunPool(Generic[K, T]):
    """Works through keys in order, a few at once, never far ahead of the one that is waited for.

    The work is waiting for child processes, so threads do. They also outlive an interrupt of the
    session: what a run in flight came to is not lost with the wait for it. A session that stops at
    its first failure (``-x``) must not have paid for the whole suite by then: *ahead* bounds how
    many runs beyond the awaited one may have been started. Keys that are not among *keys* are
    worked on when they are asked for.
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
        if key in self._positions:
            self._start_up_to(self._positions[key] + self._ahead)
        if key not in self._futures:
            self._start(key)
        try:
            return awaited(self._futures[key])
        except Exception:
            del self._futures[key]
            raise

    @property
    def running(self) -> int:
        """How many are worked on now; may be asked from any thread."""
        return sum(future.running() for future in list(self._futures.values()))

    def forget(self, *keys: K) -> None:
        """Take note that results are dealt with; a key that is asked for again is a rerun."""
        for key in keys:
            self._futures.pop(key, None)

    def close(self) -> dict[K, T]:
        """Cancel what has not started and wait for what has; return what was not dealt with.

        End the runs in flight before this.
        """
        self._executor.shutdown(wait=True, cancel_futures=True)
        left = self._futures
        self._futures = {}
        # An interrupt at the start of a thread has the executor forget the thread, which goes on.
        wait([future for future in left.values() if future.running()])
        return {
            key: future.result()
            for key, future in left.items()
            if future.done() and future.exception() is None
        }

    def _start_up_to(self, last: int) -> None:
        while self._next < len(self._keys) and self._next <= last:
            key = self._keys[self._next]
            self._next += 1
            self._start(key)

    def _start(self, key: K) -> None:
        # Known of before it is started: an interrupt may come between any two steps.
        future = self._futures[key] = Future()
        self._executor.submit(self._fill, key, future)

    def _fill(self, key: K, future: Future[T]) -> None:
        future.set_running_or_notify_cancel()
        try:
            future.set_result(self._work(key))
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            future.set_exception(error)
