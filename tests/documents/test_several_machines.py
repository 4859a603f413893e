"""The commands of the page about several machines, run in the order in which they stand."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.example.markdown import ROOT, blocks
from tests.example.workplace import NO_API, copy_example
from tests.support.reference import base_environment
from tests.support.remote import missing_ssh, remote_host

PAGE = ROOT / "docs" / "how-to" / "run-on-several-machines.md"
COMMANDS = [block.text.strip() for block in blocks(PAGE.read_text(encoding="utf-8"), "sh")]
SHARDS = [line for line in COMMANDS if "--tx" not in line]
HERE = [line for line in COMMANDS if "popen//chdir=/srv/plugin" in line]
COPIED = [line for line in COMMANDS if "--rsyncdir" in line]
BY_SSH = [line for line in COMMANDS if "ssh=" in line]
CASES = 10


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """Return a copy of the example."""
    return copy_example(tmp_path)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return another copy, as of another machine."""
    (tmp_path / "srv").mkdir()
    return copy_example(tmp_path / "srv")


def _run(line: str, plugin: Path) -> str:
    """Run a line as a shell does, and return what it prints."""
    home = plugin.parent / "home"
    (home / "tmp").mkdir(parents=True, exist_ok=True)
    own = base_environment(NO_API, home)
    tools = os.pathsep.join((str(Path(sys.executable).parent), own["PATH"]))
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=plugin,
        env={**own, "PATH": tools, "PYTHONWARNINGS": "ignore"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def _cases(document: Path) -> int:
    return len(json.loads(document.read_text("utf-8"))["cases"])


def test_every_command_of_the_page_is_run_by_a_test() -> None:
    assert sorted([*SHARDS, *HERE, *COPIED, *BY_SSH]) == sorted(COMMANDS)
    assert [len(lines) for lines in (SHARDS, HERE, COPIED, BY_SSH)] == [6, 1, 1, 1]


def test_shards_are_merged(plugin: Path) -> None:
    for line in SHARDS:
        _run(line, plugin)

    parts = [_cases(path) for path in plugin.glob("shards/*/aggregate-result.json")]
    assert len(parts) == 4
    assert all(parts)
    assert sum(parts) == _cases(plugin / "merged/aggregate-result.json") == CASES


def test_workers_of_another_checkout(plugin: Path, checkout: Path) -> None:
    said = _run(HERE[0].replace("/srv/plugin", str(checkout)), plugin)

    assert f"{CASES} cases · {CASES} passed" in said
    assert not (checkout / "evals/results").exists()


def test_workers_with_a_copy(plugin: Path, tmp_path: Path) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()

    said = _run(COPIED[0].replace("/srv/copies", str(copies)), plugin)

    assert f"{CASES} cases · {CASES} passed" in said


@pytest.mark.skipif(
    missing_ssh() is not None, reason=f"no machine to log in to without {missing_ssh()}"
)
def test_workers_reached_by_ssh(plugin: Path, checkout: Path, tmp_path: Path) -> None:
    with remote_host(tmp_path / "ssh") as config:
        line = BY_SSH[0].replace("/srv/plugin", f"{checkout}//ssh_config={config}")
        line = re.sub(r"python=[^/]*(/[^/]+)+(?=//)", f"python={sys.executable}", line)
        said = _run(line.replace("build-1", "elsewhere"), plugin)

    assert f"{CASES} cases · {CASES} passed" in said
    assert not (checkout / "evals/results").exists()
