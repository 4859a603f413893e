"""The numbers of a case and of a suite, computed from graded runs."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_plugin_eval.records.model import Arm, Ending
from pytest_plugin_eval.scoring.model import (
    CaseInfo,
    CaseResult,
    Plan,
    RunReport,
    SuiteInfo,
    SuiteResult,
)
from pytest_plugin_eval.scoring.runs import mean, meets_threshold, total

__all__ = ["case_result", "suite_result"]

Runs = tuple[RunReport, ...]


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
    misses_delta = min_delta is not None and (delta is None or delta < min_delta)
    return CaseResult(
        info=info,
        with_runs=with_runs,
        without_runs=without_runs,
        score=score,
        pass_rate=_pass_rate(with_runs),
        score_without=score_without if comparable else None,
        pass_rate_without=_pass_rate(without_runs),
        delta=delta,
        passed=(
            score is not None
            and meets_threshold(score, threshold)
            and _all_measured(with_runs, expected.with_runs)
            and _all_measured(without_runs, expected.without_runs)
            and not misses_delta
        ),
        withheld=withheld,
        missed_delta=min_delta if misses_delta else None,
    )


def suite_result(
    info: SuiteInfo,
    cases: Iterable[CaseResult],
    *,
    partial_reason: str | None,
    load_errors: tuple[str, ...] = (),
) -> SuiteResult:
    """Return the numbers of one suite. Spec: behaviour-evals, 5.4.

    *partial_reason* is what stopped the session, the weightiest of several (``interrupted``,
    ``auth_failed``, ``cost_ceiling``); without one, a run that was not measured gives
    ``not_measured``.
    """
    listed = [case for case in cases if case.with_runs or case.without_runs]
    listed.sort(key=lambda case: case.info.id)
    runs = [run for case in listed for run in case.runs]
    if partial_reason is None and not all(run.measured for run in runs):
        partial_reason = "not_measured"
    return SuiteResult(
        info=info,
        cases=tuple(listed),
        cases_passed=sum(case.passed for case in listed),
        overall_score=mean(case.score for case in listed if case.score is not None),
        overall_pass_rate=mean(case.pass_rate for case in listed if case.pass_rate is not None),
        mean_delta=mean(case.delta for case in listed if case.delta is not None),
        cost_usd=runs_cost(runs),
        partial_reason=partial_reason,
        load_errors=load_errors,
    )


def run_cost(run: RunReport) -> float | None:
    """Return the cost of a run, judge included, in US dollars; ``None`` when it is unknown."""
    if run.outcome.cost_usd is None:
        return None
    return run.outcome.cost_usd + run.judge_cost_usd


def runs_cost(runs: Iterable[RunReport]) -> float | None:
    """Return what several runs cost together; ``None`` when the cost of one is unknown."""
    costs = [run_cost(run) for run in runs]
    known = [cost for cost in costs if cost is not None]
    return total(known) if len(known) == len(costs) else None


def _mean_score(runs: Runs) -> float | None:
    return mean(run.score for run in runs if run.score is not None)


def _pass_rate(runs: Runs) -> float | None:
    return mean(float(run.passed) for run in runs if run.measured)


def _difference(score: float | None, score_without: float | None) -> float | None:
    if score is None or score_without is None:
        return None
    return score - score_without


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
    lost = sum(not run.measured for run in with_runs), sum(not run.measured for run in without_runs)
    if all(lost):
        if all(not run.measured for run in (*with_runs, *without_runs)):
            return "no run was measured"
        if lost[0] == len(with_runs):
            return "no with-run was measured"
        if lost[1] == len(without_runs):
            return "no without-run was measured"
        return None
    if any(lost):
        count, arm, runs = (
            (lost[0], "with", with_runs) if lost[0] else (lost[1], "without", without_runs)
        )
        return f"asymmetric loss: {count} of {len(runs)} {arm}-runs not measured"
    return None
