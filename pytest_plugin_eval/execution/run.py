"""One run from request to graded report."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pytest_plugin_eval.agents.base import AgentBackend, AgentRequest
from pytest_plugin_eval.execution.planning import PlannedCase
from pytest_plugin_eval.graders.base import GradingContext
from pytest_plugin_eval.graders.grade import Graded, grade_all
from pytest_plugin_eval.records.model import Ending, RunKey, RunOutcome, RunRecord
from pytest_plugin_eval.records.trace import Trace
from pytest_plugin_eval.scoring.model import RunReport, Verdict
from pytest_plugin_eval.scoring.runs import run_report
from pytest_plugin_eval.settings import Mode, Settings
from pytest_plugin_eval.spending.ledger import Ledger

__all__ = ["Made", "RunMaker"]

REPLY_LENGTH = 2000


class Made(NamedTuple):
    """A run that was made or loaded, to be graded."""

    planned: PlannedCase
    record: RunRecord
    path: str
    """Where a reader finds the record."""
    results_dir: str


class RunMaker:
    """Makes and grades the runs of one process; safe to use from several threads."""

    def __init__(
        self,
        settings: Settings,
        backend: AgentBackend,
        ledger: Ledger,
        hidden: tuple[Path, ...] = (),
    ) -> None:
        """Make runs with *backend*, hiding the directories *hidden* from the agent."""
        self._settings = settings
        self._hidden = hidden
        self._backend = backend
        self._ledger = ledger
        self._context = GradingContext(
            timeout_s=settings.grader_timeout_s, free_only=settings.free_only
        )
        self._lock = threading.Lock()
        # By suite root and case id: two plugins may have a case of the same id.
        self._blocked: dict[tuple[Path, str], str] = {}
        self._first_ending: Ending | None = None
        self._stopped: str | None = None

    def record(self, planned: PlannedCase, key: RunKey) -> RunRecord:
        """Return the record of a run, made now unless something forbids it."""
        reason = self._forbidden(planned, key)
        if reason is not None:
            return _not_started(key, reason)
        request = AgentRequest(
            key=key,
            case=planned.case,
            model=self._settings.model or planned.case.model,
            allow_tools=self._settings.allow_tools,
            disallow_tools=self._settings.disallow_tools,
            keep=self._settings.keep_temp,
            run_root=self._settings.run_root,
            hidden=self._hidden,
        )
        record = self._backend.run(request)
        if self._settings.mode is not Mode.REPLAY:  # a replayed run was paid for earlier
            self._note(planned, record)
        return record

    def reports(self, runs: Sequence[Made]) -> list[RunReport]:
        """Grade runs, those of several cases together."""
        graded = iter(
            grade_all(
                [
                    Graded(planned.case, record, planned.plan.two_arms)
                    for planned, record, _, _ in runs
                    if record.outcome.is_measured
                ],
                context=self._context,
            )
        )
        return [
            _report(run, verdicts=next(graded) if run.record.outcome.is_measured else ())
            for run in runs
        ]

    def stop(self, reason: str) -> None:
        """Start no further run and end those in flight."""
        self._stopped = reason
        self._backend.stop()

    def close(self) -> tuple[str, ...]:
        """Clean up after the last run; return lines about what could not be removed."""
        return self._backend.close()

    def _forbidden(self, planned: PlannedCase, key: RunKey) -> str | None:
        if self._stopped is not None:
            return self._stopped
        if not self._ledger.may_start():
            return (
                f"cost ceiling ${self._ledger.ceiling_usd:g} reached, "
                f"${self._ledger.spent_usd:.2f} spent"
            )
        with self._lock:
            return self._blocked.get((planned.case.root, key.case))

    def _note(self, planned: PlannedCase, record: RunRecord) -> None:
        outcome = record.outcome
        self._ledger.add(outcome.cost_usd)
        with self._lock:
            if self._first_ending is None:
                self._first_ending = outcome.ending
                if outcome.ending is Ending.CREDENTIAL_REFUSED:
                    # Every further run would fail the same way (spec: 6.2).
                    self._stopped = "the credential was refused in the first run"
            if outcome.ending is Ending.NOT_LOADED:
                place = (planned.case.root, record.key.case)
                self._blocked[place] = f"not started: {outcome.error}"


def _report(run: Made, *, verdicts: tuple[Verdict, ...]) -> RunReport:
    record = run.record
    report = run_report(
        key=record.key,
        case=run.planned.info,
        outcome=record.outcome,
        verdicts=verdicts,
        record_path=run.path,
        provenance=record.provenance,
        last_message="",
    )
    # It explains failures; replies of runs that passed would only be kept.
    reply = "" if report.passed else record.trace.last_message[-REPLY_LENGTH:]
    return replace(report, results_dir=run.results_dir, notes=record.notes, last_message=reply)


def _not_started(key: RunKey, reason: str) -> RunRecord:
    return RunRecord(
        key=key,
        outcome=RunOutcome(ending=Ending.NOT_STARTED, error=reason),
        trace=Trace(),
    )
