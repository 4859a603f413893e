"""Results directories that a later session takes over."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pytest_plugin_eval.errors import SettingsError
from pytest_plugin_eval.storage.marker import LOCK, MARKER, owner
from pytest_plugin_eval.storage.results_dir import (
    named_results_directory,
    release_results_directory,
    results_stamp,
    resumed_results_directory,
    shared_results_directory,
)
from tests.support.suites import write_tree

SESSION = f"2026-01-31T09-05-00-123Z {os.getpid()}"
KILLED = {
    "session.json": "{}",
    "runs/evals/a/with-1.jsonl": "a",
    "runs/evals/a/.0123456789abcdef.tmp": "half",
    ".fedcba9876543210.tmp": "half",
    ".reserve-12": "room",
    MARKER: "2026-01-30T09-05-00-123Z",
    LOCK: "",
}
LEFT = {"session.json", "runs/evals/a/with-1.jsonl"}


def _files(directory: Path) -> set[str]:
    found = (path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix() for path in found}


@pytest.fixture
def living() -> Iterator[str]:
    """Name a session of another process that is alive."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        yield f"{results_stamp(datetime.now(UTC))} {child.pid}"
        child.kill()


def test_results_of_a_killed_session_stay_where_they_are(tmp_path: Path) -> None:
    write_tree(tmp_path, KILLED)

    resumed_results_directory(tmp_path, SESSION)

    assert _files(tmp_path) == LEFT | {MARKER, LOCK}
    assert owner(tmp_path) == SESSION


def test_workers_of_the_session_take_nothing_from_each_other(tmp_path: Path) -> None:
    write_tree(tmp_path, KILLED)
    resumed_results_directory(tmp_path, SESSION)
    written = write_tree(tmp_path, {".reserve-1": "", "runs/.0123456789abcdef.tmp": ""})

    resumed_results_directory(tmp_path, SESSION)

    assert {".reserve-1", "runs/.0123456789abcdef.tmp"} <= _files(written)


def test_other_hidden_files_are_the_users(tmp_path: Path) -> None:
    files = {"session.json": "{}", ".gitignore": "*", "runs/.keep.tmp": "", "earlier-1/a": ""}
    write_tree(tmp_path, files)

    resumed_results_directory(tmp_path, SESSION)
    release_results_directory(tmp_path)

    assert _files(tmp_path) == set(files)


@pytest.mark.parametrize(
    "names", [["session.json"], [MARKER], ["runs/a.jsonl", "aggregate-result.json"]]
)
def test_whatever_a_session_leaves_first_is_enough_to_go_on(
    tmp_path: Path, names: list[str]
) -> None:
    write_tree(tmp_path, dict.fromkeys(names, "x"))

    resumed_results_directory(tmp_path, SESSION)

    assert owner(tmp_path) == SESSION


@pytest.mark.parametrize(
    "names",
    [
        ["rescored/1/aggregate-result.json"],
        ["rescored/1/aggregate-result.json", "first/with-1.jsonl"],
        ["aggregate-result.json"],
        ["runs/with-1.jsonl"],
        ["session.json/prompt.md"],
    ],
    ids=["rescored", "recordings", "replay", "case called runs", "case called session.json"],
)
def test_what_holds_no_session_is_refused_and_untouched(tmp_path: Path, names: list[str]) -> None:
    write_tree(tmp_path, dict.fromkeys(names, "x"))

    with pytest.raises(SettingsError, match="is no results directory"):
        resumed_results_directory(tmp_path, SESSION)

    assert _files(tmp_path) == set(names)


@pytest.mark.parametrize("take", [resumed_results_directory, named_results_directory])
def test_directory_of_a_living_session_is_refused_and_untouched(
    tmp_path: Path, living: str, take: object
) -> None:
    write_tree(tmp_path, {**KILLED, MARKER: living})
    assert callable(take)

    with pytest.raises(SettingsError, match=r"in use by another session, process \d+; wait"):
        take(tmp_path, SESSION)

    assert _files(tmp_path) == set(KILLED)
    assert owner(tmp_path) == living


def test_missing_directory_is_refused_naming_a_near_one(tmp_path: Path) -> None:
    write_tree(tmp_path / "2026-01-31T09-05-00-123Z", {"session.json": ""})

    with pytest.raises(SettingsError) as caught:
        resumed_results_directory(tmp_path / "2026-01-31T09-05-00-12Z", SESSION)

    assert str(caught.value) == (
        f"--eval-resume: {tmp_path}/2026-01-31T09-05-00-12Z is not there, expected one that a "
        f"session has written, did you mean '{tmp_path}/2026-01-31T09-05-00-123Z'?"
    )
    assert not (tmp_path / "2026-01-31T09-05-00-12Z").exists()


@pytest.mark.parametrize("above", ["", "results", "evals/results"])
def test_directory_above_is_refused_naming_the_newest_results(tmp_path: Path, above: str) -> None:
    results = tmp_path / above
    for stamp in ("2026-01-31T09-05-00-123Z", "2026-02-01T09-05-00-123Z"):
        write_tree(results / stamp, {"session.json": ""})
    write_tree(results / "2026-03-01T09-05-00-123Z", {"aggregate-result.json": "of a replay"})

    with pytest.raises(SettingsError) as caught:
        resumed_results_directory(tmp_path, SESSION)

    assert str(caught.value) == (
        f"--eval-resume: {tmp_path} is no results directory, expected one that a session has "
        f"written, did you mean the newest, '{results}/2026-02-01T09-05-00-123Z'?"
    )


def test_directory_of_several_plugins_is_refused_naming_the_first(tmp_path: Path) -> None:
    write_tree(tmp_path, {"b/session.json": "", "a/session.json": ""})

    with pytest.raises(SettingsError, match=f"did you mean '{tmp_path}/a'"):
        resumed_results_directory(tmp_path, SESSION)


def test_foreign_directory_is_refused(tmp_path: Path) -> None:
    write_tree(tmp_path / "it", {"prompt.md": "Do it."})

    with pytest.raises(SettingsError, match=r"is no results directory, .* has written$"):
        resumed_results_directory(tmp_path / "it", SESSION)

    assert _files(tmp_path) == {"it/prompt.md"}


def test_all_that_a_session_left_moves_away_together(tmp_path: Path) -> None:
    write_tree(tmp_path, {**KILLED, "rescored/1/aggregate-result.json": "{}"})

    named_results_directory(tmp_path, SESSION)

    moved = {"rescored/1/aggregate-result.json", "session.json", "runs/evals/a/with-1.jsonl"}
    assert {f"earlier-1/{name}" for name in moved} <= _files(tmp_path)
    assert not moved & _files(tmp_path)


def test_session_that_came_to_nothing_leaves_nothing(tmp_path: Path) -> None:
    directory = shared_results_directory(tmp_path, SESSION)
    write_tree(directory, {"session.json": "{}", ".reserve-7": ""})

    release_results_directory(directory)

    assert list(tmp_path.iterdir()) == []


def test_session_with_a_document_keeps_what_tells_of_it(tmp_path: Path) -> None:
    directory = shared_results_directory(tmp_path, SESSION)
    write_tree(directory, {"session.json": "{}", "aggregate-result.json": "{}"})

    release_results_directory(directory)

    assert _files(directory) == {"session.json", "aggregate-result.json"}


def test_directory_that_was_never_finished_goes_once_it_is_old(tmp_path: Path) -> None:
    write_tree(tmp_path, {".new-old/results/.session": "", ".new-now/results/.session": ""})
    os.utime(tmp_path / ".new-old", (0, 0))

    directory = shared_results_directory(tmp_path, SESSION)

    assert sorted(path.name for path in tmp_path.iterdir()) == [".new-now", directory.name]
