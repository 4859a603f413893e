"""How much of a difference between runs is the judge's, and how much the agent's.

Two ways to ask the same thing twice: the same record once more of the judge, and the same prompt
once more of the agent. Each gives pairs of verdicts that may disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from pytest_plugin_eval.cases.case import PAID_TYPES
from pytest_plugin_eval.records.model import Vote
from pytest_plugin_eval.scoring.model import CaseResult, RunReport, VerdictStatus
from pytest_plugin_eval.text import decimals, plural

__all__ = [
    "Noise",
    "Rate",
    "agent_noise",
    "disagreement",
    "judge_noise",
    "noise_lines",
    "noise_of",
    "split_votes",
]

_REACHED = (VerdictStatus.PASSED, VerdictStatus.FAILED)


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of so many."""

    count: int
    of: int

    @property
    def share(self) -> float | None:
        """The rate, 0 to 1; ``None`` of nothing."""
        return self.count / self.of if self.of else None

    def __add__(self, other: Rate) -> Rate:
        return Rate(self.count + other.count, self.of + other.of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """What disagrees with itself."""

    judge: Rate
    """Pairs of judgings of one record that came to different verdicts."""
    split: Rate
    """Judgings whose votes were not all alike."""
    agent_judged: Rate
    """Pairs of runs that differ in the verdict of a grader that asks the judge."""
    agent_all: Rate
    """Pairs of runs that differ in the verdict of any grader."""


def noise_of(cases: Iterable[CaseResult], votes: Iterable[Sequence[Vote]], *, needed: int) -> Noise:
    """Return the noise of graded cases and of the votes of each of their records.

    *needed* is the number of votes that make a verdict.
    """
    listed, judgings = tuple(cases), tuple(tuple(_judgings(one, needed)) for one in votes)
    return Noise(
        judge=_total(map(_between_judgings, judgings)),
        split=_total(map(_splits, judgings)),
        agent_judged=agent_noise(listed, judged_only=True),
        agent_all=agent_noise(listed, judged_only=False),
    )


def judge_noise(votes: Iterable[Sequence[Vote]], *, needed: int) -> Rate:
    """Return how many pairs of judgings of the same record and question disagree.

    A question that got J judgings by the same model, p of them passing, has J(J-1)/2 pairs, of
    which p(J-p) disagree; both are summed over questions and records. A judging with fewer votes
    than *needed* was broken off and does not count; of one with more, the first count.
    """
    return _total(_between_judgings(tuple(_judgings(one, needed))) for one in votes)


def split_votes(votes: Iterable[Sequence[Vote]], *, needed: int) -> Rate:
    """Return how many judgings have votes that are not all alike: the judge disagrees with itself.

    ``judgings with a PASS and a FAIL / judgings``; complete ones, as in `judge_noise`.
    """
    return _total(_splits(tuple(_judgings(one, needed))) for one in votes)


def agent_noise(cases: Iterable[CaseResult], *, judged_only: bool) -> Rate:
    """Return how many pairs of runs of the same case and arm disagree on a grader.

    A grader with n verdicts in an arm, p of them passing, has n(n-1)/2 pairs, of which p(n-p)
    disagree; both are summed over graders, arms and cases. Runs that were not measured have no
    part in it. The verdicts of one grading are compared, so that a judge's noise is in here too:
    the part that is the agent's own is what goes beyond `judge_noise`.
    """
    return _total(
        _arm_noise(runs, judged_only=judged_only)
        for case in cases
        for runs in (case.with_runs, case.without_runs)
    )


def disagreement(verdicts: Sequence[bool]) -> Rate:
    """Return how many of the pairs of *verdicts* disagree: p(n-p) of n(n-1)/2 for p passes."""
    count, passed = len(verdicts), sum(verdicts)
    return Rate(passed * (count - passed), count * (count - 1) // 2)


def noise_lines(noise: Noise) -> list[str]:
    """Return what is told of noise, n beside every rate."""
    rows = (
        ("judge noise (same record, judged again)", noise.judge, "pair", "of judgings disagree"),
        ("split votes", noise.split, "judging", "not unanimous"),
        (
            "agent noise (other run), judge's graders",
            noise.agent_judged,
            "pair",
            "of runs disagree",
        ),
        ("agent noise (other run), all graders", noise.agent_all, "pair", "of runs disagree"),
    )
    return [f"{name}: {_told(rate, noun, what)}" for name, rate, noun, what in rows]


def _told(rate: Rate, noun: str, what: str) -> str:
    if rate.share is None:
        return f"not known, 0 {noun}s to look at"
    return f"{decimals(100 * rate.share, 0)} %, {rate.count} of {plural(rate.of, noun)} {what}"


def _judgings(votes: Sequence[Vote], needed: int) -> Iterator[tuple[object, tuple[bool, ...]]]:
    """Yield the complete judgings of a record, each with the question it is an answer to.

    Another model is another judge: that it comes to something else is no noise of either.
    """
    ordered = sorted(votes, key=lambda vote: (*_asked(vote), vote.judging, vote.number))
    for key, group in groupby(ordered, key=lambda vote: (*_asked(vote), vote.judging)):
        answers = tuple(vote.passed for vote in group)[:needed]
        if len(answers) == needed:
            yield key[:-1], answers


def _asked(vote: Vote) -> tuple[str, str, str]:
    return vote.grader, vote.question, vote.asked_model


def _between_judgings(judgings: Sequence[tuple[object, tuple[bool, ...]]]) -> Rate:
    return _total(
        disagreement([2 * sum(answers) > len(answers) for _, answers in group])
        for _, group in groupby(judgings, key=lambda judging: judging[0])
    )


def _splits(judgings: Sequence[tuple[object, tuple[bool, ...]]]) -> Rate:
    return Rate(sum(len(set(answers)) > 1 for _, answers in judgings), len(judgings))


def _arm_noise(runs: Sequence[RunReport], *, judged_only: bool) -> Rate:
    by_grader: dict[str, list[bool]] = {}
    for run in runs:
        for verdict in run.verdicts if run.measured else ():
            if verdict.status in _REACHED and (verdict.type in PAID_TYPES or not judged_only):
                passed = verdict.status is VerdictStatus.PASSED
                by_grader.setdefault(verdict.grader, []).append(passed)
    return _total(map(disagreement, by_grader.values()))


def _total(rates: Iterable[Rate]) -> Rate:
    return sum(rates, Rate(0, 0))
