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
    lost_usd: float = 0.0
    """What was paid for replies that made no vote, as far as it is known."""
