"""Signals taken in hand for a while."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

import pytest

from pytest_plugin_eval.cli.interrupts import Interrupts
from pytest_plugin_eval.pytest_side.signals import SessionSignals
from pytest_plugin_eval.signals import ENDING, handled

NUMBERS = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]


@pytest.mark.parametrize("number", NUMBERS)
def test_signals_are_handled_and_their_former_handlers_come_back(number: signal.Signals) -> None:
    former, seen = signal.getsignal(number), []

    with handled(lambda received, _: seen.append(received)) as replaced:
        os.kill(os.getpid(), number)

    assert (seen, replaced[number], signal.getsignal(number)) == ([number], former, former)


def test_signals_that_a_system_lacks_are_passed_over() -> None:
    with handled(lambda *_: None, ("SIGNONE",)) as replaced:
        assert replaced == {}


def test_another_thread_than_the_main_one_installs_nothing() -> None:
    former, found = signal.getsignal(signal.SIGTERM), []

    def look() -> None:
        with handled(lambda *_: None) as replaced:
            found.append((dict(replaced), signal.getsignal(signal.SIGTERM)))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()

    assert found == [({}, former)]


def end_twice() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize(
    "make", [SessionSignals, lambda: Interrupts(lambda: None)], ids=["session", "command"]
)
def test_whoever_is_interrupted_gives_the_handlers_back(
    make: Callable[[], SessionSignals | Interrupts],
) -> None:
    before = [signal.getsignal(number) for number in NUMBERS]
    signals = make()

    with pytest.raises(KeyboardInterrupt), signals:
        end_twice()

    assert signals.received is signal.SIGTERM
    assert [signal.getsignal(number) for number in NUMBERS] == before
