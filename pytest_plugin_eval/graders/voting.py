"""From the votes of a judge to a judgement. Spec: behaviour-evals, 4.7; deviations, D2 to D4."""

from __future__ import annotations

from typing import NamedTuple

from pytest_plugin_eval.graders.base import Judgement, errored, judged
from pytest_plugin_eval.judges.poll import Poll, PollResult
from pytest_plugin_eval.scoring.model import VerdictStatus

__all__ = ["Ballot", "voted"]


class Ballot(NamedTuple):
    """What a judge is to be asked, and what the verdict says of it."""

    poll: Poll
    evidence: str | None = None
    note: str = ""
    """Stands behind the votes in the explanation."""


def voted(ballot: Ballot, result: PollResult) -> Judgement:
    """Return what the votes come to: a pass with the majority of them."""
    if result.trouble is not None:
        if result.refused:
            return Judgement(VerdictStatus.SKIPPED, result.trouble)
        return errored(result.trouble)
    passes = sum(vote.passed for vote in result.votes)
    words = " ".join("PASS" if vote.passed else "FAIL" for vote in result.votes)
    return judged(2 * passes > len(result.votes), f"judge votes: {words}{ballot.note}")
