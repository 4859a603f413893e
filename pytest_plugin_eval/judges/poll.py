"""What is put to the vote, and what came of it."""

from __future__ import annotations

from typing import NamedTuple

from pytest_plugin_eval.judges.base import Image
from pytest_plugin_eval.records.model import Vote

__all__ = ["Poll", "PollResult"]


class Poll(NamedTuple):
    """One grader's question about one run."""

    grader: str
    question: str
    """What `Vote.question` says: a hash of all that the answer depends on besides the model."""
    system: str
    parts: tuple[str | Image, ...]


class PollResult(NamedTuple):
    """The votes of a poll, or why there are not enough."""

    votes: tuple[Vote, ...]
    """The complete set in order, else nothing."""
    fresh: tuple[Vote, ...]
    """Those that were asked for just now, also when the set is not complete: they were paid for."""
    trouble: str | None = None
    """Why the set is not complete."""
    refused: bool = False
    """It is not complete because no more money may be spent (D4); else something went wrong."""
    recorded: tuple[Vote, ...] = ()
    """Those of an incomplete set that were there already."""
    lost_costs_usd: tuple[float | None, ...] = ()
    """Of the calls that were made just now and made no vote; ``None`` for an unknown one."""

    @property
    def lost_usd(self) -> float:
        """What was paid just now for calls that made no vote, as far as it is known."""
        return sum(cost or 0.0 for cost in self.lost_costs_usd)

    @property
    def costs_usd(self) -> tuple[float | None, ...]:
        """What each vote and each vain call cost, also where the set is not complete."""
        votes = self.votes or (*self.recorded, *self.fresh)
        return (*(vote.cost_usd for vote in votes), *self.lost_costs_usd)
