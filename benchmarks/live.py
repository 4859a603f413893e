"""Live runs of ours beside `claude plugin eval`, on one suite and a model that answers at once.

A third figure is the floor: the same number of bare agent sessions, started by nobody but this.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.environments import HERE, Environment, environment
from benchmarks.report import Goal, Report, command
from benchmarks.suites import RUNS, make_suite
from benchmarks.usage import Usage, alternate, run
from tests.support.reference import agent_binary, base_environment
from tests.support.script import rule, script, text, tool

__all__ = ["LiveSuite", "measure", "scripted"]

REPETITIONS = 3
CASES = 12
_QUICK_CASES = 1
_CONCURRENCY = (1, 4)
_MOST = 0.80
_START_S = 30.0
_ANSWERS = script(
    rule(arm="with", turns=[tool("Skill", skill="demo:greet"), text("Good day, colleague 1.")]),
    rule(turns=[text("Good day, colleague 1.")]),
    plugin_text="demo:greet",
)
# Scores do not matter here, only that all runs were made.
_REFERENCE_EXITS = (0, 1)


def measure(repetitions: int, quick: bool) -> Report:
    """Run the suite in both arms, one agent at a time and four at a time."""
    cases, runs = (_QUICK_CASES, 1) if quick else (CASES, RUNS)
    agent = agent_binary()
    if agent is None:
        raise FileNotFoundError("no agent binary: pip install 'pytest-plugin-eval[claude]'")
    rows: dict[str, Usage] = {}
    goals: list[Goal] = []
    with (
        tempfile.TemporaryDirectory(prefix="live-") as scratch,
        scripted(Path(scratch), _ANSWERS) as url,
    ):
        plugin = Path(scratch, "plugin")
        make_suite(plugin, cases, with_files=False)
        python = environment(Path(scratch, "ours"), with_ours=True)
        suite = LiveSuite(plugin, url, agent, sessions=cases * runs, runs=runs, python=python)
        for jobs in _CONCURRENCY[: 1 if quick else None]:
            found = alternate(
                {
                    f"ours, {jobs} at a time": lambda jobs=jobs: suite.ours(jobs),  # type: ignore[misc]  # bound early
                    f"reference, {jobs} at a time": lambda jobs=jobs: suite.reference(jobs),  # type: ignore[misc]  # bound early
                    f"bare agents, {jobs} at a time": lambda jobs=jobs: suite.bare(jobs),  # type: ignore[misc]  # bound early
                },
                repetitions,
            )
            rows |= found
            ours, reference, _ = found.values()
            goals += _goals(ours, reference, jobs)
    return Report(
        title=f"Live: {cases} cases, {runs} runs, both arms, a scripted model that answers at once",
        rows=rows,
        goals=tuple(goals),
        notes=tuple(_floors(rows)),
    )


def _goals(ours: Usage, reference: Usage, jobs: int) -> Iterator[Goal]:
    for word, a, b in (
        ("wall", ours.wall_s, reference.wall_s),
        ("CPU", ours.cpu_s, reference.cpu_s),
    ):
        yield Goal(
            name=f"ours over reference, {jobs} at a time, {word} time", value=a / b, limit=_MOST
        )


def _floors(rows: dict[str, Usage]) -> Iterator[str]:
    for name, bare in rows.items():
        if name.startswith("bare"):
            reference = rows[name.replace("bare agents", "reference")]
            yield (
                f"{name} over reference: wall {bare.wall_s / reference.wall_s:.2f}, "
                f"CPU {bare.cpu_s / reference.cpu_s:.2f}"
            )


class LiveSuite:
    """A suite on disk and the three ways to run it, each in directories of its own."""

    def __init__(
        self, plugin: Path, url: str, agent: Path, *, sessions: int, runs: int, python: Environment
    ) -> None:
        self._place = plugin.parent
        self._url = url
        self._agent = agent
        self._runs = runs
        self._sessions = sessions
        self._plugin = plugin
        self._pytest = python

    def ours(self, jobs: int) -> Usage:
        """Run the suite by pytest."""
        asked = self._pytest.command(
            "-q", "-p", "no:cacheprovider", "evals", f"--eval-concurrency={jobs}",
            f"--eval-runs={self._runs}", f"--eval-agent-path={self._agent}",
            "--eval-report-only", "--trust-plugin",
        )  # fmt: skip
        with self._scratch() as scratch:
            asked += [f"--eval-results-dir={scratch}/results"]
            return run(asked, cwd=self._plugin, env=self._variables(scratch))

    def reference(self, jobs: int) -> Usage:
        """Run the suite by the reference command."""
        with self._scratch() as scratch:
            asked = [str(self._agent), "plugin", "eval", str(self._plugin), "--trust-plugin"]
            asked += ["--runs", str(self._runs), "-j", str(jobs), "--ablation", "with-without"]
            asked += ["--output-dir", f"{scratch}/results", "--json", f"{scratch}/document.json"]
            used = run(asked, cwd=scratch, env=self._variables(scratch), accepted=_REFERENCE_EXITS)
            document = json.loads((scratch / "document.json").read_text(encoding="utf-8"))
            if document.get("partial"):
                raise RuntimeError(f"the reference did not finish: {document}")
            return used

    def bare(self, jobs: int) -> Usage:
        """Start as many agent sessions as the suite has runs, with the least around them."""
        with self._scratch() as scratch:
            asked = [sys.executable, str(HERE / "bare_agents.py"), str(self._agent)]
            asked += [str(self._plugin), str(self._sessions), str(jobs)]
            return run(asked, cwd=scratch, env=self._variables(scratch))

    @contextmanager
    def _scratch(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(dir=self._place, ignore_cleanup_errors=True) as scratch:
            Path(scratch, "home", "tmp").mkdir(parents=True)
            yield Path(scratch)

    def _variables(self, scratch: Path) -> dict[str, str]:
        return base_environment(self._url, scratch / "home")


@contextmanager
def scripted(scratch: Path, answers: Mapping[str, object]) -> Iterator[str]:
    """Serve a script from a process of its own, whose CPU time is nobody's here."""
    path, port_file = scratch / "script.json", scratch / "port"
    path.write_text(json.dumps(answers), encoding="utf-8")
    asked = [sys.executable, "-m", "tests.support.scripted_api"]
    asked += ["--script", str(path), "--port-file", str(port_file)]
    server = subprocess.Popen(asked, cwd=HERE.parent, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + _START_S
        while not port_file.exists():
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the scripted API did not start")
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port_file.read_text(encoding='utf-8').strip()}"
    finally:
        server.terminate()
        with suppress(subprocess.TimeoutExpired):
            server.wait(_START_S)


if __name__ == "__main__":
    sys.exit(command(measure, repetitions=REPETITIONS, about=__doc__))
