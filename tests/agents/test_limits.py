"""What the real agent tells of a service that asks for a pause, and what is made of it."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_plugin_eval.agents.limits import LONGEST_AGENT_PAUSE_S, slow_down_until
from pytest_plugin_eval.execution.retry import ended_at
from pytest_plugin_eval.records.model import Arm, RunRecord
from tests.agents.conftest import MakeBackend
from tests.support.agents import make_case, make_request, write_plugin
from tests.support.script import TurnData, drop, error, rule, script, tool, turn
from tests.support.scripted_api import ScriptedApi

pytestmark = pytest.mark.agent

Run = Callable[..., RunRecord]

READ = tool("Read", file_path="/etc/hostname")
SUBSCRIBED = {"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-scripted-0000"}
IN_AN_HOUR = int(time.time()) + 3600
USED_UP = {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": str(IN_AN_HOUR),
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
}
# What the agent adds to a pause that it was asked for, and is late by on a busy machine.
SLACK_S = 20


@pytest.fixture
def run(backend: MakeBackend, tmp_path: Path) -> Run:
    root = write_plugin(tmp_path / "demo")

    def run(
        turns: Sequence[TurnData], env: Mapping[str, str] | None = None, **changes: object
    ) -> RunRecord:
        case = make_case(root, **changes)
        with ScriptedApi(script(rule(turns=turns, end=None))) as api:
            return backend(api, env=env).run(make_request(case, Arm.WITHOUT))

    return run


def pause_s(record: RunRecord) -> float | None:
    """Return how long after its end the run says that the service takes requests again."""
    end = ended_at(record.outcome, 0.0)
    until = slow_down_until(record.trace, end)
    return None if until is None else until - end


@pytest.mark.parametrize(
    ("turns", "shortest_s"),
    [
        ([error(429, headers={"retry-after": "3"})], 3),
        ([error(529, headers={"retry-after": "3"})], 3),
        ([["hi", READ], error(429, headers={"retry-after": "3"})], 3),
        ([error(429)], 0.1),
        ([error(529)], 0.1),
        ([error(429, headers={"retry-after": "3600"})], LONGEST_AGENT_PAUSE_S),
        ([error(529, headers={"retry-after": "3600"})], LONGEST_AGENT_PAUSE_S),
    ],
    ids=["429", "529", "later-turn", "429-unsaid", "529-unsaid", "429-for-long", "529-for-long"],
)
def test_pause_is_that_of_the_last_repetition(
    run: Run, turns: Sequence[TurnData], shortest_s: float
) -> None:
    found = pause_s(run(turns))

    assert found is not None
    assert shortest_s <= found < shortest_s + 5


@pytest.mark.parametrize(
    "turns",
    [[error(429, headers=USED_UP)], [["hi", READ], error(429, headers=USED_UP)]],
    ids=["first-turn", "later-turn"],
)
def test_used_up_subscription_names_its_reset(run: Run, turns: Sequence[TurnData]) -> None:
    record = run(turns, SUBSCRIBED)

    assert slow_down_until(record.trace, 0.0) == IN_AN_HOUR


def test_subscription_without_a_reset_has_the_pause_of_the_last_repetition(run: Run) -> None:
    found = pause_s(run([error(429, headers={"retry-after": "2"})], SUBSCRIBED))

    assert found is not None
    assert 2 <= found < 7


def test_run_that_is_cut_off_while_it_waits_keeps_the_pause(run: Run) -> None:
    record = run([error(429, headers={"retry-after": "50"})], timeout_s=10)

    found = pause_s(record)
    assert found is not None
    assert 50 <= found < 50 + SLACK_S


@pytest.mark.parametrize(
    ("turns", "env"),
    [
        ([error(400)], {}),
        ([error(401)], {}),
        ([error(500)], {}),
        ([error(408)], {}),
        ([drop()], {}),
        ([turn("fine", faults=[error(429, headers={"retry-after": "1"})])], {}),
        ([turn("fine", faults=[error(529)])], SUBSCRIBED),
        (["429 rate_limit_error: retry after 3600 seconds"], {}),
    ],
    ids=[
        *("400", "401", "500", "408", "dropped"),
        *("waited-for", "subscription-waited-for", "words"),
    ],
)
def test_other_endings_ask_for_no_pause(
    run: Run, turns: Sequence[TurnData], env: Mapping[str, str]
) -> None:
    assert pause_s(run(turns, env)) is None


def test_end_of_a_run_is_told_by_its_record(run: Run) -> None:
    before = datetime.datetime.now(datetime.UTC).timestamp()

    record = run(["hi"])

    assert before - 0.1 <= ended_at(record.outcome, 0.0) <= time.time() + 0.1


def test_pause_is_told_while_the_run_goes_on(backend: MakeBackend, tmp_path: Path) -> None:
    case = make_case(write_plugin(tmp_path / "demo"))
    told: list[float] = []
    ask = turn("bonjour", faults=[error(429, headers={"retry-after": "2"})])

    def slow_down(until: float | None) -> None:
        assert until is not None
        told.append(until - time.time())

    with ScriptedApi(script(rule(turns=[ask]))) as api:
        request = replace(make_request(case, Arm.WITHOUT), slow_down=slow_down)
        record = backend(api).run(request)

    assert record.outcome.is_measured
    assert len(told) == 1
    assert 1.5 < told[0] < 3
