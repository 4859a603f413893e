"""Where the runs of this process are made: back ends, pool and results directories."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_plugin_eval.errors import EvalError, SettingsError
from pytest_plugin_eval.settings import Mode, Settings

if TYPE_CHECKING:
    from pytest_plugin_eval.agents.base import AgentBackend
    from pytest_plugin_eval.cases.discovery import EvalDirectory
    from pytest_plugin_eval.execution.keeper import Keeper
    from pytest_plugin_eval.execution.pool import RunPool
    from pytest_plugin_eval.execution.resume import Resume
    from pytest_plugin_eval.execution.run import Made, RunMaker
    from pytest_plugin_eval.execution.shared import Shared
    from pytest_plugin_eval.judges.polling import Judge
    from pytest_plugin_eval.mocks.asking import Asker
    from pytest_plugin_eval.pytest_side.collector import EvalRun
    from pytest_plugin_eval.pytest_side.remote_worker import RemoteWorker
    from pytest_plugin_eval.records.model import RunKey
    from pytest_plugin_eval.scoring.model import RunReport
    from pytest_plugin_eval.storage.space import Space

__all__ = ["RECORDINGS", "Workbench", "new_session_id"]

RECORDINGS = "recordings"
KEPT = (RECORDINGS, "results")
TOGETHER = 50
"""Replayed runs that are graded at once."""
Job = tuple[Path, "RunKey"]


class Workbench:
    """Makes, keeps and grades runs; heavy parts are loaded with the first run."""

    def __init__(
        self,
        settings: Settings,
        *,
        here: Path,
        session_id: str,
        stop_early: bool,
        is_worker: bool,
        ascii_only: bool,
        money: Path | None = None,
        remote: RemoteWorker | None = None,
    ) -> None:
        """*money*: the directory of the ledger that the workers of this machine share.

        *remote*: of a worker elsewhere, which keeps nothing in this directory.
        """
        self.settings = settings
        self.session_id = session_id
        """Names the session; shared by the workers of one machine."""
        self.ascii_only = ascii_only
        """Whether the reader's terminal has no more than ASCII."""
        self.refusal: str | None = None
        """Why no run of this process can be made."""
        self.backend_note: str = ""
        self.notes: list[str] = []
        """Lines about the judge and what is taken over, known once the runs are."""
        self.asks_for_votes = False
        """Whether a replay lacks votes, so that it may cost something."""
        self.shared: Shared | None = None
        """With the workers of this machine, once the runs are known."""
        self.left_behind: tuple[str, ...] = ()
        """Lines about what could not be cleaned up."""
        self.agent_version: str = ""
        """Of the agent that makes the runs of this process, once one was found."""
        self.remote = remote
        self._here = here
        self._stop_early = stop_early
        self._is_worker = is_worker
        self._money = money
        self._sources: dict[Path, Path] = {}
        self._recorded: dict[Path, dict[str, list[RunKey]]] = {}
        self._results: dict[Path, Path] = {}
        self._begun: set[Job] = set()
        self._ahead: Iterator[Job] = iter(())
        self._graded: dict[Job, RunReport] = {}
        self._items: dict[Job, EvalRun] = {}
        self._space: Space | None = None
        self._maker: RunMaker | None = None
        self._pool: RunPool[Job, Made] | None = None

    @property
    def results(self) -> Mapping[Path, Path]:
        """The results directories that are open, by suite root."""
        return self._results

    @property
    def running(self) -> int:
        """How many runs this process makes now."""
        return 0 if self._pool is None else self._pool.running

    def suite_dir(self, place: EvalDirectory) -> Path:
        """Return the eval directory that holds the suite's results and recordings."""
        from pytest_plugin_eval.cases.discovery import suite_eval_directory

        return suite_eval_directory(place, self.settings.eval_dir)

    def results_base(self, place: EvalDirectory) -> Path:
        """Return the directory that holds the results of each session."""
        return self.suite_dir(place) / "results"

    def recorded(self, place: EvalDirectory, case: str) -> Sequence[RunKey] | None:
        """Return the keys of a case's saved records in replay mode, else ``None``."""
        if self.settings.mode is not Mode.REPLAY:
            return None
        if place.root not in self._recorded:
            from pytest_plugin_eval.records.layout import recorded_keys

            by_case = self._recorded[place.root] = {}
            for key in recorded_keys(self.records_dir(place)):
                by_case.setdefault(key.case, []).append(key)
        return self._recorded[place.root].get(case, ())

    def open(self, items: Sequence[EvalRun], *, are_asked_for: bool) -> None:
        """Get ready for the selected runs: find agent and judge, open the results directories.

        *are_asked_for*: the user named the evals, so judges may be paid even in a replay. Raises
        `EvalError` before anything is spent when the agent or a judge is missing, results cannot be
        written, or the session to resume was another one.
        """
        from pytest_plugin_eval.execution.mocking import Mocking
        from pytest_plugin_eval.execution.run import RunMaker
        from pytest_plugin_eval.execution.shared import Shared

        places = {item.place.root: item.place for item in items}
        self._items = {(item.place.root, item.key): item for item in items}
        self._ahead = iter(self._items)
        replays = self.settings.mode is Mode.REPLAY
        if not replays:
            self._check_run_root(items)
        shared = Shared.among(self._money, ceiling_usd=self.settings.max_cost_usd)
        judge, asker = self._asking(items, shared, are_asked_for=are_asked_for)
        mocking = Mocking(self.settings, asker, env=os.environ)
        backend = self._backend(places)
        with self._undone_on_failure(backend):
            self._open_results(places)
            resume = self._begin_session(items)
            if judge is not None:
                self._tell_of_judge(judge, backend, items)
            if player := mocking.check(item.planned.case for item in items):
                self.notes.append(f"agent mocks: {player}")
        self._maker = RunMaker(
            self.settings,
            backend,
            self._keeper(places),
            shared=shared,
            judge=judge,
            mocking=mocking,
            resume=resume,
        )
        self.shared = shared
        if not replays:
            self._open_pool()

    def _asking(
        self, items: Sequence[EvalRun], shared: Shared, *, are_asked_for: bool
    ) -> tuple[Judge | None, Asker | None]:
        """Return what asks a model besides the agent, each where anything needs it."""
        from pytest_plugin_eval.pytest_side.judges import asker_of, judge_of, why_no_votes

        settings, ledger, limiter = self.settings, shared.ledger, shared.limiter
        forbidden = why_no_votes(settings, is_worker=self._is_worker, are_asked_for=are_asked_for)
        planned = {item.place_case: item.planned for item in items}.values()
        return (
            judge_of(planned, settings, ledger, limiter, forbidden=forbidden),
            asker_of(planned, settings, ledger, limiter),
        )

    @contextmanager
    def _undone_on_failure(self, backend: AgentBackend) -> Iterator[None]:
        """Give everything back when the session cannot begin."""
        try:
            yield
        except (EvalError, OSError) as error:
            backend.close()
            self._give_results_free()
            if isinstance(error, EvalError):
                raise
            raise SettingsError(
                f"results cannot be written to {error.filename}: {error.strerror}; "
                "name another place with --eval-results-dir"
            ) from error

    def _open_results(self, places: Mapping[Path, EvalDirectory]) -> None:
        from pytest_plugin_eval.pytest_side.results_places import open_results

        bases = {root: self.results_base(place) for root, place in places.items()}
        opened = open_results if self.remote is None else self.remote.open_results
        self._results = opened(self.settings, self.session_id, bases)

    def _keeper(self, places: Mapping[Path, EvalDirectory]) -> Keeper:
        from pytest_plugin_eval.execution.keeper import Keeper

        # Results and recordings hold what graders look for; the agent must not find it there.
        kept = [self.suite_dir(place) / name for place in places.values() for name in KEPT]
        if self.remote is not None:
            kept.append(self.remote.spools)
        mode = self.settings.mode
        return Keeper(
            mode if self.remote is None else self.remote.keeping(mode),
            results=self._results,
            recordings={root: self.records_dir(place) for root, place in places.items()},
            space=self._space,
            hidden=(*kept, *self._results.values()),
        )

    def _open_pool(self) -> None:
        from pytest_plugin_eval.execution.pool import RunPool

        workers = self.settings.concurrency
        # One at a time, and in a worker of xdist, each run is started by its item.
        ahead = list(self._items) if workers > 1 else []
        self._pool = RunPool(
            self._made, ahead, workers=workers, ahead=workers if self._stop_early else None
        )

    def _tell_of_judge(self, judge: Judge, backend: AgentBackend, items: Sequence[EvalRun]) -> None:
        """Find the judge before anything is spent, or say which votes a replay lacks."""
        if self.settings.mode is not Mode.REPLAY:
            self.notes.append(f"judge: {judge.check()}")
            judge.check_price()
        elif not self._is_worker:
            from pytest_plugin_eval.execution.missing import missing_votes

            wanted = [(item.planned, item.key) for item in items if item.planned.has_paid_graders]
            missing = missing_votes(wanted, backend, judge)
            self.notes += missing.lines
            self.asks_for_votes = missing.votes > 0

    def _begin_session(self, items: Sequence[EvalRun]) -> dict[Path, Resume]:
        """Write down what the runs are made with, and see what an earlier session left.

        Raises `SettingsError` when that was made with something else.
        """
        if self.settings.mode is Mode.REPLAY:
            return {}
        from pytest_plugin_eval.execution.resume import Resume
        from pytest_plugin_eval.storage.session_file import keep_session_file, session_facts
        from pytest_plugin_eval.storage.space import Space

        self._space = Space()
        found: dict[Path, Resume] = {}
        for root, directory in self._results.items():
            planned = {item.key.case: item.planned for item in items if item.place.root == root}
            if self.settings.resume_dir is not None:
                found[root] = Resume(directory)
                lines = found[root].check(
                    tuple(planned.values()), self.settings, self.agent_version, os.environ
                )
                place = str(directory)
                self.notes += (line.replace(place, self.shown(place)) for line in lines)
            facts = session_facts(
                (one.case for one in planned.values()),
                self.settings,
                agent_version=self.agent_version,
                env=os.environ,
            )
            keep_session_file(directory, facts)
            self._space.reserve(directory)
        return found

    def _check_run_root(self, items: Sequence[EvalRun]) -> None:
        from pytest_plugin_eval.execution.machine import check_run_root

        cases = {item.place_case: item.planned.case for item in items}
        check_run_root(self.settings, cases.values())

    def run(self, item: EvalRun) -> RunReport:
        """Make or load an item's run, keep its record and grade it."""
        assert self._maker is not None
        job = (item.place.root, item.key)
        if job not in self._graded:
            jobs = self._together(job)
            pool = self._pool
            made = [self._made(one) if pool is None else pool.result(one) for one in jobs]
            self._graded.update(zip(jobs, self._maker.reports(made), strict=True))
            if pool is not None:
                pool.forget(*jobs)
        report = self._graded.pop(job)
        return report if self.remote is None else self.remote.as_read(report)

    def _together(self, job: Job) -> list[Job]:
        """Return the runs to grade at once: one, or also those to come where that costs nothing.

        Each call of the JavaScript engine takes half a millisecond, however little it is asked. A
        live run is graded by itself, since the next is still to be made; so is one in a worker of
        xdist, where those to come may be another worker's, and one that is repeated.
        """
        if self.settings.mode is not Mode.REPLAY or self._is_worker or job in self._begun:
            return [job]
        to_come = (one for one in self._ahead if one not in self._begun)
        jobs = list(dict.fromkeys((job, *islice(to_come, TOGETHER))))
        self._begun.update(jobs)
        return jobs

    def shown(self, path: str) -> str:
        """Return a path for a reader: relative to where pytest was started, when below it."""
        prefix = f"{self._here}{os.sep}"
        return path.removeprefix(prefix) if path.startswith(prefix) else path

    def settle(self) -> list[tuple[str, RunReport]]:
        """End the runs in flight and start no other; return what they came to, by node id.

        So do runs that were finished and not graded yet: they were paid for. No judge is asked any
        more.
        """
        left = self._end()
        if self._maker is None:
            return []
        reports = self._maker.reports(list(left.values()))
        return [
            (self._items[job].nodeid, report) for job, report in zip(left, reports, strict=True)
        ]

    def _end(self) -> dict[Job, Made]:
        """Stop everything; return the runs that were made and of which nobody has heard."""
        if self._maker is None:
            return {}
        self._maker.stop("the session was stopped")
        left = self._pool.close() if self._pool is not None else {}
        self._pool = None
        return {job: made for job, made in left.items() if _is_begun(made)}

    def close(self) -> None:
        """End what is in flight, start nothing further, and give the results directories free."""
        self._end()
        if self._maker is not None:
            self.left_behind = self._maker.close()
        self._give_results_free()
        if self.remote is not None:
            self.remote.close()

    def _give_results_free(self) -> None:
        if self._space is not None:
            self._space.release()
        if self._results and not self._is_worker:
            from pytest_plugin_eval.storage.results_dir import release_results_directory

            for directory in self._results.values():
                release_results_directory(directory)

    def _made(self, job: Job) -> Made:
        assert self._maker is not None
        item = self._items[job]
        return self._maker.make(item.planned, item.key)

    def records_dir(self, place: EvalDirectory) -> Path:
        """Return where a replay finds the records of a suite, and where recordings go."""
        named = self.settings.from_dir
        from pytest_plugin_eval.execution.keeper import RUNS

        if named is None or self.settings.mode is not Mode.REPLAY:
            return self.suite_dir(place) / RECORDINGS
        return named / RUNS if (named / RUNS).is_dir() else named

    def _backend(self, places: dict[Path, EvalDirectory]) -> AgentBackend:
        if self.settings.mode is Mode.REPLAY:
            from pytest_plugin_eval.agents.replay import Replay

            self._sources = {root: self.records_dir(place) for root, place in places.items()}
            return Replay(self._sources, named=self.settings.from_dir is not None)
        from pytest_plugin_eval.agents.claude_cli import ClaudeCli
        from pytest_plugin_eval.execution.machine import check_grants

        check_grants(self.settings, os.environ)
        agent = ClaudeCli.find(
            agent_path=self.settings.agent_path, env=os.environ, run_root=self.settings.run_root
        )
        self.backend_note = agent.description
        self.agent_version = agent.version
        return agent


def _is_begun(made: Made) -> bool:
    return made.record.outcome.ending.value != "not_started"


def new_session_id() -> str:
    """Return a name for the session: the moment and the process."""
    from pytest_plugin_eval.storage.results_dir import results_stamp

    return f"{results_stamp(datetime.now(UTC))} {os.getpid()}"
