"""What the runs of a suite say of their judges, for every report alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_plugin_eval.cases.case import PAID_TYPES
from pytest_plugin_eval.scoring.aggregate import is_skipped_at_ceiling
from pytest_plugin_eval.scoring.model import RunReport, SuiteResult, Verdict, VerdictStatus

__all__ = ["judge_models", "runs_without_votes", "unreadable_votes"]


def judge_models(suite: SuiteResult) -> tuple[str, ...]:
    """Return the models that voted, in their own words, by code point."""
    models = {verdict.judge_model for verdict in _verdicts(suite)}
    return tuple(sorted(model for model in models if model is not None))


def unreadable_votes(suite: SuiteResult) -> int:
    """Return how many votes held neither PASS nor FAIL (deviations, D3)."""
    return sum(verdict.unreadable_votes for verdict in _verdicts(suite))


def runs_without_votes(runs: Iterable[RunReport]) -> tuple[RunReport, ...]:
    """Return the runs that lack nothing but a judge's votes: those need no agent to be graded."""
    return tuple(filter(_lacks_votes, runs))


def _lacks_votes(run: RunReport) -> bool:
    if run.measured or not run.outcome.is_gradable:
        return False
    missing = [v for v in run.verdicts if v.scored and v.status is VerdictStatus.ERRORED]
    return (bool(missing) or is_skipped_at_ceiling(run)) and all(
        verdict.type in PAID_TYPES for verdict in missing
    )


def _verdicts(suite: SuiteResult) -> Iterator[Verdict]:
    return (v for case in suite.cases for run in case.runs for v in run.verdicts)
