"""What grading recorded runs costs beside as many items that do nothing."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.environments import HERE, environment
from benchmarks.report import MIB, Goal, Report, command
from benchmarks.suites import make_suite, record_suite
from benchmarks.usage import alternate, run

__all__ = ["measure"]

REPETITIONS = 3
CASES = 1000
_QUICK_CASES = 10
_MOST = 2.0
_MOST_MIB = 150


def measure(repetitions: int, quick: bool) -> Report:
    """Replay a recorded suite, and run as many empty items in the same directories."""
    with tempfile.TemporaryDirectory(prefix="replay-") as scratch:
        cases = _QUICK_CASES if quick else CASES
        plugin, empty = Path(scratch, "plugin"), Path(scratch, "empty")
        runs = record_suite(make_suite(plugin, cases))
        # Without recordings, whose directories a bare collector would walk.
        make_suite(empty, cases)
        ours = environment(Path(scratch, "ours"), with_ours=True)
        bare = environment(
            Path(scratch, "bare"), with_ours=False, modules=[HERE / "bare_collector.py"]
        )
        asked = ("-q", "-p", "no:cacheprovider", "evals")
        replay = ("--eval-mode", "replay", "--eval-results-dir", f"{scratch}/results")
        jobs = {
            "replay": lambda: run(ours.command(*asked, *replay), cwd=plugin, env=ours.variables),
            "empty items": lambda: run(
                bare.command("-p", "bare_collector", *asked), cwd=empty, env=bare.variables
            ),
        }
        found = alternate(jobs, repetitions)
    ours_used, bare_used = found["replay"], found["empty items"]
    return Report(
        title=f"Replay: {runs} recorded runs, each with four free graders",
        rows=found,
        goals=(
            Goal(name="ratio of CPU times", value=ours_used.cpu_s / bare_used.cpu_s, limit=_MOST),
            Goal(
                name="peak memory",
                value=ours_used.peak_bytes / MIB,
                limit=_MOST_MIB,
                unit=" MiB",
            ),
        ),
        notes=(f"ratio of wall times {ours_used.wall_s / bare_used.wall_s:.2f}",),
    )


if __name__ == "__main__":
    sys.exit(command(measure, repetitions=REPETITIONS, about=__doc__))
