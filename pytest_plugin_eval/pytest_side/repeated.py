"""What counts of a run that another plugin has had repeated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_plugin_eval.scoring.model import RunReport

__all__ = ["with_cost_of"]


def with_cost_of(run: RunReport, earlier: RunReport) -> RunReport:
    """Return a repeated run with what its earlier attempts cost."""
    from pytest_plugin_eval.scoring.costs import costs_of

    attempts = run.outcome.attempts + earlier.outcome.attempts
    outcome = run.outcome.with_cost(earlier.outcome.cost_usd, earlier.outcome.known_usd)
    judged = (run.judge_cost_usd, earlier.judge_cost_usd)
    return replace(
        run,
        outcome=replace(outcome, attempts=attempts),
        judge_cost_usd=None if None in judged else sum(cost for cost in judged if cost is not None),
        judge_known_usd=costs_of((run, earlier)).judge.known_usd,
        spent_usd=run.spent_usd + earlier.spent_usd,
    )
