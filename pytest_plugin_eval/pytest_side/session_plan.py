"""The plan of a session: which runs were selected, and what they would cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_plugin_eval.pytest_side.progress import CaseProgress
    from pytest_plugin_eval.reports.plan import CasePlan

__all__ = ["selected_plans", "session_plan_lines"]


def selected_plans(
    plans: Iterable[CasePlan], cases: Mapping[str, CaseProgress]
) -> Iterator[CasePlan]:
    """Yield the plans of those runs that are selected; *cases* is by node id."""
    for plan in plans:
        progress = cases.get(plan.nodeid)
        if progress is not None:
            without = sum("[without-" in nodeid for nodeid in progress.expected)
            runs = len(progress.expected) - without
            yield replace(plan, with_runs=runs, without_runs=without)


def session_plan_lines(plans: Sequence[CasePlan], *, replay: bool) -> list[str]:
    """Return a line for each plan, the sums, and what earlier results say of the price."""
    if not plans:
        return []
    from pytest_plugin_eval.reports.plan import plan_lines
    from pytest_plugin_eval.storage.cost_history import earlier_costs

    bases = {plan.results_base for plan in plans}
    costs = {base: found for base in bases if (found := earlier_costs(Path(base)))}
    return plan_lines(plans, costs, replay=replay)
