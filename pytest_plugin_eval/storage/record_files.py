"""Run records as files."""

from __future__ import annotations

from pathlib import Path

from pytest_plugin_eval.records.codec import encode
from pytest_plugin_eval.records.layout import record_path
from pytest_plugin_eval.records.model import RunKey, RunRecord
from pytest_plugin_eval.storage.atomic_write import remove_unfinished, write_bytes

__all__ = ["remove_records_beyond", "write_record"]

AN_HOUR_S = 3600.0
"""More than the writing of a record takes."""


def write_record(base: Path, record: RunRecord) -> Path:
    """Write *record* below *base*, whole or not at all, and return its path.

    *base* is the ``runs`` directory of a session's results, or the ``recordings`` of a suite.
    """
    path = record_path(base, record.key)
    write_bytes(path, encode(record))
    return path


def remove_records_beyond(base: Path, key: RunKey, last: int) -> int:
    """Remove the records of the key's case and arm whose number is above *last*; return how many.

    And what killed sessions left beside them: *base* outlives every session.
    """
    # Files alone: a directory below may be another case.
    directory = record_path(base, key).parent
    remove_unfinished(directory, deep=False, older_than_s=AN_HOUR_S)
    removed = 0
    for path in directory.glob(f"{key.arm.value}-*.jsonl"):
        number = path.stem.rpartition("-")[2]
        if number.isdecimal() and int(number) > last:
            path.unlink(missing_ok=True)
            removed += 1
    return removed
