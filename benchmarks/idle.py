"""What a session without evals pays for having the plugin installed."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.environments import Environment, environment
from benchmarks.report import Goal, Report, command
from benchmarks.usage import Usage, alternate, run

__all__ = ["measure"]

REPETITIONS = 21
_MOST_MS = 20


def measure(repetitions: int, quick: bool) -> Report:  # noqa: ARG001  # there is nothing smaller
    """Run one trivial test with the plugin installed and without, pytest-xdist being in both."""
    with tempfile.TemporaryDirectory(prefix="idle-") as scratch:
        project = Path(scratch, "project")
        project.mkdir()
        (project / "test_trivial.py").write_text("def test_trivial():\n    pass\n")
        halves = {
            name: environment(Path(scratch, name), with_ours=name == "with")
            for name in ("with", "without")
        }
        for half in halves.values():
            _session(half, project)  # compiles what is not compiled yet
        found = alternate(
            {name: lambda half=half: _session(half, project) for name, half in halves.items()},  # type: ignore[misc]  # a loop variable bound early
            repetitions,
        )
    more_ms = (found["with"].wall_s - found["without"].wall_s) * 1000
    ratio = found["with"].wall_s / found["without"].wall_s
    cpu_ms = (found["with"].cpu_s - found["without"].cpu_s) * 1000
    return Report(
        title="Idle: pytest on one trivial test, plugin installed or not",
        rows={f"{name} the plugin": usage for name, usage in found.items()},
        goals=(Goal(name="more wall time", value=more_ms, limit=_MOST_MS, unit=" ms"),),
        notes=(f"ratio of wall times {ratio:.3f}; more CPU time {cpu_ms:.1f} ms",),
    )


def _session(half: Environment, project: Path) -> Usage:
    return run(half.command(), cwd=project, env=half.variables)


if __name__ == "__main__":
    sys.exit(command(measure, repetitions=REPETITIONS, about=__doc__))
