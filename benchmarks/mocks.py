"""Runs with mocked servers beside `claude plugin eval`, on a model that answers at once.

The plugin declares a server that is mocked and one that is not; a third stands on its own, in both
arms. Every run with the plugin calls mocked tools.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.environments import environment
from benchmarks.live import LiveSuite, scripted
from benchmarks.report import Goal, Report, command
from benchmarks.suites import make_suite
from benchmarks.usage import Usage, alternate
from tests.support.reference import agent_binary
from tests.support.script import rule, script, text, tool

__all__ = ["measure"]

REPETITIONS = 3
CASES = 5
RUNS = 3
_MOST = 1.0
_CALLED = "---\ntype: regex\ntarget: mock_calls\npattern: Created Bug\n---\n"
_DECLARED = {"mcpServers": {"tracker": {"command": "false"}, "mail": {"command": "false"}}}
_MOCKS = {
    "tracker/create.md": "---\nexpect:\n  title: string\n---\nCreated {{input.title}} as #7.\n",
    "tracker/find.md": "{{file:fixtures/{input.kind}.json}}\n",
    "tracker/fixtures/bug.json": '{"issues": [1, 2, 3]}\n',
    "clock/now.md": "12:00\n",
}
_NOW = tool("mcp__clock__now")
_ANSWERS = script(
    rule(
        arm="with",
        turns=[
            [tool("mcp__plugin_demo_tracker__create", title="Bug"), _NOW],
            [tool("mcp__plugin_demo_tracker__find", kind="bug")],
            text("Good day, colleague 1."),
        ],
    ),
    rule(turns=[[_NOW], text("Good day, colleague 1.")]),
    plugin_text="demo:greet",
)


def measure(repetitions: int, quick: bool) -> Report:
    """Run a suite of 30 runs in both arms, one agent at a time."""
    cases, runs = (1, 1) if quick else (CASES, RUNS)
    agent = agent_binary()
    if agent is None:
        raise FileNotFoundError("no agent binary: pip install 'pytest-plugin-eval[claude]'")
    with (
        tempfile.TemporaryDirectory(prefix="mocks-") as scratch,
        scripted(Path(scratch), _ANSWERS) as url,
    ):
        plugin = Path(scratch, "plugin")
        _make(plugin, cases)
        python = environment(
            Path(scratch, "ours"), with_ours=True, packages=("mcp", "cryptography")
        )
        suite = LiveSuite(plugin, url, agent, sessions=cases * runs, runs=runs, python=python)
        rows = alternate(
            {"ours": partial(suite.ours, 1), "reference": partial(suite.reference, 1)}, repetitions
        )
    return Report(
        title=f"Mocks: {2 * cases * runs} runs, half of them with three calls of mocked tools",
        rows=rows,
        goals=tuple(_goals(rows["ours"], rows["reference"])),
        notes=tuple(
            f"{name}: {used.wall_s / (2 * cases * runs):.2f} s a run" for name, used in rows.items()
        ),
    )


def _goals(ours: Usage, reference: Usage) -> Iterator[Goal]:
    pairs = (("wall", ours.wall_s, reference.wall_s), ("CPU", ours.cpu_s, reference.cpu_s))
    for word, a, b in pairs:
        name = f"a mocked run, ours over reference, {word} time"
        yield Goal(name=name, value=a / b, limit=_MOST)


def _make(plugin: Path, cases: int) -> None:
    evals = make_suite(plugin, cases, with_files=False)
    (plugin / ".mcp.json").write_text(json.dumps(_DECLARED), encoding="utf-8")
    for name, content in _MOCKS.items():
        path = evals / "mocks" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    for graders in evals.glob("*/*/graders"):
        (graders / "called.md").write_text(_CALLED, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(command(measure, repetitions=REPETITIONS, about=__doc__))
