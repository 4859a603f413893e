"""Files that outlive a session."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.records.codec import read_record
from pytest_plugin_eval.records.model import Arm, Ending, RunKey, RunOutcome, RunRecord
from pytest_plugin_eval.records.trace import Trace
from pytest_plugin_eval.storage.atomic_write import write_bytes, write_text
from pytest_plugin_eval.storage.cost_history import CostRange, earlier_costs
from pytest_plugin_eval.storage.record_files import write_record
from pytest_plugin_eval.storage.results_dir import (
    named_results_directory,
    new_results_directory,
    release_results_directory,
    results_directories,
)

NOW = datetime(2026, 1, 31, 9, 5, 0, 123999, tzinfo=UTC)


def test_file_replaces_the_former_one_and_leaves_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "result.json"

    write_text(path, "one")
    write_text(path, "zwei ü \ud800\n")

    assert path.read_bytes() == "zwei ü \ufffd\n".encode()
    assert list(path.parent.iterdir()) == [path]


def test_failed_write_keeps_the_former_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "result.json"
    write_bytes(path, b"former")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_bytes(path, b"new")

    assert path.read_bytes() == b"former"
    assert list(tmp_path.iterdir()) == [path]


def test_mode_follows_the_umask(tmp_path: Path) -> None:
    former = os.umask(0o027)
    try:
        write_bytes(tmp_path / "file", b"")
    finally:
        os.umask(former)

    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


def test_longest_possible_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)

    write_bytes(path, b"x")

    assert path.read_bytes() == b"x"


def test_device_is_written_not_replaced() -> None:
    write_bytes(Path(os.devnull), b"x")

    assert not Path(os.devnull).is_file()


def test_results_directory_is_named_by_utc_with_milliseconds(tmp_path: Path) -> None:
    local = NOW.astimezone(timezone(timedelta(hours=5)))

    directory = new_results_directory(tmp_path / "results", local)

    assert directory == tmp_path / "results" / "2026-01-31T09-05-00-123Z"
    assert directory.is_dir()


def test_second_session_of_a_millisecond_takes_a_suffix(tmp_path: Path) -> None:
    names = [new_results_directory(tmp_path, NOW).name for _ in range(3)]

    stamp = "2026-01-31T09-05-00-123Z"
    assert names == [stamp, f"{stamp}-2", f"{stamp}-3"]


def test_newest_results_are_found_among_other_things(tmp_path: Path) -> None:
    for second in (1, 9, 5):
        new_results_directory(tmp_path, NOW.replace(second=second))
    latest = new_results_directory(tmp_path, NOW.replace(second=9))
    (tmp_path / "zzz").mkdir()
    (tmp_path / "2027-01-31T09-05-00-123Z").write_text("a file")

    assert results_directories(tmp_path)[0] == latest
    assert results_directories(tmp_path / "absent") == ()


def test_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    record = RunRecord(
        key=RunKey(case="evals/a", arm=Arm.WITHOUT, number=2),
        outcome=RunOutcome(ending=Ending.COMPLETED, cost_usd=0.25),
        trace=Trace(['{"type":"result"}']),
    )

    path = write_record(tmp_path, record)

    assert path == tmp_path / "evals" / "a" / "without-2.jsonl"
    assert read_record(path) == record


def test_absent_record_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"gone\.jsonl: cannot read the record: No such file"):
        read_record(tmp_path / "gone.jsonl")


def _results(base: Path, second: int, content: object) -> None:
    directory = new_results_directory(base, NOW.replace(second=second))
    text = content if isinstance(content, str) else json.dumps(content)
    (directory / "aggregate-result.json").write_text(text, encoding="utf-8")


def _document(*costs: object, **fields: object) -> dict[str, object]:
    runs = [{"costUsd": cost} for cost in costs]
    return {"cases": [{"arms": {"with": runs, "without": []}}], **fields}


def test_costs_come_from_earlier_live_results(tmp_path: Path) -> None:
    lost = {"costUsd": 9, "measured": False}
    _results(tmp_path, 1, _document(0.10, 0.30))
    _results(tmp_path, 2, {"cases": [{"arms": {"without": [lost, {"costUsd": 0.2}]}}]})
    _results(tmp_path, 3, _document(5.0, harness={"mode": "replay"}))

    assert earlier_costs(tmp_path) == CostRange(
        low_usd=0.1, median_usd=0.2, high_usd=0.3, runs=3, sessions=2
    )


@pytest.mark.parametrize(
    "content",
    [
        "",
        "not JSON",
        "[1, 2]",
        "[" * 100_000,
        '{"cases": 3}',
        '{"cases": [3, {"arms": []}, {"arms": {"with": {"a": 1}}}]}',
        _document(None, "0.3", True, -1),
        '{"cases": [{"arms": {"with": [{"costUsd": NaN}, {"costUsd": 1e999}, 7]}}]}',
    ],
    ids=["empty", "text", "list", "deep", "no cases", "odd shapes", "odd costs", "not finite"],
)
def test_foreign_results_say_nothing_about_cost(tmp_path: Path, content: object) -> None:
    _results(tmp_path, 1, content)

    assert earlier_costs(tmp_path) is None


def test_suite_without_results_says_nothing_about_cost(tmp_path: Path) -> None:
    assert earlier_costs(tmp_path / "absent") is None


def test_named_directory_is_one_for_all_workers_of_a_session(tmp_path: Path) -> None:
    named_results_directory(tmp_path / "out", "a")
    (tmp_path / "out" / "runs").mkdir()

    named_results_directory(tmp_path / "out", "a")

    assert (tmp_path / "out" / "runs").is_dir()
    assert not (tmp_path / "out" / "earlier-1").exists()


def test_results_of_an_earlier_session_are_moved_aside(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for session in ("a", "b", "c"):
        named_results_directory(out, session)
        (out / "runs").mkdir()
        (out / "aggregate-result.json").write_text(session, encoding="utf-8")
        (out / "report.html").write_text(session, encoding="utf-8")
        release_results_directory(out)

    pages = {path.parent.name: path.read_text() for path in out.rglob("report.html")}
    texts = {path.parent.name: path.read_text() for path in out.rglob("aggregate-result.json")}
    assert texts == pages == {"earlier-1": "a", "earlier-2": "b", "out": "c"}
    assert sorted(path.name for path in out.iterdir()) == [
        "aggregate-result.json", "earlier-1", "earlier-2", "report.html", "runs"
    ]  # fmt: skip


def test_what_was_graded_again_is_moved_with_its_runs(tmp_path: Path) -> None:
    for name in ("runs", "rescored"):
        (tmp_path / name).mkdir()

    named_results_directory(tmp_path, "b")

    assert sorted(path.name for path in (tmp_path / "earlier-1").iterdir()) == ["rescored", "runs"]
