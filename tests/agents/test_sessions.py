"""Whole pytest sessions with the real agent: arms, records, workers, interrupts, leftovers."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.reference import agent_binary, base_environment
from tests.support.script import rule, script, tool, turn
from tests.support.scripted_api import ScriptedApi
from tests.support.sessions import Sessions, agents_in

pytestmark = [
    pytest.mark.agent,
    pytest.mark.skipif(agent_binary() is None, reason="no agent binary on this machine"),
]

SKILL = "demo:greet"
HELLO = {"type": "regex", "pattern": "bonjour"}


Make = Callable[[object], Sessions]


@pytest.fixture
def sessions(tmp_path: Path, scripted_api: Callable[[object], ScriptedApi]) -> Make:
    """Return a function that makes sessions against a script."""
    return lambda answers: Sessions(tmp_path, scripted_api(answers))


GREETINGS = script(
    rule(prompt="Do greet", arm="with", turns=[tool("Skill", skill=SKILL), "bonjour"]),
    rule(prompt="Do greet", arm="without", turns=["hello"]),
    plugin_text=SKILL,
)


@pytest.mark.parametrize("options", [[], ["-n", "2"], ["--eval-concurrency", "2"]], ids=" ".join)
def test_both_arms_give_a_delta(sessions: Make, options: list[str]) -> None:
    session = sessions(GREETINGS)
    fired = {"type": "tool_used", "tool": "Skill", "input_match": SKILL}
    session.suite.case("greet", {"hello": HELLO, "fired": fired}, front={"runs": 2})

    status, output = session.run("evals", *options)

    assert status == 0, output
    (case,) = session.document["cases"]
    assert case["aggregates"] == {
        "score": 1,
        "passRate": 1,
        "scoreWithout": 0,
        "passRateWithout": 0,
        "delta": 1,
        **{key: case["aggregates"][key] for key in case["aggregates"] if key.startswith("runs")},
    }
    assert "greet  1.00  0.00  +1.00  4" in output
    assert session.leftovers() == []


def test_recorded_session_replays_alike_without_agent_key_or_network(sessions: Make) -> None:
    session = sessions(GREETINGS)
    session.suite.case("greet", {"hello": HELLO}, front={"runs": 1})
    status, output = session.run("evals", "--eval-mode", "record")
    assert status == 0, output
    recorded = session.document["cases"][0]["aggregates"]
    asked = len(session.api.messages)
    session.api.close()

    status, output = session.run("evals", "--eval-mode", "replay", "--eval-agent-path", "/nowhere")

    assert status == 0, output
    assert session.document["cases"][0]["aggregates"] == recorded
    assert len(session.api.messages) == asked


def test_secrets_reach_no_file(sessions: Make) -> None:
    key = base_environment("http://x", Path("/nowhere"))["ANTHROPIC_API_KEY"]
    session = sessions(script(rule(prompt="Do greet", turns=[f"bonjour, your key is {key}"])))
    session.suite.case("greet", {"hello": HELLO}, front={"runs": 1})

    _, output = session.run("evals", "--junitxml=report.xml", "--eval-mode", "record")

    assert key not in output
    files = [path for path in session.suite.root.rglob("*") if path.is_file()]
    assert any(path.suffix == ".jsonl" for path in files)
    assert [path for path in files if key.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["plain", "xdist"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_the_agent_and_keeps_what_is_finished(
    sessions: Make, number: signal.Signals, options: list[str]
) -> None:
    session = sessions(
        script(
            rule(prompt="Do fast", turns=["bonjour"]),
            rule(prompt="Do slow", turns=[turn("bonjour", delay_s=120)]),
        )
    )
    session.suite.case("fast", {"hello": HELLO}, front={"runs": 1})
    session.suite.case("slow", {"hello": HELLO}, front={"runs": 1})
    process = session.start("evals", "-v", "--eval-ablation", "none", *options)
    assert process.stdout is not None
    # The last line so far has no end yet: pytest ends it when it has more to say.
    finished = "PASSED evals/fast::run" if options else "evals/fast::score"
    assert any(finished in line for line in process.stdout)
    session.api.wait_for_messages(2, timeout_s=60)

    process.send_signal(number)
    output, _ = process.communicate(timeout=60)

    assert process.returncode == pytest.ExitCode.INTERRUPTED, output
    assert session.document["partialReason"] == "interrupted"
    assert session.document["cases"][0]["name"] == "fast"
    assert session.document["cases"][0]["aggregates"]["score"] == 1
    assert agents_in(session.runs) == []
    assert session.leftovers() == []


def test_ceiling_holds_between_workers_but_for_runs_in_flight(sessions: Make) -> None:
    session = sessions(script(rule(prompt="Do greet", turns=["bonjour"])))
    session.suite.case("greet", {"hello": HELLO}, front={"runs": 20})

    status, output = session.run(
        "evals", "-n", "2", "--maxschedchunk=1", "--eval-max-cost-usd", "0.0001"
    )

    assert status == pytest.ExitCode.INTERRUPTED, output
    assert session.document["partialReason"] == "cost_ceiling"
    assert len(session.api.messages) <= 6


def test_keep_temp_keeps_the_directory_and_prints_it(sessions: Make) -> None:
    session = sessions(script(rule(prompt="Do greet", turns=["bonjour"])))
    session.suite.case("greet", {"hello": HELLO}, front={"runs": 1})

    status, output = session.run("evals", "--eval-keep-temp", "--eval-ablation", "none")

    assert status == 0, output
    (kept,) = session.leftovers()
    # The path is too long for the line and stands, whole, on the next.
    said = f"evals/greet with-1: run directory kept: {kept.parent}"
    assert said in " ".join(output.split())
