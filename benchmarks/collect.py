"""What collecting cases costs beside the least that any collector can do."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.environments import HERE, environment
from benchmarks.report import Goal, Report, command
from benchmarks.suites import make_suite
from benchmarks.usage import alternate, run

__all__ = ["measure"]

REPETITIONS = 5
CASES = 1000
_QUICK_CASES = 10
_MOST = 2.0


def measure(repetitions: int, quick: bool) -> Report:
    """Collect a suite, and as many items of a bare collector in the same directories."""
    cases = _QUICK_CASES if quick else CASES
    with tempfile.TemporaryDirectory(prefix="collect-") as scratch:
        make_suite(Path(scratch, "plugin"), cases)
        ours = environment(Path(scratch, "ours"), with_ours=True)
        bare = environment(
            Path(scratch, "bare"), with_ours=False, modules=[HERE / "bare_collector.py"]
        )
        asked = ("--collect-only", "-qq", "-p", "no:cacheprovider", "evals")
        plugin = Path(scratch, "plugin")
        jobs = {
            "ours": lambda: run(ours.command(*asked), cwd=plugin, env=ours.variables),
            "bare collector": lambda: run(
                bare.command("-p", "bare_collector", *asked), cwd=plugin, env=bare.variables
            ),
        }
        found = alternate(jobs, repetitions)
    a, b = found["ours"], found["bare collector"]
    return Report(
        title=f"Collect: {cases} cases of 6 items each",
        rows=found,
        goals=(
            Goal(name="ratio of CPU times", value=a.cpu_s / b.cpu_s, limit=_MOST),
            Goal(name="ratio of wall times", value=a.wall_s / b.wall_s, limit=_MOST),
        ),
    )


if __name__ == "__main__":
    sys.exit(command(measure, repetitions=REPETITIONS, about=__doc__))
