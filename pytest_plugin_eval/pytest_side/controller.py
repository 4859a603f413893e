"""The session object: gathers run reports, gives verdicts, stops the session."""

from __future__ import annotations

import re
import signal
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.pytest_side.ids import case_of, is_run_id
from pytest_plugin_eval.pytest_side.progress import CaseProgress
from pytest_plugin_eval.pytest_side.quality import SessionQuality
from pytest_plugin_eval.pytest_side.remote_results import RemoteResults
from pytest_plugin_eval.pytest_side.repeated import with_cost_of
from pytest_plugin_eval.pytest_side.session_place import SessionPlace
from pytest_plugin_eval.pytest_side.signals import SessionSignals
from pytest_plugin_eval.pytest_side.stash import collection_key, settings_key, workbench_key
from pytest_plugin_eval.settings import Mode

if TYPE_CHECKING:
    from pytest_plugin_eval.quality.model import QualityReport
    from pytest_plugin_eval.scoring.model import RunReport, SuiteResult

__all__ = ["EvalController"]

# Runs that fail alike from the start will go on failing alike (decisions, 12).
ALIKE = 3
_OWN_WORDS = re.compile(r"^grader '.*?' errored: |\b(?=\w*\d)\w{8,}\b")
"""Of one run alone, in what may be the same reason: the grader's name, ids of requests."""
REFUSED = "auth_failed"
ROUNDING_USD = 1e-9
"""Of the same sum in another order."""


class EvalController:
    """Knows every run of the session; lives in the controller, or in the only process."""

    def __init__(
        self, config: pytest.Config, session_id: str, session: pytest.Session | None = None
    ) -> None:
        """Take over *session*, if it has begun already."""
        self.session_id = session_id
        self.state = config.stash[collection_key]
        self.partial_reason: str | None = None
        self.signal: signal.Signals | None = None
        """The signal that ended the session, if one did."""
        self.place = SessionPlace()
        """Where the processes of a distributed session meet."""
        self.remote = RemoteResults(config)
        """Of workers that work in another directory or on another machine."""
        self.written: list[Path] = []
        self.unwritten: list[str] = []
        """Result files that could not be written, with the reason."""
        self.suites: tuple[SuiteResult, ...] = ()
        self.cases: dict[str, CaseProgress] = {}
        self.spent_usd = 0.0
        """Paid by this session as far as it is known; runs that were repeated count each time."""
        self.unreported_usd = 0.0
        """Paid besides, by the ledger, for what came to no report."""
        self.uncounted = 0
        """Finished calls whose cost is unknown."""
        self.reruns = 0
        self.cut_off = 0
        """Agent runs and judge calls that did not come to an end: what they cost is unknown."""
        self.has_dead_workers = False
        """Whether a worker died while it was wanted."""
        self.has_remote_workers = False
        """Whether a worker is on another machine."""
        self._config = config
        self._settings = config.stash[settings_key]
        self._started = datetime.now(UTC)
        self.scorer = SessionQuality(config, self)
        self._first: list[RunReport] = []
        self._session = session

    # Collecting

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Remember the session: verdicts count for it."""
        self._session = session

    @pytest.hookimpl(tryfirst=True)  # before pytest asks for the lines that follow the collection
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Learn which runs are expected; under xdist the workers tell."""
        self.expect(item.nodeid for item in session.items)

    def expect(self, ids: Iterable[str]) -> None:
        """Take in the ids of the selected runs."""
        for nodeid in ids:
            if is_run_id(nodeid):
                self.cases.setdefault(case_of(nodeid), CaseProgress()).expected.add(nodeid)

    def take_state(self, parcel: dict[str, object]) -> None:
        """Take over what a worker found while collecting; all workers find the same."""
        from pytest_plugin_eval.pytest_side.worker import received_state

        self.state = received_state(parcel)

    # Running

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Tolerate broken cases, and leave verdicts and files behind however the loop ends."""
        if self._only_cases_are_broken(session):
            session.config.option.continue_on_collection_errors = True
        has_runs = bool(self.cases) or self.is_distributed
        with SessionSignals() if has_runs else SessionSignals(names=()) as signals:
            try:
                outcome = yield
                self.scorer.ask()
                return outcome
            except (KeyboardInterrupt, pytest.exit.Exception) as error:
                # pytest and xdist stop sessions, for example after -x, by children of that class.
                if type(error) in (KeyboardInterrupt, pytest.exit.Exception):
                    self.note_partial("interrupted")
                    self.place.interrupt_workers()
                raise
            finally:
                signals.is_ending = True
                self.signal = signals.received
                self._finish()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None]:
        """Store a run, let all others see its report, and keep no more of it than they may ask."""
        self._take(report)
        yield
        payload = getattr(report, "eval_run", None)
        if payload is not None and "run" in payload:
            from pytest_plugin_eval.pytest_side.payload import essence

            report.eval_run = essence(payload)  # type: ignore[attr-defined]  # as pytest's extras

    def _take(self, report: pytest.TestReport) -> None:
        """Store a run's report and stop the session when nothing further is worth its money."""
        if not is_run_id(report.nodeid):
            return
        payload = getattr(report, "eval_run", None)
        if payload is not None:
            self._store(report.nodeid, payload)
        if report.failed:
            progress = self.cases.setdefault(case_of(report.nodeid), CaseProgress())
            progress.failed.add(report.nodeid)
        if report.when not in ("setup", "call", "teardown"):
            # xdist's own report of a run that took its worker down; no logfinish follows.
            self.pytest_runtest_logfinish(report.nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Give the verdict when that was the case's last run."""
        progress = self.cases.get(case_of(nodeid))
        if progress is None or nodeid not in progress.expected:
            return
        progress.finished.add(nodeid)
        if progress.finished == progress.expected:
            progress.finished = progress.expected  # one set of ids less to keep
            self._give_verdict(case_of(nodeid), progress)

    def _store(self, nodeid: str, payload: Mapping[str, object]) -> None:
        from pytest_plugin_eval.pytest_side.payload import codec_of

        self.remote.take(nodeid, payload)
        try:
            run = codec_of(self._config).decode(payload)
        except RecordError as error:
            self._stop(str(error), None)
            return
        progress = self.cases.setdefault(case_of(nodeid), CaseProgress())
        self.spent_usd += run.spent_usd
        earlier = progress.runs.get(run.key)
        progress.runs[run.key] = run if earlier is None else self._repeated(run, earlier)
        self._watch(run)

    def _repeated(self, run: RunReport, earlier: RunReport) -> RunReport:
        """Return what counts of a run that another plugin has had repeated."""
        from pytest_plugin_eval.records.model import Ending

        if run.outcome.ending is Ending.NOT_STARTED:
            return earlier  # as at a ceiling: what was made and paid for stays
        if self._settings.mode is Mode.REPLAY or run.is_taken_over:
            # Read once more and not made: its cost is the same one.
            return replace(run, spent_usd=run.spent_usd + earlier.spent_usd)
        self.reruns += 1
        return with_cost_of(run, earlier)

    def _watch(self, run: RunReport) -> None:
        from pytest_plugin_eval.records.model import Ending

        if run.is_at_ceiling:
            self.note_partial("cost_ceiling")
        if run.outcome.ending is Ending.NOT_STARTED:
            self.note_partial("not_measured")
            return
        is_made = self._settings.mode is not Mode.REPLAY and not run.is_taken_over
        if run.is_judge_refused:
            why = run.unmeasured_reason or run.outcome.error
            self._stop(f"the judge's credential was refused: {why}", REFUSED)
        if is_made and len(self._first) < ALIKE:
            self._first.append(run)
            self._watch_first()
        if is_made and run.outcome.ending is Ending.CREDENTIAL_REFUSED and self._began_refused():
            why = run.outcome.error
            self._stop(f"the credential was refused in the first run: {why}", REFUSED)
        self._watch_remote_workers()

    def _began_refused(self) -> bool:
        """Tell whether the first run was refused; its report need not be the first to arrive."""
        from pytest_plugin_eval.execution.shared import FirstRun
        from pytest_plugin_eval.records.model import Ending

        shared = self._config.stash[workbench_key].shared
        first = None if shared is None else shared.first_run
        if self.is_distributed:
            first = None if self.has_remote_workers else FirstRun(self.place.money())
        ending = self._first[0].outcome.ending if first is None else first.ending
        return ending is Ending.CREDENTIAL_REFUSED

    def _watch_first(self) -> None:
        first = self._first[0]
        why = first.outcome.error or first.unmeasured_reason
        if len(self._first) == ALIKE:
            causes = {
                (run.outcome.ending, _OWN_WORDS.sub("", run.unmeasured_reason or ""))
                for run in self._first
            }
            if len(causes) == 1 and not first.measured and not first.is_at_ceiling:
                self._stop(
                    f"the first {ALIKE} runs could not be measured for one reason: {why}",
                    "not_measured",
                )

    def _watch_remote_workers(self) -> None:
        # Workers on this machine share a ledger, and each run that it refuses says so. Those
        # elsewhere know their own spending alone, so the session is stopped for them.
        ceiling_usd = self._settings.max_cost_usd
        if not self.has_remote_workers or ceiling_usd is None or self.spent_usd < ceiling_usd:
            return
        if any(one.expected - one.finished for one in self.cases.values()):
            self._stop(f"cost ceiling ${ceiling_usd:g} reached", "cost_ceiling")

    def note_partial(self, reason: str) -> None:
        """Take in why the session is incomplete; of several reasons the gravest counts."""
        from pytest_plugin_eval.scoring.aggregate import PARTIAL_REASONS

        known = [one for one in (self.partial_reason, reason) if one is not None]
        self.partial_reason = min(known, key=PARTIAL_REASONS.index)

    def _stop(self, why: str, reason: str | None) -> None:
        if reason is not None:
            self.note_partial(reason)
        # Under xdist the session's own flag is not looked at (xdist 3.8).
        distributed = self._config.pluginmanager.get_plugin("dsession")
        target = distributed if distributed is not None else self._session
        if target is not None and not target.shouldstop:
            target.shouldstop = why

    @property
    def quality(self) -> Mapping[str, tuple[QualityReport, ...]]:
        """The scores of the plugins under test, by suite root, the main one first."""
        return self.scorer.reports

    @property
    def is_distributed(self) -> bool:
        """Whether xdist's workers make the runs."""
        return self._config.pluginmanager.hasplugin("dsession")

    def _only_cases_are_broken(self, session: pytest.Session) -> bool:
        return session.testsfailed > 0 and session.testsfailed == len(self.state.broken)

    def runs(self) -> Iterator[RunReport]:
        """Yield every run that has come in."""
        return (run for progress in self.cases.values() for run in progress.runs.values())

    # Verdicts and results

    def _give_verdict(self, case: str, progress: CaseProgress) -> None:
        if progress.verdict_given or not progress.runs:
            return
        from pytest_plugin_eval.pytest_side.verdicts import session_verdict

        progress.verdict_given = True
        progress.put_lost_runs()
        verdict = session_verdict(case, progress, self._config)
        if verdict is None or self._session is None:
            return
        # Otherwise pytest's progress runs past 100 %.
        self._session.testscollected += 1
        hook = self._config.hook
        hook.pytest_runtest_logstart(nodeid=verdict.nodeid, location=verdict.location)
        # JUnit writes a testcase's properties when its teardown arrives.
        for when in ("setup", "call", "teardown"):
            hook.pytest_runtest_logreport(report=verdict.report(when))
        hook.pytest_runtest_logfinish(nodeid=verdict.nodeid, location=verdict.location)
        if verdict.failed:
            self._heed_maxfail()

    def _heed_maxfail(self) -> None:
        # xdist counts only reports that came from workers (xdist 3.8).
        failed = self._session.testsfailed if self._session is not None else 0
        limit = self._config.getoption("maxfail", 0)
        if limit and self.is_distributed and failed >= limit:
            self._stop(f"stopping after {failed} failures", None)

    def _close_accounts(self) -> None:
        """Learn from the ledger what no report tells of: a run that was cut off was paid for."""
        shared = self._config.stash[workbench_key].shared
        ledger = None if shared is None else shared.ledger
        money = self.place.path / "money"
        if money.is_dir():
            from pytest_plugin_eval.spending.ledger import Ledger

            ledger = Ledger(directory=money)
            self.cut_off = ledger.unfinished
            ledger.close()
        if ledger is not None:
            self.uncounted = ledger.unknown
            # Reports of workers elsewhere are in no ledger of this machine.
            rest_usd = ledger.spent_usd - self.spent_usd
            self.unreported_usd = rest_usd if rest_usd > ROUNDING_USD else 0.0

    def _take_left(self) -> None:
        """Take in what workers that were stopped had no time to send."""
        self.remote.sweep(self.place.remote)
        facts = self.place.facts()
        if facts is None:
            return
        from pytest_plugin_eval.pytest_side.payload import case_from
        from pytest_plugin_eval.storage.results_dir import release_results_directory

        parcel, results, cases = facts["parcel"], facts["results"], facts["cases"]
        assert isinstance(parcel, dict)
        assert isinstance(results, dict)
        assert isinstance(cases, dict)
        results |= {str(root): str(path) for root, path in self.remote.directories.items()}
        if not self.state.plans:
            self.take_state(parcel)
        for nodeid, plain in cases.items():
            progress = self.cases.get(nodeid)
            if progress is not None and len(progress.runs) < len(progress.expected):
                case = case_from(plain)
                self.spent_usd += progress.put_unheard_runs(
                    case,
                    results[case.root],
                    is_resumed=self._settings.resume_dir is not None,
                )
        if self.place.is_interrupted and not self.place.has_workers:
            for directory in results.values():
                release_results_directory(Path(directory))

    def _finish(self) -> None:
        self.place.wait_for_workers()
        for nodeid, run in self._config.stash[workbench_key].settle():
            known = self.cases[case_of(nodeid)].runs
            if run.key not in known:
                known[run.key] = run
                self.spent_usd += run.spent_usd
        self._take_left()
        self._close_accounts()
        self.place.remove()
        for case, progress in self.cases.items():
            self._give_verdict(case, progress)
        if any(progress.runs for progress in self.cases.values()):
            self.scorer.finish()
            from pytest_plugin_eval.pytest_side.results import write_results

            self.suites = write_results(self, self._config, self._started)
        self.remote.close()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Make `--lf` and `--sw` understand verdicts, and set the exit status."""
        from pytest_plugin_eval.pytest_side.exit_status import exit_status
        from pytest_plugin_eval.pytest_side.rerun_cache import translate_verdicts

        self.place.remove()  # also where the loop was not reached, or a worker came to it late
        translate_verdicts(
            self._config, {case: sorted(p.expected) for case, p in self.cases.items()}
        )
        session.exitstatus = exit_status(
            int(session.exitstatus),
            partial_reason=self.partial_reason,
            problems=bool(self.state.broken or self.state.loose or self.unwritten)
            or self.scorer.has_failed,
            # Of more machines than cases some have nothing to do.
            is_idle_shard=bool(self.state.shard_cases) and not self.cases,
        )
