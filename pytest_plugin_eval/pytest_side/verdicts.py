"""The verdict of a case as pytest reports that belong to no item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pytest

from pytest_plugin_eval.pytest_side.ids import VERDICT, verdict_id
from pytest_plugin_eval.pytest_side.stash import settings_key, workbench_key
from pytest_plugin_eval.pytest_side.status import MISSED
from pytest_plugin_eval.records.model import Arm, Ending
from pytest_plugin_eval.reports.junit import verdict_properties
from pytest_plugin_eval.reports.table import verdict_text
from pytest_plugin_eval.scoring.aggregate import case_result
from pytest_plugin_eval.scoring.model import CaseResult, Plan
from pytest_plugin_eval.settings import Settings
from pytest_plugin_eval.text import one_line

if TYPE_CHECKING:
    from pytest_plugin_eval.pytest_side.progress import CaseProgress
    from pytest_plugin_eval.reports.next_steps import Caller

__all__ = ["Verdict", "session_verdict", "verdict_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One case's verdict, ready to be reported."""

    nodeid: str
    location: tuple[str, int, str]
    outcome: Literal["passed", "failed", "skipped"]
    text: str | None
    properties: tuple[tuple[str, str], ...] = ()
    missed: bool = False
    """Below the threshold, but only reported (``--eval-report-only``)."""

    @property
    def failed(self) -> bool:
        """Whether the verdict turns the session red."""
        return self.outcome == "failed"

    def report(self, when: Literal["setup", "call", "teardown"]) -> pytest.TestReport:
        """Return the report of one phase."""
        is_call = when == "call"
        longrepr: str | tuple[str, int, str] | None = None
        if is_call and self.text is not None:
            longrepr = self.text
            if self.outcome == "skipped":
                # JUnit asserts this form of a skip's reason.
                longrepr = (self.location[0], self.location[1] + 1, f"Skipped: {self.text}")
        report = pytest.TestReport(
            nodeid=self.nodeid,
            location=self.location,
            keywords={VERDICT: 1},
            outcome=self.outcome if is_call else "passed",
            longrepr=longrepr,
            when=when,
            user_properties=self.properties,
        )
        report.eval_verdict = {MISSED: self.missed}  # type: ignore[attr-defined]  # as pytest's own extras
        return report


def verdict_of(
    case: str,
    progress: CaseProgress,
    settings: Settings,
    *,
    ascii_only: bool = False,
    caller: Caller | None = None,
) -> Verdict | None:
    """Return the verdict of a case from the runs that came in, or ``None`` when not one did.

    With a *caller* its text tells what to try next.
    """
    if not progress.runs:
        return None
    result = result_of(progress, settings)
    nodeid = verdict_id(case)
    location = (case, 0, one_line(f"{result.info.name} {VERDICT}"))
    reason = _incomplete(progress, result)
    if reason is not None:
        return Verdict(nodeid=nodeid, location=location, outcome="skipped", text=reason)
    passed = result.passed
    text = None
    if not passed:
        plan = result.info.plan
        text = verdict_text(
            result,
            threshold=settings.threshold,
            selected=len(progress.expected),
            planned=plan.with_runs + plan.without_runs,
            ascii_only=ascii_only,
            caller=caller,
        )
    excused = not passed and settings.report_only and _all_measured(progress)
    return Verdict(
        nodeid=nodeid,
        location=location,
        outcome="passed" if passed or excused else "failed",
        text=None if passed or excused else text,
        properties=tuple(verdict_properties(result, threshold=settings.threshold)),
        missed=excused,
    )


def session_verdict(case: str, progress: CaseProgress, config: pytest.Config) -> Verdict | None:
    """Return the verdict of a case in a session, as the reader's terminal can show it."""
    from pytest_plugin_eval.pytest_side.caller import caller_of

    return verdict_of(
        case,
        progress,
        config.stash[settings_key],
        ascii_only=config.stash[workbench_key].ascii_only,
        caller=caller_of(config, case),
    )


def result_of(progress: CaseProgress, settings: Settings) -> CaseResult:
    """Return the numbers of a case from the runs that came in; there is at least one."""
    runs = tuple(progress.runs.values())
    info = runs[0].case
    selected = {arm: sum(f"[{arm.value}-" in nodeid for nodeid in progress.expected) for arm in Arm}
    expected = Plan(
        with_runs=selected[Arm.WITH],
        without_runs=selected[Arm.WITHOUT],
        two_arms=info.plan.two_arms,
    )
    return case_result(
        info,
        runs,
        threshold=settings.threshold,
        min_delta=settings.min_delta,
        expected=expected,
    )


def _incomplete(progress: CaseProgress, result: CaseResult) -> str | None:
    unfinished = (Ending.NOT_STARTED, Ending.INTERRUPTED)
    made = [run for run in progress.runs.values() if run.outcome.ending not in unfinished]
    if len(made) < len(progress.expected):
        return f"incomplete: {len(made)} of {len(progress.expected)} runs"
    if not result.with_runs:
        return "no run with the plugin was selected"
    return None


def _all_measured(progress: CaseProgress) -> bool:
    return all(run.measured for run in progress.runs.values())
