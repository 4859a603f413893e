"""What a session has spent, in all of its processes, and whether the next call may start."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from pytest_plugin_eval.spending.journal import Journal

__all__ = ["Call", "Ledger"]


@dataclass(slots=True)
class Call:
    """A call in flight; who makes it says what it cost."""

    cost_usd: float | None = None
    """US dollars; ``None`` when it is unknown."""


@dataclass(slots=True)
class _Account:
    """What one process has told."""

    # Exact, so that the sum depends on no order: ten times 0.1 reaches a ceiling of 1.
    spent_usd: Fraction = Fraction()
    dearest_usd: Fraction = Fraction()
    """Of one finished call whose cost is known."""
    unknown: int = 0
    started: int = 0
    finished: int = 0

    def note(self, line: str) -> None:
        """Count a line; one that makes no sense is a call of unknown cost, never a free one."""
        word, _, rest = line.partition(" ")
        if line == "start":
            self.started += 1
            return
        self.finished += word == "finish"
        cost = _cost(rest)
        if cost is None or word not in ("finish", "add"):
            self.unknown += 1
        else:
            self.spent_usd += Fraction(cost)
            self.dearest_usd = max(self.dearest_usd, Fraction(cost))


class Ledger:
    """Adds up costs under an optional ceiling; safe to use from several threads.

    With a directory, it is shared by the processes of a session on one machine: each has a ledger
    of its own there and sees what all of them spend, those included that were killed meanwhile.
    Spec: behaviour-evals, 6.3: spent at or above the ceiling, nothing further starts; a ceiling of
    0 starts nothing at all. Nothing is reserved: calls that are in flight when the ceiling is
    reached finish, and pass it by what they cost. A finished call of unknown cost counts towards
    the ceiling as the dearest known one, and as nothing while none is known.
    """

    def __init__(self, ceiling_usd: float | None = None, directory: Path | None = None) -> None:
        """Begin with nothing spent by this process.

        Raises `EvalError` when *directory* is missing or cannot be written to.
        """
        self.ceiling_usd = ceiling_usd
        self._journal = None if directory is None else Journal(directory, "ledger")
        self._own = _Account()
        self._others: dict[str, _Account] = {}
        self._lock = threading.Lock()

    @property
    def spent_usd(self) -> float:
        """US dollars spent so far by all processes, as far as they are known."""
        return float(sum(account.spent_usd for account in self._accounts()))

    @property
    def unknown(self) -> int:
        """Finished calls of all processes whose cost is unknown."""
        return sum(account.unknown for account in self._accounts())

    @property
    def unfinished(self) -> int:
        """Calls of all processes that were started and have not finished.

        Once nothing runs any more, they are those that a killed process was making: their cost is
        unknown.
        """
        return sum(account.started - account.finished for account in self._accounts())

    def add(self, cost_usd: float | None) -> None:
        """Count a finished call; ``None`` is an unknown cost."""
        self._note(f"add {_text(cost_usd)}")

    @contextmanager
    def call(self) -> Iterator[Call]:
        """Count a call from its start, so that one that is cut off with its process is known of.

        The block sets the cost; it is counted as unknown where the block is left before.
        """
        call = Call()
        self._note("start")
        try:
            yield call
        finally:
            self._note(f"finish {_text(call.cost_usd)}")

    def may_start(self) -> bool:
        """Whether another call may start."""
        if self.ceiling_usd is None:
            return True
        accounts = self._accounts()
        spent_usd = sum(account.spent_usd for account in accounts)
        unknown = sum(account.unknown for account in accounts)
        dearest_usd = max(account.dearest_usd for account in accounts)
        return float(spent_usd + unknown * dearest_usd) < self.ceiling_usd

    def close(self) -> None:
        """Let go of the file; sums can still be read."""
        with self._lock:
            if self._journal is not None:
                self._journal.close()

    def _note(self, line: str) -> None:
        with self._lock:
            self._own.note(line)
            if self._journal is not None:
                self._journal.append(line)

    def _accounts(self) -> list[_Account]:
        with self._lock:
            if self._journal is not None:
                for name, line in self._journal.news():
                    self._others.setdefault(name, _Account()).note(line)
            return [self._own, *self._others.values()]


def _text(cost_usd: float | None) -> str:
    return "unknown" if cost_usd is None else repr(float(cost_usd))


def _cost(text: str) -> float | None:
    try:
        cost = float(text)
    except ValueError:
        return None
    return cost if math.isfinite(cost) and cost >= 0 else None
