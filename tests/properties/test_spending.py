"""What holds however the processes of a session interleave, and whichever of them is killed."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pytest_plugin_eval.spending.ledger import Call, Ledger
from pytest_plugin_eval.spending.limiter import Limiter

WORKERS = 4
CEILING = 1.0
COSTS = st.floats(min_value=0, max_value=2) | st.sampled_from([0.1, 0.25, 0.5])
WORKER = st.integers(0, WORKERS - 1)
KNOWN_OR_NOT = COSTS | st.none()
STEP = st.tuples(
    WORKER, st.sampled_from(["work", "work", "work", "kill"]), KNOWN_OR_NOT, st.integers(0, 9)
)


class Worker:
    """A process that asks, calls, and says what it cost; it may be killed at any point.

    Killing leaves the call open, or, where its cost was just being written, a torn line.
    """

    def __init__(self, directory: Path) -> None:
        known = set(directory.iterdir())
        self.ledger = Ledger(CEILING, directory)
        (self.file,) = set(directory.iterdir()) - known
        self.open: tuple[AbstractContextManager[Call], Call] | None = None
        self.is_alive = True

    def work(self, cost_usd: float | None) -> bool:
        """Finish the call in flight, or start one if that is allowed; tell whether one finished."""
        if self.open is not None:
            (block, call), self.open = self.open, None
            call.cost_usd = cost_usd
            block.__exit__(None, None, None)
            return True
        if self.ledger.may_start():
            block = self.ledger.call()
            self.open = block, block.__enter__()
        return False

    def kill(self, cost_usd: float | None, torn: int) -> None:
        """End the process; *torn* bytes of the line it was writing got out."""
        self.is_alive = False
        self.ledger.close()
        if self.open is not None:
            with self.file.open("ab") as file:
                file.write(f"finish {cost_usd!r}"[:torn].encode())


class Session:
    """Workers beside each other, and what a perfect observer knows of them."""

    def __init__(self, directory: Path) -> None:
        self.workers = [Worker(directory) for _ in range(WORKERS)]
        self.observer = Ledger(CEILING, directory)
        self.costs: list[float | None] = []
        self.in_flight_at_last_start = 0
        self.finished_at_last_start = 0

    def step(self, number: int, action: str, cost_usd: float | None, torn: int) -> None:
        worker = self.workers[number]
        if not worker.is_alive:
            return
        if action == "kill":
            worker.kill(cost_usd, torn)
            return
        if worker.work(cost_usd):
            self.costs.append(cost_usd)
        if worker.open is not None:
            self.in_flight_at_last_start = sum(w.open is not None for w in self.workers)
            self.finished_at_last_start = len(self.costs)

    @property
    def cut_off(self) -> int:
        return sum(worker.open is not None for worker in self.workers)

    def close(self) -> None:
        for ledger in (self.observer, *(worker.ledger for worker in self.workers)):
            ledger.close()


def counted_usd(costs: Sequence[float | None]) -> float:
    """Return what calls count towards a ceiling: the unknown ones as the dearest known one."""
    known = [cost for cost in costs if cost is not None]
    return math.fsum([*known, *[max(known, default=0.0)] * (len(costs) - len(known))])


@given(st.lists(STEP, max_size=60))
def test_ceiling_is_passed_by_no_more_than_the_calls_in_flight(
    steps: list[tuple[int, str, float | None, int]],
) -> None:
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        session = Session(Path(directory))
        stack.callback(session.close)

        for step in steps:
            session.step(*step)

        late = session.costs[session.finished_at_last_start :]
        assert counted_usd(session.costs[: session.finished_at_last_start]) < CEILING
        assert len(late) <= session.in_flight_at_last_start
        assert session.observer.may_start() is (counted_usd(session.costs) < CEILING)
        assert session.observer.spent_usd == math.fsum(cost or 0.0 for cost in session.costs)
        assert session.observer.unfinished == session.cut_off
        assert session.observer.unknown == session.costs.count(None)


@given(st.lists(st.tuples(WORKER, COSTS), max_size=40))
def test_sum_depends_neither_on_order_nor_on_who_spent(spent: list[tuple[int, float]]) -> None:
    expected = math.fsum(cost for _, cost in spent)
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        ledgers = [Ledger(directory=Path(directory)) for _ in range(WORKERS)]
        for ledger in ledgers:
            stack.callback(ledger.close)

        for number, cost in spent:
            ledgers[number].add(cost)

        assert [ledger.spent_usd for ledger in ledgers] == [expected] * WORKERS


@given(st.lists(COSTS | st.none(), max_size=20), st.lists(st.integers(1, 15)))
def test_reading_while_lines_come_in_parts_ends_at_the_same_sums(
    costs: list[float | None], sizes: list[int]
) -> None:
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        # The whole file comes from a ledger, and arrives beside it bit by bit.
        writer = Ledger(directory=Path(directory))
        stack.callback(writer.close)
        (whole,) = Path(directory).iterdir()
        for cost in costs:
            writer.add(cost)
        data, other = whole.read_bytes(), Path(directory, "other")
        other.mkdir()
        reader = Ledger(directory=other)
        stack.callback(reader.close)
        seen = [0.0]

        for size in [*sizes, len(data)]:
            with Path(other, "1-a.ledger").open("ab") as file:
                file.write(data[:size])
            data = data[size:]
            seen.append(reader.spent_usd)

        assert seen == sorted(seen)
        assert (seen[-1], reader.unknown) == (writer.spent_usd, writer.unknown)


TIMES = st.floats(min_value=-10, max_value=2000) | st.sampled_from([math.nan, math.inf, None])


@given(st.lists(st.tuples(st.integers(0, 1), TIMES, st.floats(0, 50)), max_size=30))
def test_end_of_the_pause_never_moves_to_an_earlier_time(
    told: list[tuple[int, float | None, float]],
) -> None:
    now = [0.0]
    with tempfile.TemporaryDirectory() as directory, ExitStack() as stack:
        limiters = [Limiter(Path(directory), now=lambda: now[0]) for _ in range(2)]
        for limiter in limiters:
            stack.callback(limiter.close)
        ends = [0.0]

        for number, until, passed_s in told:
            limiters[number].slow_down(until)
            pauses_s = [limiter.pause_s() for limiter in limiters]
            assert pauses_s[0] == pauses_s[1]
            ends.append(max(ends[-1], now[0]) if not pauses_s[0] else now[0] + pauses_s[0])
            now[0] += passed_s

        finite = [until for _, until, _ in told if until is not None and math.isfinite(until)]
        assert all(later >= earlier - 1e-6 for earlier, later in pairwise(ends))
        assert ends[-1] <= max([*finite, now[0]]) + 1e-6
