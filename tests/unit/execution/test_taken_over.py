"""Runs that a session takes over, in its files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from pytest_plugin_eval.execution.keeper import RUNS, Keeper
from pytest_plugin_eval.execution.planning import PlannedCase, plan_case
from pytest_plugin_eval.records.layout import recorded_keys
from pytest_plugin_eval.records.model import Arm, Ending, RunKey, RunOutcome, RunRecord
from pytest_plugin_eval.settings import Mode, Settings
from pytest_plugin_eval.storage.record_files import write_record
from tests.support.records import record, said
from tests.support.suites import ONE_GRADER, case_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A planned case, and where its records and recordings go."""

    planned: PlannedCase
    results: Path
    recordings: Path

    def keeper(self, mode: Mode) -> Keeper:
        """Return what keeps records in this mode."""
        root = self.planned.case.root
        return Keeper(mode, results={root: self.results}, recordings={root: self.recordings})

    def left(self, number: int = 1, ending: Ending = Ending.COMPLETED) -> RunRecord:
        """Write the record of an earlier session and return it."""
        key = RunKey(case=self.planned.case.id, arm=Arm.WITH, number=number)
        made = replace(record(said("a")), key=key, outcome=RunOutcome(ending=ending))
        write_record(self.results / RUNS, made)
        return made


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A case with two runs in one arm."""
    case = case_of(tmp_path / "plugin", {"prompt.md": "Do it.\n", **ONE_GRADER})
    return Place(
        planned=plan_case(case, Settings(runs=2)),
        results=tmp_path / "results",
        recordings=tmp_path / "recordings",
    )


def test_record_stays_as_it_is(place: Place) -> None:
    made = place.left()
    (path,) = place.results.rglob("*.jsonl")
    before = path.stat()

    kept = place.keeper(Mode.LIVE).take_over(place.planned, made)

    assert kept == (path, None)
    assert path.stat() == before
    assert not place.recordings.exists()


def test_record_mode_makes_up_for_the_recording(place: Place) -> None:
    made = place.left()
    write_record(place.recordings, replace(made, key=replace(made.key, number=3)))

    place.keeper(Mode.RECORD).take_over(place.planned, made)

    # The third is of a session that had more runs.
    assert recorded_keys(place.recordings) == (made.key,)


def test_run_that_was_not_measured_is_not_recorded(place: Place) -> None:
    made = place.left(ending=Ending.NO_RESULT)

    place.keeper(Mode.RECORD).take_over(place.planned, made)

    assert recorded_keys(place.recordings) == ()


def test_recording_that_cannot_be_written_is_told(place: Place) -> None:
    made = place.left()
    place.recordings.write_text("no directory", encoding="utf-8")

    kept = place.keeper(Mode.RECORD).take_over(place.planned, made)

    assert kept.note is not None
    assert kept.note.startswith("the recording could not be written: ")
