"""Why a session ended with the exit status that it has, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_plugin_eval.scoring.model import SuiteResult
from pytest_plugin_eval.text import decimals, plural

__all__ = ["Conclusion", "Standing", "conclusion"]

NAMED_CASES = 5
_STOPPED = {
    "interrupted": "the session was interrupted",
    "auth_failed": "the credentials were refused",
    "cost_ceiling": "the cost ceiling was reached",
}


class Standing(StrEnum):
    """What a suite came to."""

    PASSED = "passed"
    FAILED = "failed"
    INCOMPLETE = "incomplete"
    """Stopped before everything was measured; says nothing against the plugin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """A suite's exit status and what it is owed to."""

    status: int
    standing: Standing
    text: str


def conclusion(
    suite: SuiteResult, *, report_only: bool = False, further: Sequence[str] = ()
) -> Conclusion:
    """Return what the suite comes to by itself; decisions, 11.

    *further* are other reasons to fail, such as a composite score below the smallest one asked for.
    With *report_only* no score fails anything.
    """
    stopped = _STOPPED.get(suite.partial_reason or "")
    reasons = [*_problems(suite)]
    scores = [*_missed(suite), *further]
    if not report_only:
        reasons += scores
    if stopped is not None:
        return _concluded(2, Standing.INCOMPLETE, [stopped, *reasons])
    if reasons:
        return _concluded(1, Standing.FAILED, reasons)
    if not suite.cases:
        return _concluded(5, Standing.INCOMPLETE, ["no case was run"])
    if scores:
        return _concluded(0, Standing.PASSED, ["scores are only reported", *scores])
    return _concluded(0, Standing.PASSED, [_praise(suite)])


def _concluded(status: int, standing: Standing, reasons: Sequence[str]) -> Conclusion:
    return Conclusion(status=status, standing=standing, text="; ".join(reasons))


def _problems(suite: SuiteResult) -> Iterator[str]:
    if suite.load_errors:
        yield plural(len(suite.load_errors), "load error")
    runs = [run for case in suite.cases for run in case.runs]
    lost = sum(not run.measured for run in runs)
    if lost:
        were = "was" if lost == 1 else "were"
        yield f"{lost} of {plural(len(runs), 'run')} {were} not measured"
    elif suite.partial_reason == "not_measured":
        yield "not every planned run was made"


def _missed(suite: SuiteResult) -> Iterator[str]:
    missed = [case.info.name for case in suite.cases if not case.passed]
    if missed:
        named = ", ".join(missed[:NAMED_CASES])
        more = f" and {len(missed) - NAMED_CASES} more" if len(missed) > NAMED_CASES else ""
        yield f"{len(missed)} of {plural(len(suite.cases), 'case')} did not pass: {named}{more}"


def _praise(suite: SuiteResult) -> str:
    count, threshold = len(suite.cases), decimals(suite.info.threshold)
    who = "the one case" if count == 1 else f"all {count} cases"
    text = f"{who} reached the threshold of {threshold}"
    if suite.info.min_delta is not None:
        text += f" and a Δ of {suite.info.min_delta:g}"
    return text
