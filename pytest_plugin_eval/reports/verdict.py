"""What one suite comes to: its exit status, and why, in the words of the session's last line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytest_plugin_eval.reports.last_word import Ended, last_word
from pytest_plugin_eval.scoring.model import SuiteResult

__all__ = ["Conclusion", "Standing", "conclusion"]

_STOPPED = frozenset({"interrupted", "auth_failed", "cost_ceiling"})


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

    *further* are composite scores below the smallest one asked for, a sentence each. With
    *report_only* no score fails anything.
    """
    status = _status(suite, report_only=report_only, further=further)
    ended = Ended(
        status=status,
        cases=suite.cases,
        threshold=suite.info.threshold,
        min_delta=suite.info.min_delta,
        report_only=report_only,
        partial_reason=suite.partial_reason,
        broken=len(suite.load_errors),
        quality=tuple(further),
    )
    standing = {0: Standing.PASSED, 1: Standing.FAILED}.get(status, Standing.INCOMPLETE)
    text = last_word(ended).removeprefix(f"exit status {status}: ")
    return Conclusion(status=status, standing=standing, text=text)


def _status(suite: SuiteResult, *, report_only: bool, further: Sequence[str]) -> int:
    runs = [run for case in suite.cases for run in case.runs]
    if suite.partial_reason in _STOPPED:
        return 2
    if suite.load_errors or suite.partial_reason or not all(run.measured for run in runs):
        return 1
    if not report_only and (further or not all(case.passed for case in suite.cases)):
        return 1
    return 0 if suite.cases else 5
