"""Judging beside `claude plugin eval`: what votes add to a live session, where votes take a while.

Each half is a session with one `llm` grader a case less the same session without it, so that the
agent runs, which both make alike, are left out.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.environments import environment
from benchmarks.live import LiveSuite, scripted
from benchmarks.report import Goal, Report, command
from benchmarks.suites import make_suite
from benchmarks.usage import Usage, alternate
from tests.support.reference import agent_binary
from tests.support.script import rule, script, text, turn

__all__ = ["measure"]

REPETITIONS = 3
CASES = 5
RUNS = 3
VOTES = 3
_MOST = 0.60
_VOTE_S = 0.5
_JUDGE = "---\ntype: llm\ncriteria: Is somebody greeted?\n---\n"


def measure(repetitions: int, quick: bool) -> Report:
    """Run a suite of 30 runs in both arms, with a judge and without."""
    cases, runs = (1, 1) if quick else (CASES, RUNS)
    agent = agent_binary()
    if agent is None:
        raise FileNotFoundError("no agent binary: pip install 'pytest-plugin-eval[claude]'")
    vote = {"kind": "bare", "contains": "greeted?", "turns": [turn("PASS", delay_s=_VOTE_S)]}
    answers = script(vote, rule(turns=[text("Good day, colleague 1.")]), plugin_text="demo:greet")
    with (
        tempfile.TemporaryDirectory(prefix="judging-") as scratch,
        scripted(Path(scratch), answers) as url,
    ):
        python = environment(
            Path(scratch, "ours"), with_ours=True, packages=("anthropic", "genai-prices")
        )
        halves: dict[str, Callable[[], Usage]] = {}
        for judged in (True, False):
            plugin = Path(scratch, "judged" if judged else "free", "plugin")
            _make(plugin, cases, judged=judged)
            suite = LiveSuite(plugin, url, agent, sessions=cases * runs, runs=runs, python=python)
            word = "with votes" if judged else "without votes"
            halves[f"ours, {word}"] = partial(suite.ours, 1)
            halves[f"reference, {word}"] = partial(suite.reference, 1)
        rows = alternate(halves, repetitions)
    return Report(
        title=f"Judging: {2 * cases * runs} runs, {VOTES} votes each of {_VOTE_S} s",
        rows=rows,
        goals=(
            Goal(
                name="what votes add, ours over reference, wall time",
                value=_added_s(rows, "ours") / _added_s(rows, "reference"),
                limit=_MOST,
            ),
        ),
    )


def _added_s(rows: dict[str, Usage], whose: str) -> float:
    return rows[f"{whose}, with votes"].wall_s - rows[f"{whose}, without votes"].wall_s


def _make(plugin: Path, cases: int, *, judged: bool) -> None:
    evals = make_suite(plugin, cases, with_files=False)
    for graders in evals.glob("*/*/graders") if judged else ():
        (graders / "greets.md").write_text(_JUDGE, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(command(measure, repetitions=REPETITIONS, about=__doc__))
