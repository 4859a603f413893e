"""Sessions ended by a signal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.differential.compare import OURS
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
    keys = ("partial", "partialReason")
    assert [document[key] for key in keys] == [theirs[1][key] for key in keys]
    fast, *rest = document["cases"]
    their_fast, their_slow = theirs[1]["cases"]
    assert fast["aggregates"] == their_fast["aggregates"]
    # D12: the reference grades the run in flight as far as it got.
    assert their_slow["arms"]["with"][0]["score"] == 1
    assert [case["aggregates"]["score"] for case in rest] in ([], [None])


def test_hangup_keeps_what_is_there(slow: Suite, tmp_path: Path) -> None:
    """The reference writes nothing then; ours what it has."""
    code, document = _interrupted([*OURS, "run"], slow.root, tmp_path / "ours", signal.SIGHUP)

    assert code == CODES[signal.SIGHUP]
    assert document is not None
    assert document["cases"][0]["aggregates"]["score"] == 1


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
