"""Run directories: made, kept, removed, swept."""

from __future__ import annotations

import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_plugin_eval.agents.sandbox import (
    RunRoot,
    Sandbox,
    remove_tree,
    user_cache,
)
from pytest_plugin_eval.errors import AgentError


def make(root: RunRoot) -> Sandbox:
    sandbox = root.new()
    sandbox.make()
    return sandbox


def test_tree_of_a_run(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path / "eval-1")

    sandbox.make(credentials="{}")

    files = {
        path.relative_to(sandbox.path).as_posix()
        for path in sandbox.path.rglob("*")
        if path.is_file()
    }
    assert files == {
        "home/.git/HEAD",
        "home/.git/config",
        "home/.git/commondir",
        "home/.gitconfig",
        "config/.claude.json",
        "config/.credentials.json",
    }
    assert list(sandbox.workspace.iterdir()) == []
    assert sandbox.foreign_configuration() == ()
    assert stat.S_IMODE(sandbox.path.stat().st_mode) == 0o700
    assert stat.S_IMODE((sandbox.config / ".credentials.json").stat().st_mode) == 0o600


def test_workspace_is_in_a_repository_that_ends_at_home(tmp_path: Path) -> None:
    sandbox = make(RunRoot(tmp_path))

    done = subprocess.run(
        ["git", "rev-parse", "--show-toplevel", "--abbrev-ref", "HEAD"],
        cwd=sandbox.workspace,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.splitlines()[0] == str(sandbox.home)


def test_foreign_configuration_is_noticed(tmp_path: Path) -> None:
    sandbox = make(RunRoot(tmp_path))

    (sandbox.config / "settings.json").write_text("{}", encoding="utf-8")

    assert sandbox.foreign_configuration() == ("settings.json",)


def test_runs_of_one_process_have_places_of_their_own(tmp_path: Path) -> None:
    root = RunRoot(tmp_path)

    assert root.new().path != root.new().path


def test_closed_directories_are_removed(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "closed" / "inner").mkdir(parents=True)
    (tree / "closed" / "inner" / "file").touch(mode=0o400)
    (tree / "link").symlink_to(tmp_path)
    (tree / "closed" / "inner").chmod(0o000)
    (tree / "closed").chmod(0o500)

    assert remove_tree(tree)

    assert list(tmp_path.iterdir()) == []


def test_kept_directory_holds_no_credentials_and_is_never_stale(tmp_path: Path) -> None:
    root = RunRoot(tmp_path)
    sandbox = root.new()
    sandbox.make(credentials="{}")

    kept = root.keep(sandbox)
    root.close()
    RunRoot(tmp_path).new()

    assert (kept / "config" / ".claude.json").is_file()
    assert not (kept / "config" / ".credentials.json").exists()


def test_directories_of_a_living_process_are_left_alone(tmp_path: Path) -> None:
    root = RunRoot(tmp_path)
    living = make(root)

    make(RunRoot(tmp_path))

    assert root.path == tmp_path
    assert living.workspace.is_dir()


def test_directories_left_in_the_former_place_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    left = Sandbox(tmp_path / "pytest-plugin-eval" / "runs" / "eval-1-1")
    left.path.parent.mkdir(parents=True)
    left.make()
    (left.path.parent / "eval-1.lock").touch()

    root = RunRoot()
    root.open()
    root.close()

    assert root.path == tmp_path / "plugin-eval"
    assert list(left.path.parent.iterdir()) == []


def test_directories_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, sys; from pytest_plugin_eval.agents.sandbox import RunRoot;"
        " RunRoot(pathlib.Path(sys.argv[1])).new().make(); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    left = list(tmp_path.glob("eval-*-1"))

    fresh = make(RunRoot(tmp_path))

    assert len(left) == 1
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == [fresh.path]


@pytest.mark.parametrize(
    "place",
    [
        "{tmp}/file",
        "{tmp}/file/runs",
        pytest.param("/proc", marks=pytest.mark.skipif(not Path("/proc").is_dir(), reason="none")),
        "/proc/runs",
    ],
)
def test_place_that_cannot_be_used_names_the_option_at_once(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    path = place.format(tmp=tmp_path)
    started = time.monotonic()

    with pytest.raises(AgentError, match=f"^{path}: .* name another place with --eval-run-root"):
        RunRoot(Path(path)).open()

    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("env", "platform", "expected"),
    [
        pytest.param({}, "linux", "{home}/.cache", id="linux"),
        pytest.param({}, "darwin", "{home}/Library/Caches", id="macos"),
        pytest.param({"XDG_CACHE_HOME": "/elsewhere"}, "linux", "/elsewhere", id="chosen"),
        pytest.param({"XDG_CACHE_HOME": "relative"}, "linux", "{home}/.cache", id="relative"),
        pytest.param({"XDG_CACHE_HOME": ""}, "linux", "{home}/.cache", id="empty"),
    ],
)
def test_user_cache(env: dict[str, str], platform: str, expected: str) -> None:
    assert user_cache(env, platform) == Path(expected.format(home=Path.home()))
