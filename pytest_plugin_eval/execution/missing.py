"""Which votes a replay would have to ask for, told before it asks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pytest_plugin_eval.agents.base import AgentBackend, AgentRequest
from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.execution.planning import PlannedCase
from pytest_plugin_eval.graders.grade import Graded, polls
from pytest_plugin_eval.judges.polling import Judge, Poll
from pytest_plugin_eval.records.model import RunKey
from pytest_plugin_eval.text import plural, shown

__all__ = ["Missing", "missing_votes"]

NAMED = 6
"""Graders that are named one by one; the others are counted."""


class Missing(NamedTuple):
    """The votes that are not recorded, in words."""

    votes: int
    lines: tuple[str, ...]


def missing_votes(
    wanted: Iterable[tuple[PlannedCase, RunKey]], backend: AgentBackend, judge: Judge
) -> Missing:
    """Return how many votes the runs lack, of which graders, and about what they would cost.

    *backend* replays; its records are read once more when they are graded, so that the whole
    answer is there before the first vote is paid for.
    """
    lacking: list[tuple[Poll, int]] = []
    by_grader: dict[str, list[int]] = {}
    for planned, key in wanted:
        record = backend.run(AgentRequest(key=key, case=planned.case))
        if not record.outcome.is_gradable:
            continue
        for poll in polls(Graded(planned.case, record, planned.plan.two_arms)):
            count = judge.missing(record.votes, poll)
            if count:
                lacking.append((poll, count))
                name = f"{planned.case.id}, grader {shown(poll.grader)}"
                by_grader.setdefault(name, []).append(count)
    votes = sum(count for _, count in lacking)
    if not votes:
        return Missing(0, ())
    named = [
        f"{name}: {plural(sum(counts), 'vote')} of {plural(len(counts), 'run')}"
        for name, counts in by_grader.items()
    ]
    more = [f"and {len(named) - NAMED} more graders"] if len(named) > NAMED else []
    line = f"{plural(votes, 'vote')} not recorded, {_what_then(judge, lacking)}"
    return Missing(votes, (line, *(f"  {one}" for one in (*named[:NAMED], *more))))


def _what_then(judge: Judge, lacking: list[tuple[Poll, int]]) -> str:
    reason = judge.forbidden or judge.ceiling_reached()
    if reason is not None:
        return f"and none is asked for: {reason}"
    try:
        judge_words = judge.check()
        cost_usd = judge.estimate_usd(lacking)
    except JudgeError as error:
        return f"and there is no judge to ask: {error}"
    price = "an unknown price" if cost_usd is None else f"about ${cost_usd:.4f}"
    return f"to be asked for at {price} from {judge_words}"
