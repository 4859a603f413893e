"""What a single try of a new case says about the case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_plugin_eval.records.model import Arm
from pytest_plugin_eval.scoring.model import CaseResult, RunReport, Verdict, VerdictStatus
from pytest_plugin_eval.text import cut, decimals, one_line, shown

__all__ = ["remarks"]

SHOWN = 200


def remarks(case: CaseResult, *, should_trigger: bool) -> tuple[str, ...]:
    """Return what an author should look at, a line each; empty when nothing is remarkable.

    One run an arm is no measurement: a grader that passed in both may fail tomorrow.
    """
    return tuple(_remarks(case, should_trigger=should_trigger))


def _remarks(case: CaseResult, *, should_trigger: bool) -> Iterator[str]:
    lost = [run for run in case.runs if not run.measured]
    for run in lost:
        reason = run.unmeasured_reason or run.outcome.error or "for an unknown reason"
        yield f"{_arm(run)} run not measured: {cut(one_line(reason), SHOWN)}"
    yield from (f"grader that cannot pass: {text}" for text in case.info.advisories)
    yield from (f"hint: {text}" for text in case.info.hints)
    for verdict in _verdicts(case.with_runs):
        if verdict.status in (VerdictStatus.FAILED, VerdictStatus.ERRORED):
            said = cut(one_line(verdict.explanation), SHOWN)
            yield f"grader {shown(verdict.grader)} {verdict.status.value}: {said}"
    if should_trigger:
        yield from _without(case)


def _without(case: CaseResult) -> Iterator[str]:
    """Yield what is as good without the plugin; of a case that is to stay out all should be."""
    with_, without = _passed(case.with_runs), _passed(case.without_runs)
    for name in with_:
        if name in without:
            yield f"grader {shown(name)} passes without the plugin too, and tells nothing here"
    if case.delta is not None and case.delta <= 0:
        score, other = case.score or 0.0, case.score_without or 0.0
        yield (f"without the plugin it is as good: WITH {decimals(score)}, W/OUT {decimals(other)}")


def _verdicts(runs: Sequence[RunReport]) -> Iterator[Verdict]:
    for run in runs:
        yield from run.verdicts


def _passed(runs: Sequence[RunReport]) -> dict[str, None]:
    """Return the scored graders that passed in every run of an arm."""
    found: dict[str, bool] = {}
    for verdict in _verdicts(runs):
        if verdict.scored:
            passed = verdict.status is VerdictStatus.PASSED
            found[verdict.grader] = found.get(verdict.grader, True) and passed
    return dict.fromkeys(name for name, passed in found.items() if passed)


def _arm(run: RunReport) -> str:
    return "WITH" if run.key.arm is Arm.WITH else "W/OUT"
