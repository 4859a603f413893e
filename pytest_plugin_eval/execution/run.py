"""One run from request to graded report."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pytest_plugin_eval.agents.base import AgentBackend, AgentRequest
from pytest_plugin_eval.agents.limits import slow_down_until
from pytest_plugin_eval.cases.case import Case
from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.execution.keeper import Keeper
from pytest_plugin_eval.execution.mocking import Mocking
from pytest_plugin_eval.execution.planning import PlannedCase
from pytest_plugin_eval.execution.resume import Resume, with_earlier
from pytest_plugin_eval.execution.retry import pause_before
from pytest_plugin_eval.execution.shared import Shared
from pytest_plugin_eval.graders.base import GradingContext
from pytest_plugin_eval.graders.grade import Graded, Grading, grade_all
from pytest_plugin_eval.judges.polling import Judge
from pytest_plugin_eval.records.model import Ending, RunKey, RunOutcome, RunRecord, Vote
from pytest_plugin_eval.records.trace import Trace
from pytest_plugin_eval.scoring.aggregate import is_skipped_at_ceiling
from pytest_plugin_eval.scoring.model import RunReport
from pytest_plugin_eval.scoring.runs import run_report
from pytest_plugin_eval.settings import Mode, Settings

__all__ = ["Made", "RunMaker"]

REPLY_LENGTH = 2000


class Made(NamedTuple):
    """A run that was made or loaded, to be graded."""

    planned: PlannedCase
    record: RunRecord
    path: str
    """Where a reader finds the record."""
    spent_usd: float
    """What this session paid for it, as far as it is known."""
    is_taken_over: bool = False
    """Whether an earlier session finished it (``--eval-resume``)."""
    is_at_ceiling: bool = False
    """Whether it was not started, or lost, because of the cost ceiling."""


class _Refusal(NamedTuple):
    """Why no attempt may be made."""

    reason: str
    is_at_ceiling: bool = False


class RunMaker:
    """Makes and grades the runs of one process; safe to use from several threads."""

    def __init__(
        self,
        settings: Settings,
        backend: AgentBackend,
        keeper: Keeper,
        *,
        shared: Shared,
        judge: Judge | None = None,
        mocking: Mocking | None = None,
        resume: Mapping[Path, Resume] | None = None,
    ) -> None:
        """Make runs with *backend* and keep them with *keeper*."""
        self._settings = settings
        self._backend = backend
        self._keeper = keeper
        self._shared = shared
        self._ledger = shared.ledger
        self._limiter = shared.limiter
        self._first_run = shared.first_run
        self._judge = judge
        self._mocking = mocking or Mocking(settings, None)
        self._resume = resume or {}
        self._context = GradingContext(
            timeout_s=settings.grader_timeout_s,
            free_only=settings.free_only,
            judge=judge,
            on_votes=self._keep_votes,
        )
        self._lock = threading.Lock()
        # By suite root and case id: two plugins may have a case of the same id.
        self._blocked: dict[tuple[Path, str], str] = {}
        self._unkept: dict[tuple[Path, RunKey], str] = {}
        self._made_now: set[tuple[Path, RunKey]] = set()
        self._stopped: str | None = None
        self._stop = threading.Event()

    def make(self, planned: PlannedCase, key: RunKey) -> Made:
        """Return a run, made now unless something forbids it, and keep its record."""
        if self._settings.mode is Mode.REPLAY:
            made = Made(planned, self._backend.run(self._request(planned, key)), "", 0.0)
        else:
            made = self._taken_over(planned, key) or self._made(planned, key)
        try:
            kept = (
                self._keeper.take_over(planned, made.record)
                if made.is_taken_over
                else self._keeper.keep(planned, made.record)
            )
        except OSError as error:  # it was paid for, so it is graded all the same
            note = f"the record could not be written: {error}"
            self._stopped = self._stopped or f"no further run: {note}"
            return made._replace(record=_noted(made.record, note))
        record = made.record if kept.note is None else _noted(made.record, kept.note)
        return made._replace(record=record, path=str(kept.path or ""))

    def reports(self, runs: Sequence[Made]) -> list[RunReport]:
        """Grade runs, those of several cases together."""
        measured = [run for run in runs if run.record.outcome.is_gradable]
        asked = [
            Graded(run.planned.case, run.record, run.planned.plan.two_arms) for run in measured
        ]
        graded = grade_all(asked, context=self._context)
        self._heed_refused_judge()
        gradings = iter(graded)
        return [
            self._report(run, next(gradings) if run.record.outcome.is_gradable else Grading(()))
            for run in runs
        ]

    def stop(self, reason: str) -> None:
        """Start no further run, ask no judge, and end what is in flight."""
        self._stopped = reason
        self._stop.set()
        if self._judge is not None:
            self._judge.stop()
        self._mocking.stop()
        self._backend.stop()

    def close(self) -> tuple[str, ...]:
        """Clean up after the last run; return lines about what could not be removed."""
        if self._judge is not None:
            self._judge.close()
        self._mocking.close()
        self._keeper.close()
        self._shared.close()
        return self._backend.close()

    def _left(self, planned: PlannedCase, key: RunKey) -> Resume | None:
        """Return where to look for what an earlier session left of a run.

        Of one that this session made, the record is its own: whoever asks again wants it repeated.
        """
        with self._lock:
            is_own = (planned.case.root, key) in self._made_now
        return None if is_own else self._resume.get(planned.case.root)

    def _taken_over(self, planned: PlannedCase, key: RunKey) -> Made | None:
        resume = self._left(planned, key)
        record = resume.finished(key) if resume is not None else None
        return None if record is None else Made(planned, record, "", 0.0, is_taken_over=True)

    def _made(self, planned: PlannedCase, key: RunKey) -> Made:
        """Make a run, and repeat it while it is not measured and that may help."""
        resume = self._left(planned, key)
        earlier = None if resume is None else resume.earlier(key)
        note = None if resume is None else resume.note(key)
        notes = [] if note is None else [note]
        spent_usd, attempt, record, is_at_ceiling = 0.0, 0, None, False
        while (refused := self._refusal(planned, key)) is None:
            record, is_at_ceiling = self._attempt(planned, key)
            attempt += 1
            spent_usd += record.outcome.known_usd
            earlier = with_earlier(record.outcome, earlier)
            record = replace(record, outcome=earlier)
            if is_at_ceiling or not self._is_repeated(planned, record, attempt):
                break
            notes.append(f"attempt {attempt} was not measured: {record.outcome.error}")
        if record is None:
            assert refused is not None
            return self._unmade(planned, key, refused)
        if refused is not None:
            notes.append(f"not repeated: {refused.reason}")
        record = _noted(record, *notes)
        return Made(planned, record, "", spent_usd, is_at_ceiling=is_at_ceiling)

    def _unmade(self, planned: PlannedCase, key: RunKey, refused: _Refusal) -> Made:
        """Return a run that was not started, or what an earlier session paid for in vain."""
        resume = self._left(planned, key)
        left = None if resume is None else resume.unmeasured(key)
        if left is None:
            record = _not_started(key, refused.reason)
            return Made(planned, record, "", 0.0, is_at_ceiling=refused.is_at_ceiling)
        record = _noted(left, f"not made again: {refused.reason}")
        return Made(
            planned, record, "", 0.0, is_taken_over=True, is_at_ceiling=refused.is_at_ceiling
        )

    def _attempt(self, planned: PlannedCase, key: RunKey) -> tuple[RunRecord, bool]:
        """Make a run once; tell also whether it was lost to the cost ceiling."""
        with self._ledger.call() as call:
            mocked = self._mocking.make(self._backend.run, self._request(planned, key))
            call.cost_usd = mocked.agent_cost_usd
        record = mocked.record
        if mocked.recordings:
            self._keeper.keep_answers(planned, mocked.recordings)
        with self._lock:
            self._made_now.add((planned.case.root, record.key))
        self._note(planned, record)
        self._heed_refused_judge()
        return record, mocked.is_at_ceiling

    def _is_repeated(self, planned: PlannedCase, record: RunRecord, attempt: int) -> bool:
        """Wait for the next attempt where there is to be one."""
        if attempt > self._settings.retries or self._stopped is not None:
            return False
        pause_s = pause_before(
            record,
            attempt,
            base_s=self._settings.retry_pause_s,
            now=time.time(),
            jitter=random.random,
        )
        if pause_s is None:
            return False
        # A session that is killed during the next attempt has paid for this one. Where it cannot
        # be written, that is told of the last attempt.
        with contextlib.suppress(OSError):
            self._keeper.keep(planned, record)
        return not self._stop.wait(pause_s)

    def _request(self, planned: PlannedCase, key: RunKey) -> AgentRequest:
        return AgentRequest(
            key=key,
            case=planned.case,
            model=self._settings.model or planned.case.model,
            allow_tools=self._settings.allow_tools,
            disallow_tools=self._settings.disallow_tools,
            scaffold=self._settings.scaffold,
            keep=self._settings.keep_temp,
            run_root=self._settings.run_root,
            hidden=self._keeper.hidden,
            slow_down=self._limiter.slow_down,
        )

    def _refusal(self, planned: PlannedCase, key: RunKey) -> _Refusal | None:
        """Return why no attempt may be made now; wait where the service asked for a pause."""
        with self._lock:
            blocked = self._blocked.get((planned.case.root, key.case))
        reason = (
            self._stopped
            or self._refused_at_first()
            or blocked
            or self._keeper.no_room(planned.case.root)
            or self._limiter.wait(self._stop)
            or self._stopped
        )
        if reason is not None:
            return _Refusal(reason)
        if self._ledger.may_start():
            return None
        # Without what was spent by now: it would make another reason of each run.
        text = f"cost ceiling ${self._ledger.ceiling_usd:g} reached"
        return _Refusal(text, is_at_ceiling=True)

    def _note(self, planned: PlannedCase, record: RunRecord) -> None:
        outcome = record.outcome
        self._limiter.slow_down(slow_down_until(record.trace, time.time()))
        self._first_run.note(outcome.ending)
        with self._lock:
            if outcome.ending is Ending.NOT_LOADED:
                place = (planned.case.root, record.key.case)
                self._blocked[place] = f"{outcome.error}"

    def _refused_at_first(self) -> str | None:
        """Return that every further run would fail the same way as the first (spec: 6.2)."""
        is_refused = self._first_run.ending is Ending.CREDENTIAL_REFUSED
        return "the credential was refused in the first run" if is_refused else None

    def _refused_judge(self) -> str | None:
        """Return what was said to the judge, or to the same model where it plays a server."""
        refused = None if self._judge is None else self._judge.refused_credential
        return refused or self._mocking.refused_credential

    def _heed_refused_judge(self) -> None:
        if (refused := self._refused_judge()) is not None:
            # Every further call would be refused the same way, after an agent run was paid for.
            self._stopped = self._stopped or f"the judge's credential was refused: {refused}"

    def _keep_votes(self, case: Case, key: RunKey, votes: tuple[Vote, ...]) -> None:
        try:
            self._keeper.add_votes(case.root, key, votes)
        except (OSError, RecordError) as error:
            with self._lock:
                self._unkept[case.root, key] = f"its votes could not be kept: {error}"

    def _report(self, run: Made, grading: Grading) -> RunReport:
        record = run.record
        report = run_report(
            key=record.key,
            case=run.planned.info,
            outcome=record.outcome,
            verdicts=grading.verdicts,
            record_path=run.path,
            provenance=record.provenance,
            last_message="",
            judge_cost_usd=grading.judge_cost_usd,
        )
        # It explains failures; replies of runs that passed would only be kept.
        reply = "" if report.passed else record.trace.last_message[-REPLY_LENGTH:]
        unkept = self._unkept.get((run.planned.case.root, record.key))
        votes_usd = sum(vote.cost_usd or 0.0 for vote in grading.votes)
        return replace(
            report,
            judge_known_usd=grading.judge_known_usd,
            results_dir=str(self._keeper.results_dir(run.planned.case.root)),
            mocks=None if record.mocks is None else record.mocks.fields,
            aborted=None if record.mocks is None else record.mocks.aborted,
            notes=record.notes if unkept is None else (*record.notes, unkept),
            last_message=reply,
            skills_called=None if report.passed else record.trace.skills_called,
            spent_usd=run.spent_usd + votes_usd + grading.lost_usd,
            is_judge_refused=self._refused_judge() is not None and not report.measured,
            is_taken_over=run.is_taken_over,
            is_at_ceiling=run.is_at_ceiling or is_skipped_at_ceiling(report),
        )


def _noted(record: RunRecord, *notes: str) -> RunRecord:
    return replace(record, notes=(*record.notes, *notes))


def _not_started(key: RunKey, reason: str) -> RunRecord:
    return RunRecord(
        key=key,
        outcome=RunOutcome(ending=Ending.NOT_STARTED, error=reason),
        trace=Trace(),
    )
