"""The deeper layers of the quality score in live sessions of one and of several processes."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.reference import agent_binary
from tests.support.script import TurnData, rule, script, turn
from tests.support.scripted_api import ScriptedApi
from tests.support.sessions import Sessions

pytestmark = [
    pytest.mark.agent,
    pytest.mark.skipif(agent_binary() is None, reason="no agent binary on this machine"),
]

PRICE_USD = 0.001
MILL = {"input": 1000, "output": 0}
"""Tokens that cost `PRICE_USD` with Haiku 4.5."""
PAID = turn("bonjour", usage=MILL)
REPLY = turn(json.dumps({"f1": 0.9, "score": 0.75}), usage=MILL)
SLOW = turn("{}", usage=MILL, delay_s=120)
FREE = {"hello": {"type": "regex", "pattern": "bonjour"}}
MODEL = "claude-haiku-4-5"
ASKED = (
    *("evals", "--eval-ablation", "none", "-p", "no:cacheprovider"),
    *("--eval-depth", "standard", "--eval-judge-model", MODEL),
)
RUNS = 2
CALLS = 4
UNTIL_S = 60

Make = Callable[..., Sessions]


@pytest.fixture
def make(tmp_path: Path, scripted_api: Callable[[object], ScriptedApi]) -> Make:
    """Return a function that makes sessions whose judge gives the replies by turns."""
    pytest.importorskip("anthropic", reason="the judge is in the extra `judge`")

    def sessions(*replies: TurnData) -> Sessions:
        answers = script(
            rule(prompt="Do a", runs=[[PAID]]),
            rule(kind="bare", runs=[[one] for one in replies]),
        )
        session = Sessions(tmp_path, scripted_api(answers))
        session.suite.case("a", FREE, front={"runs": RUNS, "model": MODEL})
        return session

    return sessions


@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["plain", "xdist"])
def test_skills_are_asked_about_once_whatever_the_number_of_processes(
    make: Make, options: list[str]
) -> None:
    session = make(REPLY)

    status, output = session.run(*ASKED, *options)

    assert status == pytest.ExitCode.OK, output
    assert len(session.api.messages) == RUNS + CALLS
    document = session.document
    [skill] = document["composite"]["skills"]
    assert skill["confidence_label"] == "Assessed"
    assert document["costs"]["qualityUsd"] == pytest.approx(CALLS * PRICE_USD)
    assert document["suite"]["spentUsd"] == pytest.approx((RUNS + CALLS) * PRICE_USD)
    # Before the first call.
    told = output.index("quality score: standard depth asks about 1 skill: 4 calls, about $")
    assert told < output.index("WITH" if "WITH" in output else "SCORE")


@pytest.mark.parametrize("options", [[], ["-n", "1"]], ids=["plain", "xdist"])
@pytest.mark.parametrize(
    ("ceiling", "status", "calls"),
    [([], pytest.ExitCode.OK, CALLS), (["0"], pytest.ExitCode.INTERRUPTED, 0)],
    ids=["free", "ceiling"],
)
def test_skill_that_is_named_is_asked_about_in_its_process(
    make: Make, options: list[str], ceiling: list[str], status: int, calls: int
) -> None:
    session = make(REPLY)
    arguments = ["skills/greet/SKILL.md", "--eval-min-composite", "0", *ASKED[3:], *options]

    found, output = session.run(*arguments, *(("--eval-max-cost-usd", *ceiling) if ceiling else ()))

    assert found == status, output
    assert len(session.api.messages) == calls
    assert ("Assessed" in output) == bool(calls)


@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["plain", "xdist"])
def test_ceiling_holds_for_runs_and_score_together(make: Make, options: list[str]) -> None:
    session = make(REPLY)

    status, output = session.run(*ASKED, "--eval-max-cost-usd", "0.002", *options)

    assert status == pytest.ExitCode.INTERRUPTED, output
    assert len(session.api.messages) == RUNS
    assert session.document["partialReason"] == "cost_ceiling"
    assert session.document["costs"]["qualityUsd"] == 0
    assert "the cost ceiling kept models from being asked for the quality score" in output


@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["plain", "xdist"])
def test_interrupt_while_judges_are_asked_leaves_the_results(
    make: Make, options: list[str]
) -> None:
    session = make(SLOW)
    process = session.start(*ASKED, *options)
    session.api.wait_for_messages(RUNS + CALLS, UNTIL_S)

    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=UNTIL_S)

    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    document = session.document
    assert document["partialReason"] == "interrupted"
    assert document["aggregates"]["runsMeasured"] == RUNS
    assert document["composite"]["skills"][0]["confidence_label"] == "Estimated"
