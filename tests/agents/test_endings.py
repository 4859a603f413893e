"""Every ending that the real agent can be brought to. Spec: behaviour-evals, 6."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_plugin_eval.records.model import Arm, Ending, RunRecord
from tests.agents.conftest import MakeBackend
from tests.support.agents import make_case, make_request, write_plugin
from tests.support.script import TurnData, body, drop, error, rule, script, tool, turn
from tests.support.scripted_api import ScriptedApi

pytestmark = pytest.mark.agent

IDS = """
    400 401 403 404 413 429 500 529 dropped dropped-midway garbled late-error output-limit refusal
    pause empty error-words
"""
READ = tool("Read", file_path="/etc/hostname")


def run(
    backend: MakeBackend, tmp_path: Path, turns: Sequence[TurnData], **changes: object
) -> RunRecord:
    case = make_case(write_plugin(tmp_path / "demo"), **changes)
    with ScriptedApi(script(rule(turns=turns, end=None))) as api:
        return backend(api).run(make_request(case, Arm.WITHOUT))


@pytest.mark.parametrize(
    ("turns", "ending", "text"),
    [
        ([error(400, "bad req")], Ending.AGENT_ERROR, "exit 1: API Error: 400 bad req"),
        ([error(401)], Ending.CREDENTIAL_REFUSED, "exit 1: "),
        ([error(403)], Ending.CREDENTIAL_REFUSED, "exit 1: "),
        ([error(404)], Ending.AGENT_ERROR, "exit 1: "),
        ([error(413)], Ending.AGENT_ERROR, "exit 1: "),
        ([error(429, "slow", headers={"retry-after": "0"})], Ending.AGENT_ERROR, "exit 1: "),
        ([error(500)], Ending.AGENT_ERROR, "exit 1: API Error: 500"),
        ([error(529)], Ending.AGENT_ERROR, "exit 1: API Error: 529"),
        ([drop()], Ending.AGENT_ERROR, "exit 1: API Error"),
        ([drop(after_events=2)], Ending.AGENT_ERROR, "exit 1: API Error"),
        ([body("no JSON")], Ending.AGENT_ERROR, "exit 1: API Error"),
        ([["hi", READ], error(500)], Ending.AGENT_ERROR, "exit 1: API Error: 500"),
        ([turn("part", stop_reason="max_tokens")], Ending.STOPPED, "exit 1: API Error"),
        ([turn("no", stop_reason="refusal")], Ending.STOPPED, "exit 1: API Error"),
        ([turn("wait", stop_reason="pause_turn")], Ending.COMPLETED, None),
        ([turn()], Ending.COMPLETED, None),
        (["API Error: 401 Not logged in"], Ending.COMPLETED, None),
    ],
    ids=IDS.split(),
)
def test_ending(
    backend: MakeBackend,
    tmp_path: Path,
    turns: Sequence[TurnData],
    ending: Ending,
    text: str | None,
) -> None:
    outcome = run(backend, tmp_path, turns).outcome

    assert outcome.ending is ending
    assert (outcome.error is None) == (text is None)
    assert (outcome.error or "").startswith(text or "")


def test_turn_limit(backend: MakeBackend, tmp_path: Path) -> None:
    record = run(backend, tmp_path, [["so far", READ]], max_turns=2)

    outcome = record.outcome
    assert outcome.ending is Ending.TURN_LIMIT
    assert outcome.error == "exit 1: Reached maximum number of turns (2)"
    assert (outcome.turns, record.trace.last_message) == (3, "so far")


def test_time_limit_keeps_trace_and_cost(backend: MakeBackend, tmp_path: Path) -> None:
    turns: list[TurnData] = [["so far", READ], turn("late", delay_s=60)]

    record = run(backend, tmp_path, turns, timeout_s=12)

    outcome = record.outcome
    assert (outcome.ending, outcome.error) == (Ending.TIMED_OUT, "timed out after 12s")
    assert record.trace.last_message == "so far"
    assert record.trace.result is None
    assert outcome.cost_usd is not None
    assert outcome.cost_usd > 0


def test_time_limit_before_any_answer_is_not_measured(backend: MakeBackend, tmp_path: Path) -> None:
    outcome = run(backend, tmp_path, [turn("late", delay_s=60)], timeout_s=2).outcome

    assert outcome.ending is Ending.AGENT_ERROR
    assert outcome.error == "timed out after 2s: the model never answered"


def test_missing_sign_in_is_a_refused_credential(backend: MakeBackend, tmp_path: Path) -> None:
    case = make_case(write_plugin(tmp_path / "demo"))
    with ScriptedApi(script()) as api:
        record = backend(api, env={"ANTHROPIC_API_KEY": ""}).run(make_request(case))

        assert record.outcome.ending is Ending.CREDENTIAL_REFUSED
        assert api.messages == ()
