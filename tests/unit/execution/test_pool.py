"""Runs in threads: in order, not far ahead, and none lost with an interrupt."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import NoReturn

import pytest

from pytest_plugin_eval.execution import pool
from pytest_plugin_eval.execution.pool import RunPool

Make = Callable[..., RunPool[int, str]]


@pytest.fixture
def make() -> Iterator[Make]:
    """Return a function that makes a pool, which ends with the test."""
    with ExitStack() as stack:

        def made(work: Callable[[int], str], keys: tuple[int, ...] = (), **options: int) -> object:
            new = RunPool(work, keys, **{"workers": 1, **options})
            stack.callback(new.close)
            return new

        yield made  # type: ignore[misc]  # its keywords are the pool's


def test_no_more_is_started_than_may_be_ahead(make: Make) -> None:
    begun: list[int] = []

    def work(key: int) -> str:
        begun.append(key)
        return str(key)

    runs = make(work, (1, 2, 3, 4), ahead=1)

    assert runs.result(1) == "1"
    assert runs.close() == {1: "1", **({2: "2"} if 2 in begun else {})}
    assert begun in ([1], [1, 2])


def test_interrupted_wait_loses_no_run(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = threading.Event()

    def work(_: int) -> str:
        begun.set()
        return "made"

    def interrupted(_: object) -> NoReturn:
        assert begun.wait(60)
        raise KeyboardInterrupt

    runs = make(work)
    monkeypatch.setattr(pool, "awaited", interrupted)

    with pytest.raises(KeyboardInterrupt):
        runs.result(1)

    assert runs.close() == {1: "made"}


def test_interrupt_at_the_start_of_a_run_loses_none(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = make(lambda _: "made")
    submit = runs._executor.submit

    def interrupted(*given: object) -> NoReturn:
        submit(*given)  # type: ignore[arg-type]  # handed on
        raise KeyboardInterrupt

    monkeypatch.setattr(runs._executor, "submit", interrupted)

    with pytest.raises(KeyboardInterrupt):
        runs.result(1)

    assert runs.close() == {1: "made"}


def test_result_is_left_until_it_is_dealt_with(make: Make) -> None:
    runs = make(str)

    assert (runs.result(1), runs.result(2)) == ("1", "2")
    runs.forget(1)

    assert runs.close() == {2: "2"}


def test_run_that_is_asked_for_again_is_made_again(make: Make) -> None:
    made: list[int] = []

    def work(key: int) -> str:
        made.append(key)
        return "made"

    runs = make(work)
    runs.result(1)
    runs.forget(1)

    runs.result(1)

    assert made == [1, 1]


def test_run_that_failed_is_made_again_when_it_is_asked_for(make: Make) -> None:
    answers = iter([ValueError("once"), None])

    def work(_: int) -> str:
        error = next(answers)
        if error is not None:
            raise error
        return "made"

    runs = make(work)

    with pytest.raises(ValueError, match="once"):
        runs.result(1)

    assert runs.result(1) == "made"


def test_running_counts_what_is_worked_on_and_nothing_else(make: Make) -> None:
    begun, may_end = threading.Semaphore(0), threading.Event()

    def work(key: int) -> str:
        begun.release()
        may_end.wait(60)
        return str(key)

    runs = make(work, (1, 2, 3), workers=2)
    before = runs.running
    waiting = threading.Thread(target=runs.result, args=(1,))
    waiting.start()
    for _ in range(2):
        assert begun.acquire(timeout=60)
    during = runs.running
    may_end.set()
    waiting.join(60)
    runs.result(2), runs.result(3)

    assert (before, during, runs.running) == (0, 2, 0)
