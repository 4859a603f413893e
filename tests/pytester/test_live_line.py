"""The live line: on a terminal, in place, gone before anything else; and nowhere else."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import pytest

from tests.pytester.conftest import Suite
from tests.support.screen import on_terminal, shown

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are POSIX")

NO_THREAD = (
    "import threading\n"
    "def pytest_unconfigure():\n"
    "    names = [thread.name for thread in threading.enumerate()]\n"
    "    assert not any(name.startswith('eval-live') for name in names), names\n"
)
DRAWN = "evals: 1 running, 0 of 3 done"


def _session(
    suite: Suite,
    *options: str,
    columns: int = 80,
    variables: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    suite.case("first")
    suite.records("first", "hh", "g")
    suite.pytester.makeconftest(NO_THREAD)
    env = {name: value for name, value in os.environ.items() if name not in ("CI", "COLUMNS")}
    env |= {"TERM": "xterm", **(variables or {})}
    command = [sys.executable, "-m", "pytest", "--eval-mode=replay", "evals", *options]
    return on_terminal(command, cwd=suite.root, env=env, columns=columns)


@pytest.mark.parametrize(
    ("options", "progress"),
    [
        ([], "evals/first ..b."),
        (["-q"], "..b."),
        (["-v"], "evals/first::run[with-1] PASSED"),
        (["-n", "2"], "..b."),
    ],
    ids=["plain", "-q", "-v", "-n 2"],
)
def test_line_is_drawn_below_the_progress_and_leaves_no_trace(
    suite: Suite, options: list[str], progress: str
) -> None:
    status, written = _session(suite, *options)

    lines = shown(written, columns=80)
    assert status == 0, written
    assert "evals: 1 running, 0 of 3 done" in written or "evals: 2 running, 0 of 3" in written
    assert not any("running" in line for line in lines)
    # Workers end in any order, and so do the letters.
    assert any(sorted(progress) == sorted(line[: len(progress)]) for line in lines)
    assert lines[-1] == "exit status 0: the one case met its threshold"


@pytest.mark.parametrize("columns", [24, 30, 45])
def test_line_is_cut_to_a_narrow_terminal(suite: Suite, columns: int) -> None:
    status, written = _session(suite, columns=columns)

    drawn = [part.partition("\x1b")[0] for part in written.split("\x1b[2K") if "running" in part]
    assert status == 0
    assert drawn
    assert max(map(len, drawn)) < columns
    assert not any("running" in line for line in shown(written, columns=columns))


def test_line_has_no_colour(suite: Suite) -> None:
    _, written = _session(suite, "--color=yes", variables={"NO_COLOR": "1"})

    at = written.index(DRAWN)
    assert "m" not in written[written.rindex("\x1b", 0, at) : at]


@pytest.mark.parametrize(
    ("options", "variables"),
    [
        ([], {"TERM": "dumb"}),
        (["-s"], {}),
        (["--pdb"], {}),
        (["-o", "log_cli=true"], {}),
        (["--collect-only"], {}),
        (["-p", "no:terminal"], {}),
    ],
    ids=["dumb", "-s", "--pdb", "live log", "plan", "no reporter"],
)
def test_line_is_left_out_where_it_would_harm(
    suite: Suite, options: list[str], variables: dict[str, str]
) -> None:
    status, written = _session(suite, *options, variables=variables)

    assert status == 0, written
    assert "running" not in written


def test_pipe_gets_no_control_sequence(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "hh", "g")

    result = suite.pytester.runpytest_subprocess("--eval-mode=replay", "evals")

    assert "\x1b" not in result.stdout.str()
    assert "running" not in result.stdout.str()


@pytest.mark.parametrize("encoding", ["cp437", "cp1252", "ascii"])
def test_terminal_without_unicode_gets_letters_and_words(
    suite: Suite, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    suite.case("first")
    suite.record("first", "with", 1, "größer 日本 \u2713")
    suite.record("first", "without", 1, "no")

    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    result = suite.pytester.runpytest_subprocess("--eval-mode=replay", "--color=no", "evals")

    text = result.stdout.str()
    assert text.isascii()
    assert "  x hello (weight 1): pattern not found in last_message" in text
    assert "CASE   WITH  W/OUT delta" in text
