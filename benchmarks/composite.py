"""What the composite of a plugin with ten skills adds to a session."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.environments import HERE, environment
from benchmarks.report import Goal, Report, command
from benchmarks.suites import make_suite, record_suite
from benchmarks.usage import Usage, alternate, run

__all__ = ["measure"]

REPETITIONS = 21
SKILLS = 10
_LINES = 300
_MOST_MS = 50
_FRONT = """---
name: topic-{number}
description: Answers about topic {number}. Use this skill when asked for it, or when reviewing it.
---

# Topic {number}

See skills/topic-1 and [the table](references/table.md).

## Example

```bash
true
```

"""


def measure(repetitions: int, quick: bool) -> Report:  # noqa: ARG001  # there is nothing smaller
    """Replay one case of a plugin with ten skills of 300 lines, with its scores and without."""
    with tempfile.TemporaryDirectory(prefix="composite-") as scratch:
        plugin = Path(scratch, "plugin")
        record_suite(make_suite(plugin, 1))
        _make_skills(plugin / "skills")
        ours = environment(
            Path(scratch, "ours"), with_ours=True, modules=[HERE / "without_scores.py"]
        )
        asked = ("-q", "-p", "no:cacheprovider", "evals", "--eval-mode", "replay")
        results = ("--eval-results-dir", f"{scratch}/results")

        def session(*more: str) -> Usage:
            return run(ours.command(*asked, *results, *more), cwd=plugin, env=ours.variables)

        jobs: dict[str, Callable[[], Usage]] = {
            "with scores": session,
            "without": lambda: session("-p", "without_scores"),
        }
        for job in jobs.values():
            job()  # compiles what is not compiled yet
        found = alternate(jobs, repetitions)
    scored, plain = found["with scores"], found["without"]
    return Report(
        title=f"Composite: replay of one case of a plugin with {SKILLS} skills, scored or not",
        rows=found,
        goals=(
            Goal(
                name="more wall time",
                value=(scored.wall_s - plain.wall_s) * 1000,
                limit=_MOST_MS,
                unit=" ms",
            ),
            Goal(
                name="more CPU time",
                value=(scored.cpu_s - plain.cpu_s) * 1000,
                limit=_MOST_MS,
                unit=" ms",
            ),
        ),
        notes=(
            f"ratio of CPU times {scored.cpu_s / plain.cpu_s:.3f}, "
            f"of wall times {scored.wall_s / plain.wall_s:.3f}",
        ),
    )


def _make_skills(place: Path) -> None:
    for number in range(1, SKILLS + 1):
        directory = place / f"topic-{number}"
        (directory / "references").mkdir(parents=True)
        (directory / "references" / "table.md").write_text("# Table\n", encoding="utf-8")
        lines = "".join(f"Rule {line}: keep value {line * 7 % 101}.\n" for line in range(_LINES))
        text = _FRONT.format(number=number) + lines
        (directory / "SKILL.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(command(measure, repetitions=REPETITIONS, about=__doc__))
