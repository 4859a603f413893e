"""What a plugin's own code attempts, and what reaches the reader of a report."""

from __future__ import annotations

import json
import os
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_plugin_eval.records.model import Arm, Ending
from tests.agents.conftest import make_backend
from tests.differential.suite import exists, regex
from tests.support.agents import make_case, make_request, write_plugin
from tests.support.attacks import running
from tests.support.script import rule, script, tool
from tests.support.scripted_api import ScriptedApi
from tests.support.sessions import Sessions

pytestmark = [
    pytest.mark.agent,
    pytest.mark.skipif(sys.platform != "linux", reason="the sandbox of Linux is tried"),
]

HOSTILE = "\x1b]0;title\x07\x1b[2J\x1b[31mred\x9b31m\u202eback\x00\x08\r"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def hooked(root: Path, **commands: str) -> Path:
    """Write a plugin with a hook for each event."""
    hooks = {
        event: [{"hooks": [{"type": "command", "command": command}]}]
        for event, command in commands.items()
    }
    return write_plugin(root, {"hooks/hooks.json": json.dumps({"hooks": hooks})})


def test_hook_at_the_end_changes_the_workspace_before_it_is_looked_at(tmp_path: Path) -> None:
    """A plugin's hooks are part of what is measured: the reference counts their files as well."""
    root = hooked(tmp_path / "demo", Stop="touch stop.txt", SessionEnd="touch end.txt")

    with ScriptedApi(script(rule(turns=["done"]))) as api:
        backend = make_backend(api, tmp_path)
        record = backend.run(make_request(make_case(root)))
        backend.close()

    assert [file.path for file in record.files if file.created] == ["end.txt", "stop.txt"]


def test_process_that_a_hook_leaves_behind_is_ended_before_the_workspace_is_read(
    tmp_path: Path,
) -> None:
    mark = f"76543.{os.getpid()}"
    late = f"(setsid sh -c 'sleep {mark}; touch late.txt' >/dev/null 2>&1 &)"
    root = hooked(tmp_path / "demo", SessionEnd=late, Stop=late)

    with ScriptedApi(script(rule(turns=["done"]))) as api:
        backend = make_backend(api, tmp_path)
        record = backend.run(make_request(make_case(root)))
        backend.close()

    assert running(mark) == []
    assert record.outcome.ending is Ending.COMPLETED
    assert [file.path for file in record.files] == []
    assert any("outlived the agent" in note for note in record.notes)


def test_hooks_of_the_plugin_do_not_run_in_the_other_arm(tmp_path: Path) -> None:
    root = hooked(tmp_path / "demo", SessionStart="touch start.txt", Stop="touch stop.txt")

    with ScriptedApi(script(rule(turns=["done"]))) as api:
        backend = make_backend(api, tmp_path)
        record = backend.run(make_request(make_case(root), Arm.WITHOUT))
        backend.close()

    assert record.files == ()


@pytest.fixture
def hostile(tmp_path: Path, scripted_api: Callable[[object], ScriptedApi]) -> tuple[Sessions, str]:
    """Return a session whose names, replies and files hold control characters, and its output."""
    write = tool("Write", file_path=f"{{cwd}}/a{HOSTILE.replace(chr(0), '')}.txt", content=HOSTILE)
    say = f"</testcase>{HOSTILE}]]>"
    session = Sessions(
        tmp_path, scripted_api(script(rule(turns=[[write, tool("Read", file_path=say)], say])))
    )
    session.suite.case(
        f"shows{HOSTILE.replace(chr(0), '')}",
        {
            "bad": regex("never", name=f"bad{HOSTILE}"),
            "file": exists(f"b{HOSTILE}.txt"),
            "listed": regex("never", target="files"),
        },
        front={"name": f"case{HOSTILE}", "tags": [f"tag{HOSTILE}"]},
    )
    reports = ("--junitxml", "junit.xml", "--eval-json", "out.json")
    status, output = session.run("evals", "-v", "--eval-allow-tools", "Write", *reports)
    assert status == 1, output
    return session, output


def test_terminal_gets_no_control_characters(hostile: tuple[Sessions, str]) -> None:
    _, output = hostile

    assert [repr(line) for line in output.split("\n") if CONTROL.search(line)] == []
    assert "bad" in output


def test_reports_stay_whole(hostile: tuple[Sessions, str]) -> None:
    session, _ = hostile
    xml = (session.suite.root / "junit.xml").read_text(encoding="utf-8")
    document = json.loads((session.suite.root / "out.json").read_text(encoding="utf-8"))

    assert CONTROL.findall(xml) == []
    assert len(list(ET.fromstring(xml).iter("testcase"))) > 1  # noqa: S314 - written by us
    (case,) = document["cases"]
    assert case["arms"]["with"][0]["measured"] is True
