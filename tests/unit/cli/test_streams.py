"""Standard output that cannot be written, and a working directory that is gone."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_plugin_eval.cli.streams import stream_problem

CODE = "import sys; from pytest_plugin_eval.cli.main import main; sys.exit(main())"
FULL = Path("/dev/full")
COMMANDS = (
    *(["--help"], ["--version"], ["schema"], ["schema", "case"], ["schema", "result"]),
    *(["doctor", "."], ["doctor", ".", "--json"], ["history", "results"]),
    *(
        ["report", "results"],
        ["diff", "results", "results", "--across-suites"],
        ["new", "--bare", "one"],
    ),
)
READING = [one for one in COMMANDS if one[0] in ("schema", "doctor", "history", "report", "diff")]


@pytest.fixture(autouse=True)
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".claude-plugin").mkdir()
    (tmp_path / ".claude-plugin/plugin.json").write_text('{"name": "demo"}')
    (tmp_path / "results").mkdir()
    document = {
        "schemaVersion": 1,
        "startedAt": "2026-01-01T09:00:00.000Z",
        "suite": {"root": "/demo", "ablation": "none", "threshold": 1, "plugins": []},
        "cases": [],
    }
    (tmp_path / "results/aggregate-result.json").write_text(json.dumps(document))
    monkeypatch.chdir(tmp_path)


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a full device")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_output_that_cannot_be_written_is_told_in_one_line(
    command: list[str], unbuffered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)

    with FULL.open("wb") as full:
        done = _command(*command, stdout=full.fileno())

    assert done.returncode == 1
    assert done.stderr.endswith(b"Error: stdout: cannot be written: No space left on device\n")
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_output_that_is_closed_is_told_before_anything_is_done(
    command: list[str], tmp_path: Path
) -> None:
    before = sorted(tmp_path.rglob("*"))
    shell = 'exec "$@" >&-'

    done = subprocess.run(
        ["/bin/sh", "-c", shell, "sh", sys.executable, "-c", CODE, *command],
        stderr=subprocess.PIPE,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr == b"Error: stdout is closed, expected somewhere to write to\n"
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_reader_that_goes_away_changes_neither_files_nor_exit_code(
    command: list[str], unbuffered: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with Path(os.devnull).open("wb") as nowhere:
        read = _command(*command, stdout=nowhere.fileno())
    files = _take_pages(tmp_path)
    ours, theirs = os.pipe()
    os.close(ours)

    done = _command(*command, stdout=theirs)

    os.close(theirs)
    assert (done.returncode, done.stderr) == (read.returncode, read.stderr)
    assert _take_pages(tmp_path) == files


@pytest.mark.parametrize("command", [["doctor"], ["new", "--bare", "one"], ["run"]], ids=" ".join)
def test_directory_that_is_gone_is_told_in_one_line(command: list[str], tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    shell = 'cd "$0" && rmdir "$0" && exec "$@"'

    done = subprocess.run(
        ["/bin/sh", "-c", shell, gone, sys.executable, "-c", CODE, *command],
        capture_output=True,
        check=False,
    )

    assert done.returncode == 1
    last = done.stderr.decode().splitlines()[-1]
    assert last.startswith("Error: the working directory cannot be used: ")
    assert b"Traceback" not in done.stderr


def test_error_of_a_file_is_none_of_the_stream() -> None:
    assert stream_problem(OSError(errno.ENOSPC, "No space left on device", "results.json")) is None
    assert stream_problem(FileNotFoundError(errno.ENOENT, "No such file or directory")) is None


def _take_pages(directory: Path) -> list[Path]:
    pages = sorted(directory.rglob("*.html"))
    for page in pages:
        page.unlink()
    return pages


def _command(*arguments: str, stdout: int) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", CODE, *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        check=False,
    )
