"""The cost ceiling in sessions of one and of several processes, with runs of a known price."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.reference import agent_binary
from tests.support.script import TurnData, rule, script, turn
from tests.support.scripted_api import ScriptedApi
from tests.support.sessions import Sessions, agents_in

pytestmark = [
    pytest.mark.agent,
    pytest.mark.skipif(agent_binary() is None, reason="no agent binary on this machine"),
]

PRICE_USD = 0.001
MILL = {"input": 1000, "output": 0}
"""Tokens that cost `PRICE_USD` with Haiku 4.5."""
PAID = turn("bonjour", usage=MILL)
SLOW = turn("bonjour", usage=MILL, delay_s=120)
VOTE = turn("PASS", usage=MILL)
SLOW_VOTE = turn("PASS", usage=MILL, delay_s=120)
RUNS = 12
FREE = {"hello": {"type": "regex", "pattern": "bonjour"}}
JUDGED = {"nice": {"type": "llm", "criteria": "Is it nice?"}}
VOTES = 3
ONE_ARM = ("evals", "--eval-ablation", "none", "-p", "no:cacheprovider")

Make = Callable[..., Sessions]


@pytest.fixture
def make(tmp_path: Path, scripted_api: Callable[[object], ScriptedApi]) -> Iterator[Make]:
    """Return a function that makes sessions; agents that lost their worker end with the test."""

    def sessions(*agent: TurnData, judge: tuple[TurnData, ...] = (VOTE,)) -> Sessions:
        """Answer the n-th agent and the n-th vote by the n-th turn, beginning anew at the end."""
        answers = script(
            rule(prompt="Do a", runs=[[one] for one in agent]),
            rule(kind="bare", runs=[[one] for one in judge]),
        )
        return Sessions(tmp_path, scripted_api(answers))

    yield sessions
    for process in agents_in(tmp_path / "run-root"):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def spent(session: Sessions) -> float:
    """Return the price of all answers that were given, and check that the document has it."""
    told = session.document["suite"]["spentUsd"]
    assert told == pytest.approx(len(session.api.messages) * PRICE_USD)
    return float(told)


@pytest.mark.parametrize(
    ("options", "at_once"),
    [
        ([], 1),
        (["-n", "2"], 2),
        (["-n", "4"], 4),
        (["-n", "2", "--dist", "worksteal"], 2),
        (["-n", "2", "--dist", "loadscope"], 2),
        (["--eval-concurrency", "4"], 4),
    ],
    ids=lambda value: " ".join(value) or "plain" if isinstance(value, list) else "",
)
def test_ceiling_is_passed_by_no_more_than_the_runs_in_flight(
    make: Make, options: list[str], at_once: int
) -> None:
    session = make(PAID)
    session.suite.case("a", FREE, front={"runs": RUNS, "model": "claude-haiku-4-5"})

    status, output = session.run(*ONE_ARM, "--eval-max-cost-usd", "0.0035", *options)

    assert status == pytest.ExitCode.INTERRUPTED, output
    assert session.document["partialReason"] == "cost_ceiling"
    # The last one starts when three have been paid, beside those that are in flight.
    assert 0.0035 <= spent(session) <= (3 + at_once) * PRICE_USD + 1e-9
    made = session.document["aggregates"]["runsTotal"]
    # What was spent stands in the reason, so that there may be one a process.
    left = session.document["suite"]["runsNotStarted"]
    assert made + sum(len(one["runs"]) for one in left) == RUNS


@pytest.mark.parametrize("workers", [0, 2, 4])
def test_ceiling_is_passed_by_no_more_than_the_votes_in_flight(make: Make, workers: int) -> None:
    pytest.importorskip("anthropic", reason="the judge is in the extra `judge`")
    session = make(PAID)
    session.suite.case("a", JUDGED, front={"runs": RUNS, "model": "claude-haiku-4-5"})

    options = ("--eval-max-cost-usd", "0.0065", "--eval-judge-model", "claude-haiku-4-5")
    status, output = session.run(*ONE_ARM, *options, "-n", str(workers))

    assert status == pytest.ExitCode.INTERRUPTED, output
    assert session.document["partialReason"] == "cost_ceiling"
    at_once = max(workers, 1) * VOTES
    assert 0.0065 <= spent(session) <= (6 + at_once) * PRICE_USD + 1e-9


def kill_worker(process: subprocess.Popen[str]) -> None:
    """Kill the only worker of a session without a warning."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="utf-8")
    (worker,) = map(int, children.split())
    os.kill(worker, signal.SIGKILL)


def test_spending_of_a_killed_worker_counts(make: Make) -> None:
    session = make(*[PAID] * 4, SLOW, *[PAID] * RUNS)
    session.suite.case("a", FREE, front={"runs": RUNS, "model": "claude-haiku-4-5"})
    process = session.start(*ONE_ARM, "-n", "1", "--eval-max-cost-usd", "0.006")
    session.api.wait_for_messages(5, timeout_s=120)

    kill_worker(process)
    output, _ = process.communicate(timeout=180)

    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    assert session.document["partialReason"] == "cost_ceiling"
    # Four before it, the one that it was waiting for, and what the ceiling leaves.
    assert len(session.api.messages) == 4 + 1 + 2
    assert session.document["suite"]["spentUsd"] == pytest.approx(6 * PRICE_USD)
    assert "1 call of workers that died" in output


def test_run_that_a_worker_was_killed_over_judging_counts(make: Make) -> None:
    pytest.importorskip("anthropic", reason="the judge is in the extra `judge`")
    session = make(PAID, judge=(*[SLOW_VOTE] * VOTES, *[VOTE] * RUNS * VOTES))
    session.suite.case("a", JUDGED, front={"runs": RUNS, "model": "claude-haiku-4-5"})
    options = ("--eval-max-cost-usd", "0.005", "--eval-judge-model", "claude-haiku-4-5")
    process = session.start(*ONE_ARM, "-n", "1", *options)
    session.api.wait_for_messages(1 + VOTES, timeout_s=120)

    kill_worker(process)
    output, _ = process.communicate(timeout=180)

    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    # The agent's run had been paid; a whole run with its votes fills up the rest.
    assert len(session.api.messages) == (1 + VOTES) + (1 + VOTES)
    assert session.document["suite"]["spentUsd"] == pytest.approx(5 * PRICE_USD)
    assert "3 calls of workers that died" in output
