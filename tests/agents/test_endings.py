"""Every ending that the real agent can be brought to. Spec: behaviour-evals, 6."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytest_plugin_eval.records.model import Arm, Ending, RunRecord
from tests.agents.conftest import MakeBackend
from tests.support.agents import make_case, make_request, write_plugin
from tests.support.reference import agent_binary
from tests.support.script import TurnData, body, drop, error, rule, script, tool, turn
from tests.support.scripted_api import ScriptedApi

pytestmark = pytest.mark.agent

IDS = """
    400 401 403 404 408 413 429 429-for-long 500 502 529 dropped dropped-midway dropped-after-text
    failed-after-text empty-reply garbled no-message late-error failed-after-refusal
    failed-after-output-limit output-limit context-limit refusal pause empty error-words
"""
LATER_IDS = "400 401 403 404 408 413 429 529 dropped dropped-midway empty garbled"
READ = tool("Read", file_path="/etc/hostname")
# The agent asks several times; more faults than it has attempts.
ALWAYS = 9
LIMITS_S = (6, 20, 50)
# Becomes the agent, so that its number is that of the process that a test ends.
WRAPPER = """#!/bin/sh
echo $$ > "{pid}"
exec "{agent}" "$@"
"""


def run(
    backend: MakeBackend,
    tmp_path: Path,
    turns: Sequence[TurnData],
    *,
    retries: int = 1,
    **changes: object,
) -> RunRecord:
    case = make_case(write_plugin(tmp_path / "demo"), **changes)
    with ScriptedApi(script(rule(turns=turns, end=None))) as api:
        agent = backend(api, env={"CLAUDE_CODE_MAX_RETRIES": str(retries)})
        return agent.run(make_request(case, Arm.WITHOUT))


def run_to_the_limit(
    backend: MakeBackend, tmp_path: Path, turns: Sequence[TurnData]
) -> tuple[RunRecord, int]:
    """Run until the time limit, in the second turn; return the limit too.

    It is as short as lets the agent come so far, which takes long on a machine that is busy.
    """
    plugin = write_plugin(tmp_path / "demo")
    for limit_s in LIMITS_S:
        case = make_case(plugin, timeout_s=limit_s)
        with (
            ScriptedApi(script(rule(turns=turns, end=None))) as api,
            ThreadPoolExecutor(1) as pool,
        ):
            agent = backend(api, env={"CLAUDE_CODE_MAX_RETRIES": "10"})
            making = pool.submit(agent.run, make_request(case, Arm.WITHOUT))
            try:
                api.wait_for_messages(2, limit_s - 2)
            except TimeoutError:
                continue
            return making.result(limit_s + 60), limit_s
    pytest.fail(f"no second request within {LIMITS_S[-1]} s")


@pytest.mark.parametrize(
    ("turns", "ending", "text"),
    [
        ([error(400, "bad req")], Ending.AGENT_ERROR, "exit 1: API Error: 400 bad req"),
        ([error(401)], Ending.CREDENTIAL_REFUSED, "exit 1: "),
        ([error(403)], Ending.CREDENTIAL_REFUSED, "exit 1: "),
        ([error(404)], Ending.AGENT_ERROR, "exit 1: "),
        ([error(408)], Ending.AGENT_ERROR, "exit 1: API Error: 408"),
        ([error(413)], Ending.AGENT_ERROR, "exit 1: "),
        ([error(429, "slow", headers={"retry-after": "0"})], Ending.AGENT_ERROR, "exit 1: "),
        ([error(429, "slow", headers={"retry-after": "90"})], Ending.AGENT_ERROR, "exit 1: "),
        ([error(500)], Ending.AGENT_ERROR, "exit 1: API Error: 500"),
        ([body("<p>bad</p>", status=502)], Ending.AGENT_ERROR, "exit 1: API Error: 502"),
        ([error(529)], Ending.AGENT_ERROR, "exit 1: API Error: 529"),
        ([drop()], Ending.AGENT_ERROR, "exit 1: API Error"),
        ([drop(after_events=1)], Ending.AGENT_ERROR, "exit 1: API Error"),
        (
            [turn("half a word", faults=[drop(after_events=3)] * ALWAYS)],
            Ending.AGENT_ERROR,
            "exit 1: API Error",
        ),
        (
            [turn("a whole block", faults=[error(529, after_events=4)] * ALWAYS)],
            Ending.AGENT_ERROR,
            "exit 1: API Error",
        ),
        ([body("")], Ending.AGENT_ERROR, "exit 1: API Error"),
        ([body("no JSON")], Ending.AGENT_ERROR, "exit 1: API Error"),
        ([body("{}")], Ending.AGENT_ERROR, "exit 1: API Error"),
        ([["hi", READ], error(500)], Ending.AGENT_ERROR, "exit 1: API Error: 500"),
        ([turn("no", stop_reason="refusal"), error(500)], Ending.AGENT_ERROR, "exit 1: API Error"),
        (
            [turn("part", stop_reason="max_tokens"), error(500)],
            Ending.AGENT_ERROR,
            "exit 1: API Error",
        ),
        ([turn("part", stop_reason="max_tokens")], Ending.STOPPED, "exit 1: API Error"),
        (
            [turn("long", stop_reason="model_context_window_exceeded")],
            Ending.STOPPED,
            "exit 1: API Error",
        ),
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


@pytest.mark.parametrize(
    ("fault", "ending"),
    [
        (error(400), Ending.AGENT_ERROR),
        (error(401), Ending.CREDENTIAL_REFUSED),
        (error(403), Ending.CREDENTIAL_REFUSED),
        (error(404), Ending.AGENT_ERROR),
        (error(408), Ending.AGENT_ERROR),
        (error(413), Ending.AGENT_ERROR),
        (error(429), Ending.AGENT_ERROR),
        (error(529), Ending.AGENT_ERROR),
        (drop(), Ending.AGENT_ERROR),
        (drop(after_events=1), Ending.AGENT_ERROR),
        (body(""), Ending.AGENT_ERROR),
        (body("<html>"), Ending.AGENT_ERROR),
    ],
    ids=LATER_IDS.split(),
)
def test_fault_at_a_later_turn_is_not_measured_and_keeps_the_cost(
    backend: MakeBackend, tmp_path: Path, fault: TurnData, ending: Ending
) -> None:
    outcome = run(backend, tmp_path, [["hi", READ], fault], retries=0).outcome

    assert (outcome.ending, outcome.is_measured) == (ending, False)
    assert (outcome.cost_usd or 0) > 0


def test_nothing_listening_is_an_agent_error(backend: MakeBackend, tmp_path: Path) -> None:
    case = make_case(write_plugin(tmp_path / "demo"))
    with ScriptedApi(script()) as api:
        agent = backend(api)

    outcome = agent.run(make_request(case, Arm.WITHOUT)).outcome

    assert outcome.ending is Ending.AGENT_ERROR
    assert outcome.cost_usd == 0


@pytest.mark.skipif(sys.platform == "win32", reason="the wrapper is a shell script")
def test_killed_agent_leaves_no_result(backend: MakeBackend, tmp_path: Path) -> None:
    case = make_case(write_plugin(tmp_path / "demo"))
    wrapper, pid = tmp_path / "claude", tmp_path / "pid"
    wrapper.write_text(WRAPPER.format(pid=pid, agent=agent_binary()), encoding="utf-8")
    wrapper.chmod(0o755)
    turns: list[TurnData] = [["hi", READ], turn("late", delay_s=60)]
    with ScriptedApi(script(rule(turns=turns))) as api, ThreadPoolExecutor(1) as pool:
        agent = backend(api, agent_path=wrapper)
        making = pool.submit(agent.run, make_request(case, Arm.WITHOUT))
        api.wait_for_messages(2)

        os.kill(int(pid.read_text(encoding="utf-8")), signal.SIGKILL)

        outcome = making.result(60).outcome
    assert (outcome.ending, outcome.is_measured) == (Ending.NO_RESULT, False)
    assert outcome.error == "ended by SIGKILL without a result line"
    assert outcome.cost_usd is None


def test_turn_limit(backend: MakeBackend, tmp_path: Path) -> None:
    record = run(backend, tmp_path, [["so far", READ]], max_turns=2)

    outcome = record.outcome
    assert outcome.ending is Ending.TURN_LIMIT
    assert outcome.error == "exit 1: Reached maximum number of turns (2)"
    assert (outcome.turns, record.trace.last_message) == (3, "so far")


def test_time_limit_keeps_trace_and_cost(backend: MakeBackend, tmp_path: Path) -> None:
    turns: list[TurnData] = [["so far", READ], turn("late", delay_s=60)]

    record, limit_s = run_to_the_limit(backend, tmp_path, turns)

    outcome = record.outcome
    assert (outcome.ending, outcome.error) == (Ending.TIMED_OUT, f"timed out after {limit_s}s")
    assert record.trace.last_message == "so far"
    assert record.trace.result is None
    assert outcome.cost_usd is not None
    assert outcome.cost_usd > 0


def test_time_limit_before_any_answer_is_not_measured(backend: MakeBackend, tmp_path: Path) -> None:
    outcome = run(backend, tmp_path, [turn("late", delay_s=60)], timeout_s=2).outcome

    assert outcome.ending is Ending.AGENT_ERROR
    assert outcome.error == "timed out after 2s: the model never answered"


def test_time_limit_while_an_answer_comes_slowly(backend: MakeBackend, tmp_path: Path) -> None:
    turns: list[TurnData] = [["so far", READ], turn("late", event_delay_s=60)]

    record, _ = run_to_the_limit(backend, tmp_path, turns)

    assert (record.outcome.ending, record.trace.last_message) == (Ending.TIMED_OUT, "so far")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (error(429, headers={"retry-after": "50"}), "was refused with status 429"),
        (error(529, headers={"retry-after": "50"}), "was refused with status 529"),
        (drop(), "failed"),
    ],
    ids=["429", "529", "dropped"],
)
def test_time_limit_while_requests_are_repeated_is_not_measured(
    backend: MakeBackend, tmp_path: Path, fault: TurnData, words: str
) -> None:
    record, limit_s = run_to_the_limit(backend, tmp_path, [["hi", READ], fault])

    assert record.outcome.ending is Ending.AGENT_ERROR
    told = f"timed out after {limit_s}s: a request {words} and was being repeated"
    assert record.outcome.error == told


def test_missing_sign_in_is_a_refused_credential(backend: MakeBackend, tmp_path: Path) -> None:
    case = make_case(write_plugin(tmp_path / "demo"))
    with ScriptedApi(script()) as api:
        record = backend(api, env={"ANTHROPIC_API_KEY": ""}).run(make_request(case))

        assert record.outcome.ending is Ending.CREDENTIAL_REFUSED
        assert api.messages == ()
