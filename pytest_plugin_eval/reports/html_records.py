"""The records behind a report, read one at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.records.codec import read_record
from pytest_plugin_eval.records.model import RunRecord
from pytest_plugin_eval.scoring.model import RunReport

__all__ = ["RecordFiles", "Records"]


class Records(Protocol):
    """Where a report takes its transcripts from."""

    def size(self, run: RunReport) -> int:
        """Return about how many bytes the record of a run has; 0 when there is none."""

    def read(self, run: RunReport) -> RunRecord:
        """Return the record of a run; raises `RecordError`, saying why, when there is none."""


class RecordFiles:
    """Records where their reports say."""

    def __init__(self, root: Path) -> None:
        """*root* is what relative paths of records start from."""
        self._root = root

    def size(self, run: RunReport) -> int:
        """Return the size of the file."""
        try:
            return (self._root / run.record_path).stat().st_size if run.record_path else 0
        except OSError:
            return 0

    def read(self, run: RunReport) -> RunRecord:
        """Return what is in the file; raises `RecordError`."""
        if not run.record_path:
            raise RecordError("no record of this run was kept")
        return read_record(self._root / run.record_path)
