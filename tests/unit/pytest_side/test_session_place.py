"""The directory of a distributed session, also when the session is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_plugin_eval.pytest_side.session_place import LOCK, PREFIX, SessionPlace

SESSION = """
import sys
from pytest_plugin_eval.pytest_side.session_place import SessionPlace

place = SessionPlace()
place.money()
print(place.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary directories are made."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@pytest.fixture
def session(base: Path) -> Iterator[subprocess.Popen[str]]:
    """A session of another process."""
    with subprocess.Popen(
        [sys.executable, "-c", SESSION], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def _aged(path: Path) -> Path:
    os.utime(path, (0, 0))
    return path


def _begin_and_end() -> None:
    place = SessionPlace()
    place.money()
    place.remove()


def test_directory_of_a_killed_session_goes_with_the_next_one(
    base: Path, session: subprocess.Popen[str]
) -> None:
    assert session.stdout is not None
    left = Path(session.stdout.readline().rstrip())

    _aged(left)
    _begin_and_end()
    there_while_it_lived = left.is_dir()
    session.kill()
    session.wait()
    _aged(left)
    _begin_and_end()

    assert there_while_it_lived
    assert list(base.iterdir()) == []


def test_nothing_else_is_swept(base: Path) -> None:
    young = base / f"{PREFIX}young"
    (young / "money").mkdir(parents=True)
    target = base / "target"
    target.mkdir()
    link = base / f"{PREFIX}link"
    link.symlink_to(_aged(target))
    file = base / f"{PREFIX}file"
    file.touch()
    _aged(file)
    other = base / "plugin-eval-other"
    other.mkdir()
    _aged(other)

    _begin_and_end()

    assert set(base.iterdir()) == {young, target, link, file, other}


def test_directory_is_made_with_the_first_worker_and_gone_at_the_end(base: Path) -> None:
    place = SessionPlace()
    before = list(base.iterdir())

    place.money()
    is_locked = (place.path / LOCK).exists()
    mode = place.path.stat().st_mode & 0o777
    place.remove()

    assert (before, is_locked, mode, list(base.iterdir())) == ([], True, 0o700, [])
