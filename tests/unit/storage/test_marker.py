"""Whose a results directory is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pytest_plugin_eval.storage.marker import MARKER, other_live_session, owner, process_of
from pytest_plugin_eval.storage.results_dir import results_stamp


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives until its input is closed."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        yield child
        child.kill()


def _now() -> str:
    return results_stamp(datetime.now(UTC))


def test_directory_without_marker_belongs_to_nobody(tmp_path: Path) -> None:
    assert owner(tmp_path) is None
    assert other_live_session(tmp_path, f"{_now()} 1") is None


def test_marker_that_is_no_text_belongs_to_nobody(tmp_path: Path) -> None:
    (tmp_path / MARKER).write_bytes(b"\xff")

    assert owner(tmp_path) is None


@pytest.mark.parametrize(
    ("session", "process"),
    [
        ("2026-01-31T09-05-00-123Z 42", 42),
        ("2026-01-31T09-05-00-123Z", None),
        ("a", None),
        ("", None),
        ("a 0", None),
        ("a -1", None),
        ("a ٣", None),
        ("a 99999999999", None),
    ],
)
def test_process_is_the_last_word_of_a_session(session: str, process: int | None) -> None:
    assert process_of(session) == process


def test_living_session_of_another_process_is_found(
    tmp_path: Path, process: subprocess.Popen[bytes]
) -> None:
    (tmp_path / MARKER).write_text(f"{_now()} {process.pid}", encoding="utf-8")

    assert other_live_session(tmp_path, f"{_now()} {os.getpid()}") == process.pid


def test_workers_of_a_session_are_no_other_session(
    tmp_path: Path, process: subprocess.Popen[bytes]
) -> None:
    session = f"{_now()} {process.pid}"
    (tmp_path / MARKER).write_text(session, encoding="utf-8")

    assert other_live_session(tmp_path, session) is None


def test_killed_session_is_over(tmp_path: Path, process: subprocess.Popen[bytes]) -> None:
    (tmp_path / MARKER).write_text(f"{_now()} {process.pid}", encoding="utf-8")
    process.kill()
    process.wait(timeout=60)

    assert other_live_session(tmp_path, f"{_now()} {os.getpid()}") is None


def test_earlier_session_of_the_same_process_is_over(tmp_path: Path) -> None:
    (tmp_path / MARKER).write_text(f"2026-01-31T09-05-00-123Z {os.getpid()}", encoding="utf-8")

    assert other_live_session(tmp_path, f"{_now()} {os.getpid()}") is None


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="the system tells no start times")
def test_process_number_that_was_given_again_is_no_session(
    tmp_path: Path, process: subprocess.Popen[bytes]
) -> None:
    (tmp_path / MARKER).write_text(f"2020-01-31T09-05-00-123Z {process.pid}", encoding="utf-8")

    assert other_live_session(tmp_path, f"{_now()} {os.getpid()}") is None


def test_killed_session_that_nobody_waited_for_is_over(
    tmp_path: Path, process: subprocess.Popen[bytes]
) -> None:
    (tmp_path / MARKER).write_text(f"{_now()} {process.pid}", encoding="utf-8")
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    assert other_live_session(tmp_path, f"{_now()} {os.getpid()}") is None
