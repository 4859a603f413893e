"""The directories that hold the results of one session each."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
import time
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from pytest_plugin_eval.errors import SettingsError
from pytest_plugin_eval.storage.atomic_write import remove_unfinished
from pytest_plugin_eval.storage.marker import LOCK, MARKER, other_live_session, owner
from pytest_plugin_eval.storage.session_file import SESSION_FILE
from pytest_plugin_eval.storage.space import RESERVE_PATTERN
from pytest_plugin_eval.text import did_you_mean

__all__ = [
    "check_resumable",
    "named_results_directory",
    "new_results_directory",
    "release_results_directory",
    "results_directories",
    "results_stamp",
    "resumed_results_directory",
    "shared_results_directory",
]

PREPARED = ".new-"
A_MINUTE_S = 60.0
"""More than the making of a directory, or of a file in it, takes."""

_RUNS = "runs"
_DOCUMENT = "aggregate-result.json"
_RESCORED = "rescored"
_PAGES = ("report.html", "report-files")
_PARTS = (_RUNS, _DOCUMENT, *_PAGES, SESSION_FILE, _RESCORED)
"""What a session leaves, and what `plugin-eval rescore` adds; it is moved away for the next session
in the same directory."""

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
    _remove_prepared(base)
    with tempfile.TemporaryDirectory(prefix=PREPARED, dir=base, ignore_cleanup_errors=True) as new:
        prepared = Path(new) / "results"
        prepared.mkdir()
        (prepared / MARKER).write_text(session, encoding="utf-8")
        for number in count(1):
            directory = base / (stamp if number == 1 else f"{stamp}-{number}")
            # A directory does not replace one that holds something, so the first to rename owns it.
            if not directory.exists():
                with contextlib.suppress(OSError):
                    prepared.rename(directory)
            if owner(directory) == session:
                return directory
    raise AssertionError("unreachable: count() does not end")


def named_results_directory(directory: Path, session: str) -> None:
    """Make the results directory that the user named, or take it over from an earlier session.

    What an earlier session left there moves to ``earlier-1``, ``earlier-2``, …: runs of two
    sessions side by side would be replayed as one. Workers of the same session find their marker.
    Raises `SettingsError` when another session is at work there.
    """
    from filelock import FileLock

    directory.mkdir(parents=True, exist_ok=True)
    with FileLock(directory / LOCK):
        if owner(directory) == session:
            return
        _check_free(directory, session, "--eval-results-dir")
        present = [path for name in _PARTS if (path := directory / name).exists()]
        if present:
            place = next(
                place for n in count(1) if not (place := directory / f"earlier-{n}").exists()
            )
            place.mkdir()
            for path in present:
                path.rename(place / path.name)
        (directory / MARKER).write_text(session, encoding="utf-8")


def check_resumable(directory: Path) -> None:
    """Raise `SettingsError`, naming a near one, for what is no results directory."""
    if _is_of_session(directory):
        return
    what = "is no results directory" if directory.is_dir() else "is not there"
    raise SettingsError(
        f"--eval-resume: {directory} {what}, expected one that a session has written"
        f"{_nearest(directory)}"
    )


def resumed_results_directory(directory: Path, session: str) -> None:
    """Take over the results directory of an earlier session, to go on in it.

    What a killed session left besides its results is removed. Workers of the same session find
    their marker. Raises `SettingsError` when another session is still at work there, and for what
    is no results directory.
    """
    from filelock import FileLock

    check_resumable(directory)
    with FileLock(directory / LOCK):
        if owner(directory) == session:
            return
        _check_free(directory, session, "--eval-resume")
        _clear(directory)
        (directory / MARKER).write_text(session, encoding="utf-8")


def release_results_directory(directory: Path) -> None:
    """Remove the marker of a session, and the directory if it holds no results."""
    # A worker that is being stopped may still be writing.
    _clear(directory, older_than_s=A_MINUTE_S)
    for name in (MARKER, LOCK):
        (directory / name).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        if [path.name for path in directory.iterdir()] == [SESSION_FILE]:
            (directory / SESSION_FILE).unlink()
        directory.rmdir()


def _remove_prepared(base: Path) -> None:
    """Remove what sessions left that were killed while they made their directory."""
    youngest = time.time() - A_MINUTE_S
    for path in base.glob(f"{PREPARED}*"):
        with contextlib.suppress(OSError):  # another session may do the same
            if path.stat().st_mtime < youngest:
                shutil.rmtree(path)


def _clear(directory: Path, *, older_than_s: float = 0.0) -> None:
    """Remove what a session needs while it lasts, and what it left when it was killed."""
    for path in directory.glob(RESERVE_PATTERN):
        path.unlink(missing_ok=True)
    remove_unfinished(directory, deep=False, older_than_s=older_than_s)
    remove_unfinished(directory / _RUNS, older_than_s=older_than_s)


def _check_free(directory: Path, session: str, option: str) -> None:
    process = other_live_session(directory, session)
    if process is not None:
        raise SettingsError(
            f"{option}: {directory} is in use by another session, process {process}; "
            "wait for its end or name another directory"
        )


def _is_of_session(directory: Path) -> bool:
    """Return whether a session made runs here, or was about to.

    Documents lie elsewhere as well: a replay's directory has nothing else, nor has a rescoring's.
    """
    if any((directory / name).is_file() for name in (SESSION_FILE, MARKER)):
        return True
    return (directory / _RUNS).is_dir() and (directory / _DOCUMENT).is_file()


def _nearest(directory: Path) -> str:
    """Return which results directory may have been meant, as a part of a message."""
    # The directory of a session with several plugins holds one for each.
    for path in sorted(directory.glob(f"*/{SESSION_FILE}")):
        if not _NAME.fullmatch(path.parent.name):
            return f", did you mean {str(path.parent)!r}?"
    # A plugin, its eval directory or the directory of all results: the newest one below it.
    for base in (directory, directory / "results", directory / "evals" / "results"):
        for found in filter(_is_of_session, results_directories(base)):
            return f", did you mean the newest, {str(found)!r}?"
    siblings = filter(_is_of_session, results_directories(directory.parent))
    near = did_you_mean(directory.name, (path.name for path in siblings))
    return near.replace(", did you mean '", f", did you mean '{directory.parent}/", 1)
