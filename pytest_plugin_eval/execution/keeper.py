"""Where the records of a session lie, and how they get there."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pytest_plugin_eval.execution.planning import PlannedCase
from pytest_plugin_eval.records.codec import read_record
from pytest_plugin_eval.records.layout import record_path
from pytest_plugin_eval.records.model import Arm, Ending, RunKey, RunRecord, Vote
from pytest_plugin_eval.settings import Mode
from pytest_plugin_eval.storage.record_files import remove_records_beyond, write_record
from pytest_plugin_eval.storage.space import Space
from pytest_plugin_eval.text import plural

if TYPE_CHECKING:
    from pytest_plugin_eval.mocks.recordings import Recording

__all__ = ["ANSWERS", "RUNS", "Keeper", "finish_answers", "write_recording"]

T = TypeVar("T")

ANSWERS = "mock-recordings"
"""Where it holds answers of agent mocks."""
RUNS = "runs"
"""Where a results directory holds its records."""


class Kept(NamedTuple):
    """What became of a record."""

    path: Path | None = None
    """Where a reader finds it; ``None`` when there was nothing to keep."""
    note: str | None = None


class Keeper:
    """Writes the records of one process, whole or not at all."""

    def __init__(
        self,
        mode: Mode,
        *,
        results: Mapping[Path, Path],
        recordings: Mapping[Path, Path],
        space: Space | None = None,
        hidden: tuple[Path, ...] = (),
    ) -> None:
        """Keep records in *results* and, in record mode, in *recordings* too.

        Both are directories by suite root; in replay mode *recordings* are what is replayed.
        *space* keeps room in the results directories. *hidden* are directories that no agent may
        read: what they hold is what graders look for.
        """
        self._mode = mode
        self._results = results
        self._recordings = recordings
        self._space = space
        self.hidden = hidden

    def results_dir(self, root: Path) -> Path:
        """Return the results directory of a suite."""
        return self._results[root]

    def keep(self, planned: PlannedCase, record: RunRecord) -> Kept:
        """Write a record that was just made.

        Raises `OSError` when it cannot be written to the results; a recording that cannot be
        written is told, since the run is kept all the same.
        """
        if record.outcome.ending is Ending.NOT_STARTED:
            return Kept()
        if self._mode is Mode.REPLAY:
            return Kept(self.place(planned, record.key))
        results = self._results[planned.case.root]
        path = self._in_space(results, lambda: write_record(results / RUNS, record))
        return Kept(path, self._recorded(planned, record))

    def take_over(self, planned: PlannedCase, record: RunRecord) -> Kept:
        """Leave a record that an earlier session kept where it is.

        In record mode it is recorded now: that session may have been killed before it was, or had
        another mode.
        """
        return Kept(self.place(planned, record.key), self._recorded(planned, record))

    def keep_answers(self, planned: PlannedCase, recordings: Iterable[Recording]) -> None:
        """Write answers that a model gave for a mocked server, for the author to adopt.

        What cannot be written is not: the run was made, and it is graded all the same.
        """
        from pytest_plugin_eval.mocks.recordings import write_recordings

        results = self._results[planned.case.root]
        with contextlib.suppress(OSError):
            self._in_space(results, lambda: write_recordings(results, recordings))

    def close(self) -> None:
        """Write the lists of answers to adopt, where there are any."""
        for results in self._results.values():
            finish_answers(results)

    def place(self, planned: PlannedCase, key: RunKey) -> Path:
        """Return where the record of a run lies."""
        root = planned.case.root
        replayed = self._mode is Mode.REPLAY
        return record_path(self._recordings[root] if replayed else self._results[root] / RUNS, key)

    def add_votes(self, root: Path, key: RunKey, votes: tuple[Vote, ...]) -> None:
        """Add votes that were just paid for to the files of a run.

        In a replay these are the records that it reads, so that no vote is paid for twice. Raises
        `OSError` when they cannot be written, `RecordError` when the record has gone.
        """
        bases = [self._results[root] / RUNS]
        if self._mode is Mode.REPLAY:
            bases = [self._recordings[root]]
        elif self._mode is Mode.RECORD:
            bases.append(self._recordings[root])
        for base in bases:
            # Read afresh: what is graded may carry marks that are not for the file.
            record = read_record(record_path(base, key))
            # Handed over twice when an interrupt came just after they were written.
            fresh = tuple(vote for vote in votes if vote not in record.votes)
            whole = replace(record, votes=(*record.votes, *fresh))
            self._in_space(self._results[root], partial(write_record, base, whole))

    def no_room(self, root: Path) -> str | None:
        """Return why the record of a further run of a suite could not be kept, if it could not."""
        return None if self._space is None else self._space.enough(self._results[root])

    def _in_space(self, results: Path, action: Callable[[], T]) -> T:
        return action() if self._space is None else self._space.write(results, action)

    def _recorded(self, planned: PlannedCase, record: RunRecord) -> str | None:
        """Write the recording of a run where one is wanted; return what there is to say of it."""
        if self._mode is not Mode.RECORD or not record.outcome.is_measured:
            return None
        plan = planned.plan
        last = plan.with_runs if record.key.arm is Arm.WITH else plan.without_runs
        return write_recording(self._recordings[planned.case.root], record, last)


def write_recording(base: Path, record: RunRecord, last: int) -> str | None:
    """Write the recording of a measured run below *base*; return what there is to say of it.

    Those that an earlier session has made of runs beyond the *last* of the arm are removed: they
    would be replayed together, as if they belonged to each other.
    """
    if not record.outcome.is_measured:
        return None
    try:
        write_record(base, record)
        removed = remove_records_beyond(base, record.key, last)
    except OSError as error:
        return f"the recording could not be written: {error}"
    if not removed:
        return None
    were = "was" if removed == 1 else "were"
    recordings = plural(removed, "recording")
    return f"{recordings} of an earlier session with more runs {were} removed"


def finish_answers(results: Path) -> None:
    """Write the list of answers to adopt, where a results directory has any."""
    if (results / ANSWERS).is_dir():
        from pytest_plugin_eval.mocks.recordings import write_adoption_list

        with contextlib.suppress(OSError):
            write_adoption_list(results)
