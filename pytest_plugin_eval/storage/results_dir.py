"""The directories that hold the results of one session each."""

from __future__ import annotations

import contextlib
import re
import tempfile
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

__all__ = [
    "named_results_directory",
    "new_results_directory",
    "release_results_directory",
    "results_directories",
    "results_stamp",
    "shared_results_directory",
]

MARKER = ".session"
LOCK = ".session.lock"

_NAME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)(?:-(\d+))?")


def results_stamp(now: datetime) -> str:
    """Return a moment as results directories are called: ``2026-01-31T09-05-00-123Z``."""
    moment = now.astimezone(UTC)
    return f"{moment:%Y-%m-%dT%H-%M-%S}-{moment.microsecond // 1000:03d}Z"


def new_results_directory(base: Path, now: datetime) -> Path:
    """Make and return ``<base>/<UTC timestamp with milliseconds>``.

    The name looks like ``2026-01-31T09-05-00-123Z``. A second session in the same millisecond takes
    the suffix ``-2``, the next ``-3``.
    """
    stamp = results_stamp(now)
    base.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        directory = base / (stamp if number == 1 else f"{stamp}-{number}")
        try:
            directory.mkdir()
        except FileExistsError:
            continue
        return directory
    raise AssertionError("unreachable: count() does not end")


def results_directories(base: Path) -> tuple[Path, ...]:
    """Return the results directories in *base*, newest first; other entries are left out."""
    try:
        entries = list(base.iterdir())
    except OSError:
        return ()
    named = [(match, entry) for entry in entries if (match := _NAME.fullmatch(entry.name))]
    named.sort(key=lambda pair: (pair[0][1], int(pair[0][2] or 1)), reverse=True)
    return tuple(entry for _, entry in named if entry.is_dir())


def shared_results_directory(base: Path, session: str) -> Path:
    """Make, or find made by another process of the same session, the results directory.

    *session* is ``<timestamp> <unique rest>``; the directory is named after the timestamp, with a
    suffix where another session has it already. A marker file inside tells whose it is; the session
    removes it at its end with `release_results_directory`.
    """
    stamp = session.partition(" ")[0]
    base.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=base, ignore_cleanup_errors=True) as new:
        prepared = Path(new) / "results"
        prepared.mkdir()
        (prepared / MARKER).write_text(session, encoding="utf-8")
        for number in count(1):
            directory = base / (stamp if number == 1 else f"{stamp}-{number}")
            # A directory does not replace one that holds something, so the first to rename owns it.
            if not directory.exists():
                with contextlib.suppress(OSError):
                    prepared.rename(directory)
            if _owner(directory) == session:
                return directory
    raise AssertionError("unreachable: count() does not end")


def named_results_directory(directory: Path, session: str) -> None:
    """Make the results directory that the user named, or take it over from an earlier session.

    What an earlier session left there moves to ``earlier-1``, ``earlier-2``, …: runs of two
    sessions side by side would be replayed as one. Workers of the same session find their marker.
    """
    from filelock import FileLock

    directory.mkdir(parents=True, exist_ok=True)
    with FileLock(directory / LOCK):
        if _owner(directory) == session:
            return
        old = [directory / name for name in ("runs", "aggregate-result.json")]
        present = [path for path in old if path.exists()]
        if present:
            place = next(
                place for n in count(1) if not (place := directory / f"earlier-{n}").exists()
            )
            place.mkdir()
            for path in present:
                path.rename(place / path.name)
        (directory / MARKER).write_text(session, encoding="utf-8")


def release_results_directory(directory: Path) -> None:
    """Remove the marker of a session, and the directory if it holds nothing."""
    for name in (MARKER, LOCK):
        (directory / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        directory.rmdir()


def _owner(directory: Path) -> str | None:
    try:
        return (directory / MARKER).read_text(encoding="utf-8")
    except OSError:
        return None
