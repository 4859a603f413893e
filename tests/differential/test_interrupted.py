"""Sessions ended by a signal."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.differential.compare import OURS, note
from tests.differential.suite import Suite, regex
from tests.support.reference import Document, agent_binary, base_environment
from tests.support.script import rule, script, turn
from tests.support.scripted_api import ScriptedApi

pytestmark = pytest.mark.agent

ANSWERS = script(
    rule(prompt="Do fast", turns=["OK"]), rule(prompt="Do slow", turns=[turn("late", delay_s=300)])
)
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.fixture
def slow(suite: Suite) -> Suite:
    """Return a suite whose second run lasts until it is ended."""
    suite.case("fast", {"ok": regex("OK")})
    return suite.case("slow", {"absent": regex("nothing", match="not_contains")})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(slow: Suite, tmp_path: Path, number: signal.Signals) -> None:
    reference = [str(agent_binary()), "plugin", "eval"]

    theirs = _interrupted(reference, slow.root, tmp_path / "theirs", number)
    code, document = _interrupted([*OURS, "run"], slow.root, tmp_path / "ours", number)

    assert document is not None
    assert theirs[1] is not None
    assert code == theirs[0] == CODES[number]
    assert _left_over(tmp_path / "ours") == []
    keys = ("partial", "partialReason")
    assert [document[key] for key in keys] == [theirs[1][key] for key in keys]
    fast, *rest = document["cases"]
    their_fast, their_slow = theirs[1]["cases"]
    assert fast["aggregates"] == their_fast["aggregates"]
    # D12: the reference grades the run in flight as far as it got.
    assert their_slow["arms"]["with"][0]["score"] == 1
    assert [case["aggregates"]["score"] for case in rest] in ([], [None])
    note(f"interrupted by {number.name}", 3 + len(fast["aggregates"]), {"D12": 1})


def test_hangup_keeps_what_is_there(slow: Suite, tmp_path: Path) -> None:
    """The reference writes nothing then; ours what it has."""
    code, document = _interrupted([*OURS, "run"], slow.root, tmp_path / "ours", signal.SIGHUP)

    assert code == CODES[signal.SIGHUP]
    assert _left_over(tmp_path / "ours") == []
    assert document is not None
    assert document["cases"][0]["aggregates"]["score"] == 1


def _left_over(scratch: Path) -> list[str]:
    """Return the command lines of processes that work below a directory."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            line = file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(scratch) in line:
                found.append(line)
    return found


def _interrupted(
    command: Sequence[str], root: Path, scratch: Path, number: signal.Signals
) -> tuple[int, Document | None]:
    """Send a signal while the second run waits; return exit code and the document on disk."""
    (scratch / "home" / "tmp").mkdir(parents=True)
    options = ["--trust-plugin", "--ablation", "none", "--output-dir", str(scratch / "results")]
    with (
        ScriptedApi(ANSWERS) as api,
        subprocess.Popen(
            [*command, str(root), *options],
            env=base_environment(api.url, scratch / "home"),
            cwd=scratch,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process,
    ):
        try:
            api.wait_for_messages(2, timeout_s=60)
            process.send_signal(number)
            code = process.wait(timeout=60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    file = scratch / "results" / "aggregate-result.json"
    return code, json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None
