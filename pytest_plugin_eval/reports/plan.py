"""What a session would do and cost, as ``--collect-only`` prints it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_plugin_eval.text import dollars, plural

if TYPE_CHECKING:
    from pytest_plugin_eval.storage.cost_history import CostRange

__all__ = ["CasePlan", "plan_lines"]


_VOTES_COST = (
    "only judge calls whose votes are not recorded cost anything; --eval-max-cost-usd 0 lists them"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CasePlan:
    """One collected case: what would be run of it."""

    nodeid: str
    root: str
    case: str
    """Case id."""
    with_runs: int
    without_runs: int
    with_votes: int
    """Judge calls that each of the runs with the plugin would make."""
    without_votes: int
    results_base: str
    """Where earlier results of the suite lie."""
    skipped: bool = False
    """Whether an option leaves the case out."""
    plugins: tuple[str, ...] = ()
    """Paths of the plugins under test."""


def plan_lines(
    plans: Sequence[CasePlan], costs: Mapping[str, CostRange], *, replay: bool
) -> list[str]:
    """Return the plan: a line a case, the sum, and what earlier results say about the price.

    *costs* is by `CasePlan.results_base`; a suite without earlier results is left out of it.
    """
    lines = [_case_line(plan) for plan in plans]
    made = [plan for plan in plans if not plan.skipped]
    runs, votes = sum(map(_runs, made)), sum(map(_votes, made))
    lines.append(
        f"{plural(len(made), 'case')}, {plural(runs, 'run')}, {plural(votes, 'judge call')}"
    )
    if replay:
        lines.append(f"replayed from records: {_VOTES_COST if votes else 'no cost'}")
    else:
        lines.extend(_price(made, costs))
    return lines


def _case_line(plan: CasePlan) -> str:
    if plan.skipped:
        return f"{plan.nodeid}: left out (--eval-free-only: no scored free grader)"
    arms = f"{plan.with_runs} with"
    if plan.without_runs:
        arms += f" + {plan.without_runs} without"
    votes = plural(_votes(plan), "judge call")
    return f"{plan.nodeid}: {plural(_runs(plan), 'run')} ({arms}), {votes}"


def _price(made: Iterable[CasePlan], costs: Mapping[str, CostRange]) -> Iterable[str]:
    by_base: dict[str, int] = {}
    for plan in made:
        by_base[plan.results_base] = by_base.get(plan.results_base, 0) + _runs(plan)
    known = {base: runs for base, runs in by_base.items() if base in costs}
    if not known:
        if by_base:
            yield "cost: unknown, there are no earlier results of this suite"
        return
    low = sum(runs * costs[base].low_usd for base, runs in known.items())
    high = sum(runs * costs[base].high_usd for base, runs in known.items())
    seen = sum(costs[base].runs for base in known)
    rest = sum(by_base.values()) - sum(known.values())
    more = f", and {plural(rest, 'run')} of unknown cost" if rest else ""
    yield f"cost: {dollars(low)} to {dollars(high)} by {plural(seen, 'earlier run')}{more}"


def _votes(plan: CasePlan) -> int:
    return plan.with_votes * plan.with_runs + plan.without_votes * plan.without_runs


def _runs(plan: CasePlan) -> int:
    return plan.with_runs + plan.without_runs
