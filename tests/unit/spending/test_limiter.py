"""Everybody holds back when one was told to slow down."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_plugin_eval.spending.limiter import LONGEST_PAUSE_S, Limiter

NOON = 1_800_000_000.0


class Clock:
    """A clock that waiting on its event sets forward; *meanwhile* happens in the first wait."""

    def __init__(self) -> None:
        self.time = NOON
        self.waits_s: list[float] = []
        self.meanwhile: Callable[[], object] = lambda: None

    def __call__(self) -> float:
        return self.time

    def pass_time(self, timeout: float | None) -> None:
        assert timeout is not None
        self.waits_s.append(timeout)
        self.time += timeout
        if len(self.waits_s) == 1:
            self.meanwhile()


class Signal(threading.Event):
    """An event that a clock waits on without taking time."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock

    def wait(self, timeout: float | None = None) -> bool:
        if not self.is_set():
            self.clock.pass_time(timeout)
        return self.is_set()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.mark.parametrize(
    ("times", "pause_s"),
    [
        ((), 0),
        ((None,), 0),
        ((NOON - 5,), 0),
        ((NOON + 5,), 5),
        ((NOON + 5, NOON + 3, None), 5),
        ((NOON + 3, NOON + 5), 5),
        ((math.nan, math.inf, -math.inf), 0),
    ],
)
def test_pause_reaches_to_the_furthest_time(
    tmp_path: Path, clock: Clock, times: tuple[float | None, ...], pause_s: float
) -> None:
    limiter, other = Limiter(tmp_path, now=clock), Limiter(tmp_path, now=clock)

    list(map(limiter.slow_down, times))

    assert (limiter.pause_s(), other.pause_s()) == (pause_s, pause_s)
    assert Limiter(tmp_path, now=clock).pause_s() == pause_s


def test_pause_ends_with_its_time(clock: Clock) -> None:
    limiter = Limiter(now=clock)
    limiter.slow_down(NOON + 5)

    clock.time += 5

    assert limiter.pause_s() == 0


def test_clock_is_that_of_the_machine_by_default() -> None:
    limiter = Limiter()

    limiter.slow_down(time.time() + 100)

    assert 90 < limiter.pause_s() <= 100


@pytest.mark.parametrize(
    ("content", "pause_s"),
    [
        (b"", 0),
        (b"nonsense\n\n\xff\nnan\ninf\n1e999\n", 0),
        (b"nonsense\n1800000007.0\n", 7),
        (b"1800000007.0\n1800000003.0\n", 7),
        (b"1800000007.0\n180000009", 7),
    ],
    ids=["empty", "bad", "bad-first", "earlier-later", "torn"],
)
def test_file_of_another_process(
    tmp_path: Path, clock: Clock, content: bytes, pause_s: float
) -> None:
    (tmp_path / "1-a.limiter").write_bytes(content)

    assert Limiter(tmp_path, now=clock).pause_s() == pause_s


def test_wait_looks_about_once_a_second(clock: Clock) -> None:
    limiter = Limiter(now=clock)
    limiter.slow_down(NOON + 2.5)

    assert limiter.wait(Signal(clock)) is None
    assert clock.waits_s == [1.0, 1.0, 0.5]


def test_nobody_waits_without_a_reason(clock: Clock) -> None:
    assert Limiter(now=clock).wait(Signal(clock)) is None
    assert clock.waits_s == []


def test_waiting_notices_what_another_process_is_told(tmp_path: Path, clock: Clock) -> None:
    limiter, other = Limiter(tmp_path, now=clock), Limiter(tmp_path, now=clock)
    limiter.slow_down(NOON + 2)
    clock.meanwhile = lambda: other.slow_down(NOON + 4)

    limiter.wait(Signal(clock))

    assert clock.time == NOON + 4


def test_waiting_ends_when_the_session_is_stopped(clock: Clock) -> None:
    limiter, stopped = Limiter(now=clock), Signal(clock)
    limiter.slow_down(NOON + 100)
    clock.meanwhile = stopped.set

    assert limiter.wait(stopped) is None
    assert clock.time == NOON + 1


def test_thread_that_waits_can_be_stopped() -> None:
    limiter, stopped = Limiter(), threading.Event()
    limiter.slow_down(time.time() + LONGEST_PAUSE_S - 1)
    thread = threading.Thread(target=limiter.wait, args=(stopped,))
    thread.start()

    stopped.set()
    thread.join(30)

    assert not thread.is_alive()


@pytest.mark.parametrize(
    ("away_s", "words"),
    [
        (LONGEST_PAUSE_S + 1, "at 2027-01-15 08:10 UTC, in 11 minutes,"),
        (7 * 86400, "at 2027-01-22 08:00 UTC, in 10080 minutes,"),
        (1e300, "again in the far future,"),
    ],
)
def test_time_that_is_too_far_away_is_a_reason_at_once(
    clock: Clock, away_s: float, words: str
) -> None:
    limiter = Limiter(now=clock)
    limiter.slow_down(NOON + away_s)

    reason = limiter.wait(Signal(clock)) or ""

    assert words in reason
    assert reason.endswith("longer than a session waits (10 minutes)")
    assert clock.waits_s == []


def test_longest_pause_is_waited_for(clock: Clock) -> None:
    limiter = Limiter(now=clock)
    limiter.slow_down(NOON + LONGEST_PAUSE_S)

    assert limiter.wait(Signal(clock)) is None
    assert clock.time == NOON + LONGEST_PAUSE_S


def test_pause_that_another_process_makes_too_long_ends_the_waiting(
    tmp_path: Path, clock: Clock
) -> None:
    limiter, other = Limiter(tmp_path, now=clock), Limiter(tmp_path, now=clock)
    limiter.slow_down(NOON + 5)
    clock.meanwhile = lambda: other.slow_down(NOON + 7200)

    reason = limiter.wait(Signal(clock))

    assert reason is not None
    assert clock.time == NOON + 1


def test_closed_limiter_still_holds_back(tmp_path: Path, clock: Clock) -> None:
    limiter, other = Limiter(tmp_path, now=clock), Limiter(tmp_path, now=clock)
    limiter.slow_down(NOON + 2)
    limiter.close()

    other.slow_down(NOON + 5)

    assert limiter.pause_s() == 5
