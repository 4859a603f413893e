"""What is spent, under a ceiling, in one process and in several. Spec: behaviour-evals, 6.3."""

from __future__ import annotations

import math
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pytest_plugin_eval.spending.ledger import Ledger

ADDS = 200
# Adds up as fast as it can and says so; the last one waits inside a call to be killed.
WORKER = """
import sys
from pathlib import Path
from pytest_plugin_eval.spending.ledger import Ledger

ledger = Ledger(directory=Path(sys.argv[1]))
for _ in range(int(sys.argv[2])):
    with ledger.call() as call:
        call.cost_usd = 0.25
    print("added", flush=True)
if len(sys.argv) > 3:
    with ledger.call():
        print("in flight", flush=True)
        sys.stdin.read()
"""


def start_worker(directory: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WORKER, str(directory), *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def read_lines(worker: subprocess.Popen[bytes], count: int) -> bytes:
    assert worker.stdout is not None
    return [worker.stdout.readline() for _ in range(count)][-1]


@pytest.mark.parametrize(
    ("ceiling", "costs", "may_start"),
    [
        (None, (1000.0,), True),
        (0.0, (), False),
        (1.0, (), True),
        (1.0, (0.5, 0.49), True),
        (1.0, (0.5, 0.5), False),
        (1.0, (0.1,) * 10, False),
        (1.0, (2.0,), False),
        (1.0, (None, None), True),
        (1.0, (None, 0.25), True),
        (1.0, (None, 0.5), False),
        (1.0, (0.125, 0.25, None, None), True),
        (1.0, (0.125, 0.25, None, None, None), False),
    ],
)
def test_ceiling(ceiling: float | None, costs: tuple[float | None, ...], may_start: bool) -> None:
    ledger = Ledger(ceiling)

    list(map(ledger.add, costs))

    assert ledger.may_start() is may_start


@pytest.mark.parametrize("cost", [None, math.nan, math.inf, -math.inf, -0.5])
def test_cost_that_is_not_known_is_counted_and_not_zero(tmp_path: Path, cost: float | None) -> None:
    ledger, other = Ledger(directory=tmp_path), Ledger(directory=tmp_path)
    ledger.add(0.0)

    ledger.add(cost)

    assert (ledger.spent_usd, ledger.unknown) == (0.0, 1)
    assert (other.spent_usd, other.unknown) == (0.0, 1)


def test_processes_see_what_others_spend(tmp_path: Path) -> None:
    first, second = Ledger(1.0, tmp_path), Ledger(1.0, tmp_path)
    first.add(0.75)

    second.add(0.5)

    assert (first.spent_usd, second.spent_usd) == (1.25, 1.25)
    assert (first.may_start(), second.may_start()) == (False, False)


def test_unknown_call_counts_as_the_dearest_known_one_of_all_processes(tmp_path: Path) -> None:
    first, second = Ledger(1.0, tmp_path), Ledger(1.0, tmp_path)
    first.add(0.5)

    second.add(None)

    assert (first.may_start(), second.may_start()) == (False, False)
    assert (first.spent_usd, first.unknown) == (0.5, 1)


def test_late_process_sees_what_was_spent_before(tmp_path: Path) -> None:
    early = Ledger(directory=tmp_path)
    early.add(0.5)
    early.close()

    assert Ledger(directory=tmp_path).spent_usd == 0.5


def test_sums_can_be_read_after_closing(tmp_path: Path) -> None:
    ledger, other = Ledger(directory=tmp_path), Ledger(directory=tmp_path)
    ledger.add(0.5)
    ledger.close()

    other.add(0.25)

    assert (ledger.spent_usd, ledger.unknown, ledger.unfinished) == (0.75, 0, 0)


def test_call_is_unfinished_until_its_block_ends(tmp_path: Path) -> None:
    ledger, other = Ledger(directory=tmp_path), Ledger(directory=tmp_path)

    with ledger.call() as call:
        during = other.unfinished
        call.cost_usd = 0.5

    assert (during, other.unfinished, other.spent_usd, other.unknown) == (1, 0, 0.5, 0)


def test_call_that_raises_is_finished_at_an_unknown_cost() -> None:
    ledger = Ledger()

    with pytest.raises(RuntimeError), ledger.call():
        raise RuntimeError

    assert (ledger.unfinished, ledger.unknown, ledger.spent_usd) == (0, 1, 0.0)


@pytest.mark.parametrize(
    ("content", "spent", "unknown", "unfinished"),
    [
        (b"", 0.0, 0, 0),
        (b"add 0.5\nadd 0.2", 0.5, 0, 0),
        (b"start\nfinish 0.2", 0.0, 0, 1),
        (b"start\nsta", 0.0, 0, 1),
        (b"add unknown\nadd 0.5\n", 0.5, 1, 0),
        (b"nonsense\nadd 0.5\n", 0.5, 1, 0),
        (b"add \xff\n\nadd nan\nadd -1\nadd 1e999\nadd 0.5\n", 0.5, 5, 0),
        (b"start\nfinish what\n", 0.0, 1, 0),
    ],
    ids=[
        *("empty", "torn-add", "torn-finish", "torn-start"),
        *("unknown", "nonsense", "bad-costs", "bad-finish"),
    ],
)
def test_file_of_a_process_that_was_killed(
    tmp_path: Path, content: bytes, spent: float, unknown: int, unfinished: int
) -> None:
    (tmp_path / "1-a.ledger").write_bytes(content)

    ledger = Ledger(directory=tmp_path)

    assert (ledger.spent_usd, ledger.unknown, ledger.unfinished) == (spent, unknown, unfinished)


def test_threads_add_up(tmp_path: Path) -> None:
    ledger, other = Ledger(directory=tmp_path), Ledger(directory=tmp_path)

    def add_many() -> None:
        list(map(ledger.add, (0.25,) * ADDS))

    threads = [threading.Thread(target=add_many) for _ in range(4)]

    list(map(threading.Thread.start, threads))
    list(map(threading.Thread.join, threads))

    assert (ledger.spent_usd, other.spent_usd) == (ADDS, ADDS)


def test_what_killed_processes_spent_still_counts(tmp_path: Path) -> None:
    ledger = Ledger(directory=tmp_path)
    with (
        start_worker(tmp_path, str(ADDS)) as first,
        start_worker(tmp_path, str(ADDS)) as second,
        start_worker(tmp_path, str(ADDS), "hold") as in_flight,
        start_worker(tmp_path, "1000000000") as endless,
    ):
        read_lines(endless, ADDS)
        endless.kill()
        last = read_lines(in_flight, ADDS + 1)
        in_flight.kill()
        first.communicate()
        second.communicate()

    known = ledger.spent_usd / 0.25 - 3 * ADDS
    assert last == b"in flight\n"
    assert known == int(known) >= ADDS
    assert ledger.unknown == 0
    # The endless worker may have been killed within a call, the other one was.
    assert ledger.unfinished in (1, 2)
