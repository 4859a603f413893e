"""Agents whose session is killed before it can end them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_plugin_eval.agents import processes
from pytest_plugin_eval.agents.child import Child, Limits
from pytest_plugin_eval.agents.processes import tied
from tests.agents.test_child import has_ended

SESSION = """
import sys, threading
from pathlib import Path
from pytest_plugin_eval.agents.child import Child, Limits

code = "import os, time; open('pid', 'w').write(f'{os.getpid()}'); time.sleep(600)"
command = [sys.executable, "-SE", "-c", code]
child = Child(command, cwd=Path.cwd(), env={}, limits=Limits(timeout_s=600))
threading.Thread(target=child.run, args=("",)).start()
"""


@pytest.fixture
def fresh_tie() -> Iterator[None]:
    """Have the way to tie looked for anew, before and after."""
    processes._tie.cache_clear()
    yield
    processes._tie.cache_clear()


@pytest.mark.skipif(not processes._tie(), reason="needs setpriv of util-linux 2.33")
def test_agent_of_a_session_that_is_killed_ends_with_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pid")
    with subprocess.Popen([sys.executable, "-c", SESSION], cwd=tmp_path) as session:
        agent = int((tmp_path / "pid").read_text())

        session.send_signal(signal.SIGKILL)

        assert has_ended(agent)


def test_agent_stays_while_other_threads_of_the_session_end(tmp_path: Path) -> None:
    code = "import sys; sys.stdin.read(); print('done')"
    child = Child(
        [sys.executable, "-SE", "-c", code],
        cwd=tmp_path,
        env=dict(os.environ),
        limits=Limits(timeout_s=60),
    )
    passing = threading.Thread(target=lambda: None)
    passing.start()
    passing.join()

    result = child.run("")

    assert (result.lines, result.exit_code) == (("done",), 0)


@pytest.mark.usefixtures("fresh_tie")
@pytest.mark.parametrize("code", [None, "exit 1"], ids=["not there", "too old"])
def test_system_without_the_means_starts_agents_all_the_same(
    code: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if code is not None:
        program = tmp_path / "setpriv"
        program.write_text(f"#!/bin/sh\n{code}\n", encoding="utf-8")
        program.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert tied([sys.executable, "-V"]) == [sys.executable, "-V"]


def test_program_that_is_not_there_is_not_hidden_behind_another() -> None:
    assert tied(["/nowhere/claude", "-p"]) == ["/nowhere/claude", "-p"]
