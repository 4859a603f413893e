"""Where the runs of this process are made: backend, pool and results directories."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_plugin_eval.errors import SettingsError
from pytest_plugin_eval.settings import Mode, Settings

if TYPE_CHECKING:
    from pytest_plugin_eval.agents.base import AgentBackend
    from pytest_plugin_eval.cases.discovery import EvalDirectory
    from pytest_plugin_eval.execution.pool import RunPool
    from pytest_plugin_eval.execution.run import Made, RunMaker
    from pytest_plugin_eval.pytest_side.collector import EvalRun
    from pytest_plugin_eval.records.model import RunKey, RunRecord
    from pytest_plugin_eval.scoring.model import RunReport

__all__ = ["RECORDINGS", "RUNS", "Workbench", "new_session_id"]

RECORDINGS = "recordings"
RUNS = "runs"
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
    ) -> None:
        self.settings = settings
        self.session_id = session_id
        """Names the session; shared by the workers of one machine."""
        self.ascii_only = ascii_only
        """Whether the reader's terminal has no more than ASCII."""
        self.refusal: str | None = None
        """Why no run of this process can be made."""
        self.backend_note: str = ""
        self.left_behind: tuple[str, ...] = ()
        """Lines about what could not be cleaned up."""
        self.agent_version: str = ""
        """Of the agent that makes the runs of this process, once one was found."""
        self._here = here
        self._stop_early = stop_early
        self._is_worker = is_worker
        self._sources: dict[Path, Path] = {}
        self._recorded: dict[Path, dict[str, list[RunKey]]] = {}
        self._results: dict[Path, Path] = {}
        self._begun: set[Job] = set()
        self._ahead: Iterator[Job] = iter(())
        self._graded: dict[Job, RunReport] = {}
        self._items: dict[Job, EvalRun] = {}
        self._maker: RunMaker | None = None
        self._pool: RunPool[Job, Made] | None = None

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
            for key in recorded_keys(self._records_dir(place)):
                by_case.setdefault(key.case, []).append(key)
        return self._recorded[place.root].get(case, ())

    def open(self, items: Sequence[EvalRun]) -> None:
        """Get ready for the selected runs: find the agent, make the results directories.

        Raises `EvalError` before anything is spent when the agent is missing or results cannot be
        written.
        """
        places = {item.place.root: item.place for item in items}
        self._items = {(item.place.root, item.key): item for item in items}
        self._ahead = iter(self._items)
        if self.settings.mode is not Mode.REPLAY:
            self._check_run_root(items)
        backend = self._backend(places)
        try:
            self._open_results(places)
        except SettingsError:
            backend.close()
            raise
        from pytest_plugin_eval.execution.run import RunMaker
        from pytest_plugin_eval.spending.ledger import Ledger

        # Results and recordings hold what graders look for; the agent must not find it there.
        kept = (self.suite_dir(place) / name for place in places.values() for name in KEPT)
        hidden = (*kept, *self._results.values())
        self._maker = RunMaker(self.settings, backend, Ledger(self.settings.max_cost_usd), hidden)
        if self.settings.concurrency > 1:
            from pytest_plugin_eval.execution.pool import RunPool

            workers = self.settings.concurrency
            self._pool = RunPool(
                self._made,
                [(item.place.root, item.key) for item in items],
                workers=workers,
                ahead=workers if self._stop_early else None,
            )

    def _check_run_root(self, items: Sequence[EvalRun]) -> None:
        # The plugin and its evals are closed to the agent's writing: in a workspace below them
        # every `Write` would fail, and both arms would score 0 for it.
        from pytest_plugin_eval.agents.sandbox import default_run_root

        root = Path(os.path.realpath(self.settings.run_root or default_run_root()))
        for case in {item.place_case: item.planned.case for item in items}.values():
            for closed in (case.eval_dir, *(plugin.path for plugin in case.plugins)):
                if root.is_relative_to(os.path.realpath(closed)):
                    raise SettingsError(
                        f"run directories would lie in {root}, inside {closed}, where the agent "
                        "must not write; name another place with --eval-run-root"
                    )

    def run(self, item: EvalRun) -> RunReport:
        """Make or load an item's run, keep its record and grade it."""
        assert self._maker is not None
        job = (item.place.root, item.key)
        if job not in self._graded:
            jobs = self._together(job)
            made = [
                self._pool.result(one) if self._pool is not None else self._made(one)
                for one in jobs
            ]
            self._graded.update(zip(jobs, self._maker.reports(made), strict=True))
        return self._graded.pop(job)

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

    def close(self) -> None:
        """End the runs in flight, start no other, and give the results directories free."""
        if self._maker is not None:
            self._maker.stop("the session was stopped")
        if self._pool is not None:
            self._pool.close()
        if self._maker is not None:
            self.left_behind = self._maker.close()
        if self._results and not self._is_worker:
            from pytest_plugin_eval.storage.results_dir import release_results_directory

            for directory in self._results.values():
                release_results_directory(directory)

    def _made(self, job: Job) -> Made:
        from pytest_plugin_eval.execution.run import Made

        assert self._maker is not None
        item = self._items[job]
        record, path = self._maker.record(item.planned, item.key), None
        try:
            path = self._kept(item, record)
        except OSError as error:  # it was paid for, so it is graded all the same
            text = f"the record could not be written: {error}"
            record = replace(record, notes=(*record.notes, text))
        return Made(
            planned=item.planned,
            record=record,
            path=str(path or ""),
            results_dir=str(self._results[item.place.root]),
        )

    def _kept(self, item: EvalRun, record: RunRecord) -> Path | None:
        from pytest_plugin_eval.records.layout import record_path
        from pytest_plugin_eval.records.model import Ending
        from pytest_plugin_eval.storage.record_files import write_record

        if record.outcome.ending is Ending.NOT_STARTED:
            return None
        if self.settings.mode is Mode.REPLAY:
            return record_path(self._sources[item.place.root], record.key)
        path = write_record(self._results[item.place.root] / RUNS, record)
        if self.settings.mode is Mode.RECORD and record.outcome.is_measured:
            self._record(item, record)
        return path

    def _record(self, item: EvalRun, record: RunRecord) -> None:
        """Write a recording, and remove those of an earlier session that had more runs.

        They would be replayed together, as if they belonged to each other.
        """
        from pytest_plugin_eval.records.model import Arm
        from pytest_plugin_eval.storage.record_files import remove_records_beyond, write_record

        base = self.suite_dir(item.place) / RECORDINGS
        write_record(base, record)
        plan = item.planned.plan
        planned = plan.with_runs if record.key.arm is Arm.WITH else plan.without_runs
        remove_records_beyond(base, record.key, planned)

    def _records_dir(self, place: EvalDirectory) -> Path:
        named = self.settings.from_dir
        if named is None:
            return self.suite_dir(place) / RECORDINGS
        return named / RUNS if (named / RUNS).is_dir() else named

    def _backend(self, places: dict[Path, EvalDirectory]) -> AgentBackend:
        if self.settings.mode is Mode.REPLAY:
            from pytest_plugin_eval.agents.replay import Replay

            self._sources = {root: self._records_dir(place) for root, place in places.items()}
            return Replay(self._sources, named=self.settings.from_dir is not None)
        from pytest_plugin_eval.agents.claude_cli import ClaudeCli
        from pytest_plugin_eval.agents.grants import parse_grants, parse_removals

        for parse, entries in (
            (parse_grants, self.settings.allow_tools),
            (parse_removals, self.settings.disallow_tools),
        ):
            refused = parse(entries)[1]
            if refused:
                raise SettingsError("\n".join(refused))
        agent = ClaudeCli.find(
            agent_path=self.settings.agent_path, env=os.environ, run_root=self.settings.run_root
        )
        self.backend_note = agent.description
        self.agent_version = agent.version
        return agent

    def _open_results(self, places: dict[Path, EvalDirectory]) -> None:
        from pytest_plugin_eval.storage.results_dir import (
            named_results_directory,
            shared_results_directory,
        )

        named = self.settings.results_dir
        for root, place in places.items():
            try:
                if named is None:
                    base = self.results_base(place)
                    self._results[root] = shared_results_directory(base, self.session_id)
                else:
                    several = len(places) > 1
                    self._results[root] = named / _folder(root, places) if several else named
                    named_results_directory(self._results[root], self.session_id)
            except OSError as error:
                raise SettingsError(
                    f"results cannot be written to {error.filename}: {error.strerror}; "
                    "name another place with --eval-results-dir"
                ) from error


def _folder(root: Path, places: dict[Path, EvalDirectory]) -> str:
    """Return a folder name for a suite, unique among those of the session."""
    alike = sorted(other for other in places if other.name == root.name)
    position = alike.index(root)
    return root.name if position == 0 else f"{root.name}-{position + 1}"


def new_session_id() -> str:
    """Return a name for the session: the moment and the process."""
    from pytest_plugin_eval.storage.results_dir import results_stamp

    return f"{results_stamp(datetime.now(UTC))} {os.getpid()}"
