"""A session of the real agent, judged and judged again by the real SDK against a scripted API."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_plugin_eval.records.codec import read_record
from tests.support.reference import agent_binary, base_environment
from tests.support.script import judge, rule, script
from tests.support.scripted_api import ScriptedApi
from tests.support.sessions import Sessions

pytestmark = [
    pytest.mark.agent,
    pytest.mark.skipif(agent_binary() is None, reason="no agent binary on this machine"),
]

PASS, MOSTLY_FAIL = ("PASS",) * 3, ("FAIL", "FAIL", "PASS")
COMMAND = "import sys; from pytest_plugin_eval.cli.main import main; sys.exit(main())"
ANSWERS = script(
    rule(prompt="Do greet", runs=[["bonjour Anna"], ["bonjour Bob"]]),
    judge(*PASS, *MOSTLY_FAIL, *PASS, contains="bonjour Anna"),
    judge("PASS", contains="bonjour Bob"),
)


def test_rescore_flips_a_verdict_and_tells_judge_noise(
    tmp_path: Path, scripted_api: Callable[[object], ScriptedApi]
) -> None:
    sessions = Sessions(tmp_path, scripted_api(ANSWERS))
    sessions.suite.case(
        "greet", {"tone": {"type": "llm", "criteria": "Is it warm?"}}, front={"runs": 2}
    )
    status, output = sessions.run("evals", "--eval-ablation", "none", "-p", "no:cacheprovider")
    assert status == 0, output
    results = next((sessions.suite.root / "evals/results").iterdir())
    before = (results / "aggregate-result.json").read_bytes()
    agents = len(sessions.api.messages) - 6  # the rest is votes

    code, first = rescore(sessions, tmp_path / "home", str(results))

    assert code == 0, first
    assert "judge: asking for 6 votes of " in first
    assert flips(first) == [["FAIL", "FAIL", "PASS"]]
    assert "greet: score 1.00 -> 0.50" in first
    assert "1 of 2 verdicts changed, in 1 of 1 case" in first
    assert "(same record, judged again): 50 %, 1 of 2 pairs of judgings disagree" in first
    assert "judge's graders: 100 %, 1 of 1 pair of runs disagree" in first

    code, second = rescore(sessions, tmp_path / "home", str(results))

    assert code == 0, second
    assert flips(second) == []
    assert "0 of 2 verdicts changed" in second
    assert "greet: score" not in second
    assert "\nspent: $" in second
    # Three judgings a record: of the pairs of one record's two disagree, of the other's none.
    assert "(same record, judged again): 33 %, 2 of 6 pairs of judgings disagree" in second
    assert "split votes: 17 %, 1 of 6 judgings not unanimous" in second
    assert (results / "aggregate-result.json").read_bytes() == before
    assert len(sessions.api.messages) == agents + 18  # no agent was run again
    assert votes_by_judging(results) == [[3, 3, 3], [3, 3, 3]]
    assert rescored_scores(results) == [0.5, 1]


def rescore(sessions: Sessions, home: Path, *arguments: str) -> tuple[int, str]:
    """Run the command in a process of its own; return exit code and output."""
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "rescore", *arguments],
        env=base_environment(sessions.api.url, home),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=180,
        check=False,
    )
    return done.returncode, done.stdout


def flips(output: str) -> list[list[str]]:
    """Return the new votes, sorted, of each verdict that passed before and does not now."""
    found = re.findall(
        r"greet with-[12] tone: passed -> failed: judge votes: (.*) \(before: PASS PASS PASS\)",
        output,
    )
    return [sorted(votes.split()) for votes in found]


def votes_by_judging(results: Path) -> list[list[int]]:
    """Return how many votes each record has of its judgings."""
    counts = []
    for path in sorted((results / "runs").rglob("*.jsonl")):
        judgings = [vote.judging for vote in read_record(path).votes]
        counts.append([judgings.count(number) for number in (1, 2, 3)])
    return counts


def rescored_scores(results: Path) -> list[float]:
    """Return the score of each rescored document, the oldest first."""
    paths = sorted((results / "rescored").glob("*/aggregate-result.json"))
    documents: list[dict[str, Any]] = [json.loads(path.read_text("utf-8")) for path in paths]
    return [document["aggregates"]["overallScore"] for document in documents]
