"""What is believed of a parcel that a worker on another machine sends."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from pytest_plugin_eval.pytest_side import remote_results
from pytest_plugin_eval.pytest_side.remote_results import RemoteResults
from tests.pytester.conftest import Suite

RUN = "evals/a::run[with-1]"
Payload = dict[str, dict[str, object]]


@pytest.fixture
def remote(suite: Suite) -> RemoteResults:
    """Return the results of a session in which a worker elsewhere has collected one run."""
    suite.case("a", front="runs: 1")
    config = suite.pytester.parseconfigure("evals", "--eval-root", str(suite.root))
    made = RemoteResults(config)
    made.expect([RUN], "gw0")
    return made


def _payload(root: Path, *files: tuple[str, bytes]) -> Payload:
    parcel = [[str(root), name, data] for name, data in files]
    return {
        "files": parcel,  # type: ignore[dict-item]  # as it arrives
        "run": {"notes": ["before"], "results_dir": "", "record_path": ""},
        "case": {"id": "evals/a", "root": str(root), "plan": {"with_runs": 1, "without_runs": 1}},
    }


def _everything(directory: Path) -> set[str]:
    found = (path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix() for path in found} - {
        "session.lock",
        ".session",
    }


def test_files_lie_in_the_results_of_the_suite(remote: RemoteResults, suite: Suite) -> None:
    payload = _payload(suite.root, ("runs/evals/a/with-1.jsonl", zlib.compress(b"record")))

    remote.take(RUN, payload)

    (directory,) = remote.directories.values()
    path = directory / "runs/evals/a/with-1.jsonl"
    assert path.read_bytes() == b"record"
    assert payload["run"] == {
        "notes": ["before"],
        "results_dir": str(directory),
        "record_path": str(path),
    }


@pytest.mark.parametrize(
    "name",
    [
        "../x.jsonl",
        "runs/../../x.jsonl",
        "/runs/x.jsonl",
        "runs//x.jsonl",
        "runs/./x.jsonl",
        "runs/x\0.jsonl",
        "aggregate-result.json",
        "runs/x.py",
        "conftest.py",
        "mock-recordings/a/b/c.json",
        "",
    ],
    ids=repr,
)
def test_file_of_another_name_is_written_nowhere(
    remote: RemoteResults, suite: Suite, name: str
) -> None:
    before = _everything(suite.root)
    payload = _payload(suite.root, (name, zlib.compress(b"x")))

    remote.take(RUN, payload)

    assert _everything(suite.root) == before
    notes = payload["run"]["notes"]
    assert notes == ["before", f"{name} of {suite.root} belongs to no results of this session"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"no zlib", "could not be written: "),
        (zlib.compress(bytes(5000)), "is cut, or has more than 4000 bytes"),
        (zlib.compress(b"cut off")[:-6], "is cut, or has more than 4000 bytes"),
    ],
    ids=["not packed", "too large", "cut"],
)
def test_data_that_cannot_be_unpacked_is_told(
    remote: RemoteResults,
    suite: Suite,
    monkeypatch: pytest.MonkeyPatch,
    data: bytes,
    why: str,
) -> None:
    monkeypatch.setattr(remote_results, "LARGEST_BYTES", 4000)
    payload = _payload(suite.root, ("session.json", data))

    remote.take(RUN, payload)

    notes = payload["run"]["notes"]
    assert isinstance(notes, list)
    assert notes[1].startswith(f"session.json {why}")


def test_payload_of_this_process_is_left_alone(remote: RemoteResults) -> None:
    payload: dict[str, object] = {"schema": 4, "arm": "with", "score": 1.0}

    remote.take(RUN, payload)

    assert payload == {"schema": 4, "arm": "with", "score": 1.0}
