"""What this process has spent, and whether the next call may start."""

from __future__ import annotations

import threading

__all__ = ["Ledger"]


class Ledger:
    """Adds up costs under an optional ceiling; safe to use from several threads.

    Spec: behaviour-evals, 6.3: spent at or above the ceiling, nothing further starts; a ceiling of
    0 starts nothing at all.
    """

    def __init__(self, ceiling_usd: float | None = None) -> None:
        self.ceiling_usd = ceiling_usd
        self._spent_usd = 0.0
        self._lock = threading.Lock()

    @property
    def spent_usd(self) -> float:
        """US dollars spent so far, as far as they are known."""
        with self._lock:
            return self._spent_usd

    def add(self, cost_usd: float | None) -> None:
        """Count a finished call; an unknown cost adds nothing."""
        with self._lock:
            self._spent_usd += cost_usd or 0.0

    def may_start(self) -> bool:
        """Whether another agent run may start."""
        return self.ceiling_usd is None or self.spent_usd < self.ceiling_usd
