"""Which recorded votes answer a question, and which are still to be asked for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from pytest_plugin_eval.records.model import Vote

__all__ = ["Tally", "tallied"]


class Tally(NamedTuple):
    """One judging of a question, as far as it is recorded."""

    judging: int
    kept: tuple[Vote, ...]
    """The votes that count, in order."""
    missing: tuple[int, ...]
    """The numbers of those to be asked for."""


def tallied(
    recorded: Sequence[Vote],
    *,
    grader: str,
    question: str,
    size: int,
    chosen: Collection[str] | None = None,
    completed_by: str | None = None,
    counted: Collection[Vote] | None = None,
) -> Tally:
    """Return the newest complete judging of at least *size* votes, its first *size* votes.

    Without one it is the newest incomplete one, which is to be completed, and without that a new
    one. *chosen*: votes of these models alone count. *completed_by*: the model that will be asked;
    a judging of another one stays incomplete. *counted*: votes that count at all.

    A question that another grader of the run was asked is answered by its complete judging: the
    grader may have been renamed.
    """
    judgings: dict[tuple[bool, int, str], dict[int, Vote]] = {}
    for vote in recorded:
        if vote.question == question and _counts(vote, chosen, counted):
            own = vote.grader == grader
            judgings.setdefault((own, vote.judging, vote.grader), {})[vote.number] = vote
    newest_first = sorted(judgings.items(), key=lambda item: item[0], reverse=True)
    numbers = range(1, size + 1)
    for (_, judging, _), votes in newest_first:
        if all(number in votes for number in numbers):
            return Tally(judging, tuple(votes[number] for number in numbers), ())
    for (own, judging, _), votes in newest_first:
        if own and _may_complete(votes.values(), completed_by):
            kept = tuple(votes[number] for number in numbers if number in votes)
            return Tally(judging, kept, tuple(n for n in numbers if n not in votes))
    last = max((vote.judging for vote in recorded if vote.grader == grader), default=0)
    return Tally(last + 1, (), tuple(numbers))


def _counts(vote: Vote, chosen: Collection[str] | None, counted: Collection[Vote] | None) -> bool:
    if counted is not None and vote not in counted:
        return False
    return chosen is None or vote.asked_model in chosen or vote.model in chosen


def _may_complete(votes: Collection[Vote], model: str | None) -> bool:
    return model is None or all(vote.asked_model == model for vote in votes)
