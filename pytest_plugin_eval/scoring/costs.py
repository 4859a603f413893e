"""What runs cost: sums in which what is unknown stays unknown instead of counting as 0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pytest_plugin_eval.records.model import Arm
from pytest_plugin_eval.scoring.model import RunReport
from pytest_plugin_eval.scoring.runs import total

__all__ = ["Cost", "Costs", "costs_of", "is_judged", "run_cost", "runs_cost"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """A sum of list prices in US dollars, of which a part may be unknown."""

    known_usd: float = 0.0
    """The sum of all that is known."""
    unknown_runs: int = 0
    """Runs of which something is not known."""

    @property
    def usd(self) -> float | None:
        """The whole sum; ``None`` when a part of it is unknown."""
        return None if self.unknown_runs else self.known_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What several runs cost, divided twice: by arm, and into agent and judge."""

    total: Cost
    with_arm: Cost
    without_arm: Cost
    agent: Cost
    judge: Cost


class _Part(NamedTuple):
    """What one of those who were paid for a run got."""

    known_usd: float
    is_whole: bool
    """Whether nothing more than that was paid."""


def costs_of(runs: Iterable[RunReport]) -> Costs:
    """Return the costs of *runs*, all attempts at each of them included."""
    listed = tuple(runs)
    return Costs(
        total=_whole(listed),
        with_arm=_whole([run for run in listed if run.key.arm is Arm.WITH]),
        without_arm=_whole([run for run in listed if run.key.arm is Arm.WITHOUT]),
        agent=_sum((_agent(run),) for run in listed),
        judge=_sum((_judge(run),) for run in listed),
    )


def run_cost(run: RunReport) -> float | None:
    """Return the cost of a run, judge included, in US dollars; ``None`` when it is unknown."""
    return _whole([run]).usd


def runs_cost(runs: Iterable[RunReport]) -> Cost:
    """Return what several runs cost together, judge included."""
    return _whole(tuple(runs))


def is_judged(run: RunReport) -> bool:
    """Return whether a judge voted on the run, or was paid for it."""
    return run.judge_cost_usd != 0 or any(v.votes is not None for v in run.verdicts)


def _whole(runs: Sequence[RunReport]) -> Cost:
    return _sum((_agent(run), _judge(run)) for run in runs)


def _agent(run: RunReport) -> _Part:
    return _Part(run.outcome.known_usd, is_whole=run.outcome.cost_usd is not None)


def _judge(run: RunReport) -> _Part:
    if run.judge_cost_usd is None:
        return _Part(run.judge_known_usd, is_whole=False)
    return _Part(run.judge_cost_usd, is_whole=True)


def _sum(runs: Iterable[tuple[_Part, ...]]) -> Cost:
    """Return the sum of the parts that each of several runs is made of."""
    listed = tuple(runs)
    return Cost(
        known_usd=total(total(part.known_usd for part in parts) for parts in listed),
        unknown_runs=sum(not all(part.is_whole for part in parts) for parts in listed),
    )
