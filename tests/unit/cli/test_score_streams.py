"""Where scores are printed: terminals, files, pipes, and what cannot be written."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_plugin_eval.cli.main import main
from tests.support.scores import (
    FORMATS,
)
from tests.support.skills import W1, write_skill

Captured = pytest.CaptureFixture[str]

pytestmark = pytest.mark.usefixtures("scored_place")


def _command(
    *arguments: str,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
    **variables: str,
) -> subprocess.CompletedProcess[bytes]:
    code = "import sys; from pytest_plugin_eval.cli.main import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        stdout=stdout,
        stderr=stderr,
        check=False,
        env={**os.environ, **variables},
        timeout=60,
    )


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_table_is_made_of_what_the_terminal_has(encoding: str) -> None:
    done = _command(
        *("score", "w1", "--depth", "quick", "--output", "table"), PYTHONIOENCODING=encoding
    )

    assert done.returncode == 0, done.stderr
    assert ("█" in done.stdout.decode(encoding)) == (encoding == "utf-8")
    assert ("###" in done.stdout.decode(encoding)) == (encoding != "utf-8")


@pytest.mark.parametrize("output", ["json", "markdown", "html"])
def test_document_is_utf_8_whatever_the_locale_is(output: str) -> None:
    write_skill(Path("w\N{LATIN SMALL LETTER E WITH ACUTE}"), W1)

    done = _command(
        *("score", "w\u00e9", "--depth", "quick", "--output", output),
        PYTHONIOENCODING="ascii",
        PYTHONUTF8="1",
    )

    assert done.returncode == 0, done.stderr
    assert "w\u00e9" in done.stdout.decode()


def test_path_that_is_no_text_is_printed_all_the_same() -> None:
    directory = os.fsdecode(b"w\xff")
    write_skill(Path(directory), W1)

    for output in ("json", "markdown", "html", "table"):
        done = _command("score", directory, "--depth", "quick", "--output", output)
        assert done.returncode == 0, done.stderr
        assert "w\ufffd" in done.stdout.decode()
    failed = _command("score", os.fsdecode(b"no\xff"), "--depth", "quick")
    assert failed.returncode == 2
    assert len(failed.stderr.splitlines()) == 1


def test_reader_that_goes_away_is_no_traceback() -> None:
    code = "import sys; from pytest_plugin_eval.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "score", *["w1"] * 200, "--depth", "quick"]

    with subprocess.Popen(
        [*command, "--output", "html"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        err = process.stderr.read()

    assert b"Traceback" not in err


@pytest.mark.parametrize("output", FORMATS)
@pytest.mark.parametrize("threshold", ["0", "99"])
def test_reader_that_goes_away_leaves_the_exit_code_be(output: str, threshold: str) -> None:
    command = ["score", *["w1"] * 200, "--depth", "quick", "--output", output]
    ours, theirs = os.pipe()
    os.close(ours)

    done = _command(*command, "--threshold", threshold, stdout=theirs)

    os.close(theirs)
    assert done.returncode == (1 if threshold == "99" else 0)
    assert b"Error" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a full device")
@pytest.mark.parametrize(
    "command",
    [
        *(["score", "w1", "--depth", "quick", "--output", one] for one in FORMATS),
        *(["compare", "w1", "other", "--output", one] for one in FORMATS),
        ["init", ".", "--corpus-dir", "corpus"],
    ],
    ids=" ".join,
)
def test_output_that_cannot_be_written_is_told_in_one_line(command: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = _command(*command, stdout=full.fileno())

    assert done.returncode == 2
    assert done.stderr == b"Error: stdout: cannot be written: No space left on device\n"


@pytest.mark.parametrize("output", FORMATS)
def test_output_that_is_closed_is_told_before_anything_is_asked(
    output: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(sys, "stdout", None)

    assert main(["score", "w1", "--output", output]) == 2

    assert capsys.readouterr().err == "Error: stdout is closed, expected somewhere to write to\n"


def test_notes_that_nobody_reads_end_nothing() -> None:
    ours, theirs = os.pipe()
    os.close(ours)

    done = _command("score", "w1", "demo", "nowhere", "--depth", "quick", stderr=theirs)

    os.close(theirs)
    assert done.returncode == 2
    assert done.stdout.startswith(b"# Quality scores")


def test_table_is_the_default_on_a_terminal() -> None:
    assert _on_a_terminal(["score", "w1", "--depth", "quick"]).startswith("w1 (skill, quick): w1")
    assert "Winner" in _on_a_terminal(["compare", "w1", "other"])


def _on_a_terminal(arguments: Sequence[str]) -> str:
    code = "import sys; from pytest_plugin_eval.cli.main import main; sys.exit(main())"
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=theirs) as process:
        os.close(theirs)
        read = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # Linux says so when the other end is closed
                break
            if not part:
                break
            read += part
        assert process.wait(60) == 0
    os.close(ours)
    return read.decode()


def test_quick_score_imports_no_more_than_it_needs() -> None:
    code = (
        "import sys; from pytest_plugin_eval.cli.main import main\n"
        "assert main(['score', 'w1', '--depth', 'quick', '--output', 'json']) == 0\n"
        "heavy = {'anthropic', 'asyncio', 'filelock', 'jinja2', 'pydantic', 'pytest', 'scipy',\n"
        "         'concurrent.futures', 'decimal', 'subprocess', 'py_mini_racer'}\n"
        "sys.stderr.write(' '.join(sorted(heavy & set(sys.modules))))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )

    assert done.stderr == ""
