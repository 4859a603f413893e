"""What a worker elsewhere calls things, and what it sends along."""

from __future__ import annotations

import tempfile
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_plugin_eval.pytest_side import remote_worker as module
from pytest_plugin_eval.pytest_side.remote_worker import RemoteWorker
from pytest_plugin_eval.records.codec import decode
from pytest_plugin_eval.records.model import (
    Arm,
    Ending,
    FileEntry,
    FileKind,
    RunKey,
    RunOutcome,
    RunRecord,
)
from pytest_plugin_eval.records.trace import Trace
from pytest_plugin_eval.settings import Mode, Settings
from pytest_plugin_eval.storage.record_files import write_record
from tests.support.records import said

STAMP = "2026-01-02T03-04-05-678Z"
RECORD = RunRecord(
    key=RunKey(case="evals/a", arm=Arm.WITH, number=1),
    outcome=RunOutcome(ending=Ending.COMPLETED),
    trace=Trace([said("hello")]),
)


def worker(own: Path, *, here: Path | None = None, there: str = "/home/me/repo") -> RemoteWorker:
    """Return a worker whose rootdir is *own*, with a spool beside it."""
    given = {"rootdir": there, "here": there, "spool": str(own.parent / "session/remote/gw0")}
    return RemoteWorker(rootdir=own, here=here or own, given=given)


def opened(own: Path, settings: Settings | None = None) -> tuple[RemoteWorker, Path]:
    """Return a worker with an open results directory, and that directory."""
    remote = worker(own)
    root = own / "plugin"
    found = remote.open_results(
        settings or Settings(), f"{STAMP} 1", {root: root / "evals" / "results"}
    )
    return remote, found[root]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("OWN", "/home/me/repo"),
        ("OWN/evals/a/prompt.md", "/home/me/repo/evals/a/prompt.md"),
        ("OWN/evals/a/prompt.md:3: bad", "/home/me/repo/evals/a/prompt.md:3: bad"),
        ("it's in 'OWN' and in OWN.", "it's in '/home/me/repo' and in /home/me/repo."),
        ("OWN-other/x", "OWN-other/x"),
        ("OWN.bak/x", "OWN.bak/x"),
        ("/mntOWN/x", "/mntOWN/x"),
        ("evals/a", "evals/a"),
        ("", ""),
    ],
)
def test_paths_are_those_of_the_controller(tmp_path: Path, text: str, expected: str) -> None:
    own = tmp_path / "checkout"

    called = worker(own).called(text.replace("OWN", str(own)))

    assert called == expected.replace("OWN", str(own))


def test_directory_that_is_reached_by_a_link_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    remote = worker(tmp_path / "link")

    assert remote.called(f"{tmp_path}/real/x") == "/home/me/repo/x"
    assert remote.called(f"{tmp_path}/link/x") == "/home/me/repo/x"


def test_suite_around_the_rootdir_is_found_there_too(tmp_path: Path) -> None:
    own = tmp_path / "plugin" / "evals"
    own.mkdir(parents=True)
    remote = worker(own, there="/home/me/plugin/evals")

    remote.open_results(Settings(), f"{STAMP} 1", {own.parent: own / "results"})

    assert remote.called(f"{own.parent}/skills") == "/home/me/plugin/skills"


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        (None, f"/home/me/repo/plugin/evals/results/{STAMP}"),
        ("OWN/out", "/home/me/repo/out"),
        ("/var/out", "/var/out"),
    ],
    ids=["by time", "relative", "absolute"],
)
def test_results_are_called_as_they_will_be(
    tmp_path: Path, named: str | None, expected: str
) -> None:
    own = tmp_path / "checkout"
    place = None if named is None else Path(named.replace("OWN", str(own)))

    remote, directory = opened(own, replace(Settings(), results_dir=place))

    assert remote.called(f"{directory}/runs/x") == f"{expected}/runs/x"
    assert not own.exists()


def test_files_of_a_run_travel_once(tmp_path: Path) -> None:
    remote, directory = opened(tmp_path / "checkout")
    write_record(directory / "runs", RECORD)
    (directory / "session.json").write_text("{}", encoding="utf-8")
    (directory / ".reserve-1").touch()

    files, notes = remote.parcel()
    remote.forget()

    assert notes == []
    assert [(root, name) for root, name, _ in files] == [
        ("/home/me/repo/plugin", "session.json"),
        ("/home/me/repo/plugin", "runs/evals/a/with-1.jsonl"),
    ]
    data = files[1][2]
    assert isinstance(data, bytes)
    assert decode(zlib.decompress(data), "it") == RECORD
    assert remote.parcel() == ([], [])


def test_record_that_is_too_large_comes_without_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGEST_BYTES", 4000)
    remote, directory = opened(tmp_path / "checkout")
    entry = FileEntry(path="big", kind=FileKind.FILE, created=True, content=b"x" * 5000)
    write_record(directory / "runs", replace(RECORD, files=(entry,)))

    ((_, _, data),), notes = remote.parcel()

    assert isinstance(data, bytes)
    arrived = decode(zlib.decompress(data), "it")
    assert arrived.files == (replace(entry, content=None),)
    assert arrived.trace.last_message == "hello"
    assert list(arrived.notes) == notes
    assert notes[0].startswith("the record came without the contents of files: it has 0 MiB")


@pytest.mark.parametrize("name", ["runs/evals/a/with-1.jsonl", "mock-recordings/s/t.json"])
def test_what_is_too_large_stays_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(module, "LARGEST_BYTES", 100)
    remote, directory = opened(tmp_path / "checkout")
    write_record(directory / "runs", RECORD)
    content = (directory / "runs/evals/a/with-1.jsonl").read_bytes()
    (directory / "runs/evals/a/with-1.jsonl").unlink()
    (directory / name).parent.mkdir(parents=True, exist_ok=True)
    (directory / name).write_bytes(content)

    files, notes = remote.parcel()

    assert files == []
    assert len(notes) == 1
    assert "stayed with the worker" in notes[0]


def test_workers_on_another_machine_remove_what_they_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    given = {"rootdir": "/there", "here": "/there"}
    first, second = (
        RemoteWorker(rootdir=tmp_path, here=tmp_path, given={**given, "spool": f"s/remote/{name}"})
        for name in ("gw0", "gw1")
    )
    for one in (first, second):
        one.open_results(Settings(), f"{STAMP} 1", {tmp_path: tmp_path / "evals/results"})

    first.close()
    left = {path.name for path in first.spools.iterdir()}
    second.close()

    assert left == {"gw1"}
    assert list((tmp_path / "tmp").iterdir()) == []


def test_what_others_keep_is_for_nobody_else(tmp_path: Path) -> None:
    remote, directory = opened(tmp_path / "checkout")

    assert directory.is_relative_to(remote.spools)
    assert {path.stat().st_mode & 0o777 for path in (remote.spools, remote.spools.parent)} == {
        0o700
    }


@pytest.mark.parametrize(
    ("mode", "kept"),
    [(Mode.RECORD, Mode.LIVE), (Mode.LIVE, Mode.LIVE), (Mode.REPLAY, Mode.REPLAY)],
)
def test_recordings_are_the_controllers(tmp_path: Path, mode: Mode, kept: Mode) -> None:
    assert worker(tmp_path).keeping(mode) is kept
