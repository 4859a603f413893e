"""The numbers of a case and of a suite, computed from graded runs."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_plugin_eval.records.model import Arm, Ending
from pytest_plugin_eval.scoring.costs import runs_cost
from pytest_plugin_eval.scoring.model import (
    CaseInfo,
    CaseResult,
    Plan,
    RunReport,
    SuiteInfo,
    SuiteResult,
    VerdictStatus,
)
from pytest_plugin_eval.scoring.runs import mean, meets_threshold

__all__ = ["PARTIAL_REASONS", "case_result", "is_skipped_at_ceiling", "suite_result"]

Runs = tuple[RunReport, ...]

PARTIAL_REASONS = ("interrupted", "auth_failed", "cost_ceiling", "not_measured")
"""Why results may be incomplete, the weightiest first (decisions, 11)."""


def case_result(
    info: CaseInfo,
    runs: Iterable[RunReport],
    *,
    threshold: float,
    min_delta: float | None = None,
    expected: Plan | None = None,
) -> CaseResult:
    """Return the numbers of one case. Spec: behaviour-evals, 5.3; deviations, D1.

    *runs* holds at most one report a key, in any order; runs that were never started are left out.
    *expected* is what the session selected, when that is less than the case's plan: the case passes
    only when all of it was measured. With *min_delta* a case whose Δ is below it, or not known,
    does not pass.
    """
    expected = expected or info.plan
    started = [run for run in runs if run.outcome.ending is not Ending.NOT_STARTED]
    started.sort(key=lambda run: run.key)
    with_runs = tuple(run for run in started if run.key.arm is Arm.WITH)
    without_runs = tuple(run for run in started if run.key.arm is Arm.WITHOUT)
    score, score_without = _mean_score(with_runs), _mean_score(without_runs)
    withheld = _withheld(with_runs, without_runs, expected) if info.plan.two_arms else None
    comparable = info.plan.two_arms and withheld is None
    delta = _difference(score, score_without) if comparable else None
    missed_delta = _missed(delta, min_delta)
    is_complete = _all_measured(with_runs, expected.with_runs) and _all_measured(
        without_runs, expected.without_runs
    )
    reaches = score is not None and meets_threshold(score, threshold)
    return CaseResult(
        info=info,
        with_runs=with_runs,
        without_runs=without_runs,
        score=score,
        pass_rate=_pass_rate(with_runs),
        score_without=score_without if comparable else None,
        pass_rate_without=_pass_rate(without_runs),
        delta=delta,
        passed=reaches and is_complete and missed_delta is None,
        withheld=withheld,
        missed_delta=missed_delta,
    )


def suite_result(
    info: SuiteInfo,
    cases: Iterable[CaseResult],
    *,
    partial_reason: str | None,
    load_errors: tuple[str, ...] = (),
) -> SuiteResult:
    """Return the numbers of one suite. Spec: behaviour-evals, 5.4.

    *partial_reason* is what stopped the session, one of `PARTIAL_REASONS`. The runs may give a
    reason of their own; the weightiest counts.
    """
    listed = [case for case in cases if case.with_runs or case.without_runs]
    listed.sort(key=lambda case: case.info.id)
    runs = [run for case in listed for run in case.runs]
    return SuiteResult(
        info=info,
        cases=tuple(listed),
        cases_passed=sum(case.passed for case in listed),
        overall_score=mean(case.score for case in listed if case.score is not None),
        overall_pass_rate=mean(case.pass_rate for case in listed if case.pass_rate is not None),
        mean_delta=mean(case.delta for case in listed if case.delta is not None),
        cost_usd=runs_cost(runs).usd,
        partial_reason=_partial_reason(runs, partial_reason),
        load_errors=load_errors,
    )


def is_skipped_at_ceiling(run: RunReport) -> bool:
    """Return whether the cost ceiling kept the judge of a scored grader from being asked.

    It was reached, or the price of the judge is unknown. Graders that ``--eval-free-only`` leaves
    out are not scored. Spec: deviations, D4.
    """
    return any(v.scored and v.status is VerdictStatus.SKIPPED for v in run.verdicts)


def _partial_reason(runs: Iterable[RunReport], stopped: str | None) -> str | None:
    found = {stopped} if stopped is not None else set()
    for run in runs:
        if not run.measured:
            found.add("cost_ceiling" if is_skipped_at_ceiling(run) else "not_measured")
    return min(found, key=PARTIAL_REASONS.index, default=None)


def _mean_score(runs: Runs) -> float | None:
    return mean(run.score for run in runs if run.score is not None)


def _pass_rate(runs: Runs) -> float | None:
    return mean(float(run.passed) for run in runs if run.measured)


def _difference(score: float | None, score_without: float | None) -> float | None:
    if score is None or score_without is None:
        return None
    return score - score_without


def _missed(delta: float | None, least: float | None) -> float | None:
    """Return the least Δ that was asked for where it was not reached, or is not known."""
    return least if least is not None and (delta is None or delta < least) else None


def _all_measured(runs: Runs, expected: int) -> bool:
    return len(runs) >= expected and all(run.measured for run in runs)


def _withheld(with_runs: Runs, without_runs: Runs, expected: Plan) -> str | None:
    """Return why the arms of a case planned in both cannot be compared, or ``None`` when they can.

    Unequal numbers of runs alone do not matter (spec: behaviour-evals, 5.3.1).
    """
    for runs, selected, arm in (
        (with_runs, expected.with_runs, "with"),
        (without_runs, expected.without_runs, "without"),
    ):
        if not runs:
            return f"no {arm}-run was made" if selected else f"no {arm}-run was selected"
    lost_with, lost_without = _lost(with_runs), _lost(without_runs)
    if len(lost_with) == len(with_runs) and len(lost_without) == len(without_runs):
        return "no run was measured"
    if not lost_with or not lost_without:
        return _asymmetric(with_runs, lost_with) or _asymmetric(without_runs, lost_without)
    if len(lost_with) == len(with_runs):
        return "no with-run was measured"
    if len(lost_without) == len(without_runs):
        return "no without-run was measured"
    # Judges that only one arm had to do without outweigh losses in both (spec: 5.3.1).
    skipped_with, skipped_without = _skipped(lost_with), _skipped(lost_without)
    if skipped_with and skipped_without:
        return None
    return _asymmetric(with_runs, skipped_with) or _asymmetric(without_runs, skipped_without)


def _asymmetric(runs: Runs, lost: Runs) -> str | None:
    """Return what the arm of *runs* alone has lost; ``None`` when that is nothing."""
    if not lost:
        return None
    share = f"{len(lost)} of {len(runs)} {lost[0].key.arm.value}-runs"
    if len(_skipped(lost)) == len(lost):
        return f"asymmetric loss: {share} not judged under the cost ceiling"
    return f"asymmetric loss: {share} not measured"


def _lost(runs: Runs) -> Runs:
    return tuple(run for run in runs if not run.measured)


def _skipped(runs: Runs) -> Runs:
    return tuple(run for run in runs if is_skipped_at_ceiling(run))
