"""What scoring skills costs: a process for one skill, and many skills in one process."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.environments import Environment, environment
from benchmarks.report import Goal, Report, command
from benchmarks.usage import Usage, alternate, run

__all__ = ["measure"]

REPETITIONS = 15
SKILLS = 200
_QUICK_SKILLS = 5
_MOST_LIKE_IMPORTS = 0.75
_MOST_S = 0.5
_MOST_MORE_BYTES = 16 << 20

# A command line, YAML and checked models: what a tool of this kind begins with, and nothing else.
_IMPORTS = """
import click, yaml, json
from pydantic import BaseModel

class Layer(BaseModel):
    name: str
    score: float

class Report(BaseModel):
    path: str
    layers: list[Layer]
"""
_COMMAND = "import sys; from pytest_plugin_eval.cli.main import main; sys.exit(main())"
_SKILL = """---
name: skill-{number}
description: "Use this skill when reading log {number}, when sizing a pool, or for debugging."
---

# Skill {number}

## Input

Accepts one file. The output format is a table.

| line | text |
|---|---|

## Example

```bash
grep -n ERROR app-{number}.log
```

## Troubleshooting

See also skills/skill-0.
"""
_LINE = "Line {line} of {number}: keep value {line} below {number}.\n"
_LINES = 250
"""Of a long skill, as most of the public ones are."""


def measure(repetitions: int, quick: bool) -> Report:
    """Score one skill and many, beside an interpreter that starts and one that imports."""
    count = _QUICK_SKILLS if quick else SKILLS
    with tempfile.TemporaryDirectory(prefix="quality-") as scratch:
        place = Path(scratch, "skills")
        paths = [str(_write_skill(place, number)) for number in range(count)]
        ours = environment(Path(scratch, "ours"), with_ours=True)
        found = alternate(
            {
                "empty interpreter": lambda: _python(ours, place, "pass"),
                "imports alone": lambda: _python(ours, place, _IMPORTS),
                "one skill": lambda: _score(ours, place, paths[:1]),
                f"{count} skills": lambda: _score(ours, place, paths),
            },
            repetitions,
        )
    one, many = found["one skill"], found[f"{count} skills"]
    more_s = many.cpu_s - one.cpu_s
    empty = found["empty interpreter"]
    return Report(
        title=f"Quality: plugin-eval score at depth quick, one skill and {count}",
        rows=found,
        goals=(
            Goal(
                name="one skill, ratio of CPU times to the imports",
                value=one.cpu_s / found["imports alone"].cpu_s,
                limit=_MOST_LIKE_IMPORTS,
            ),
            Goal(name=f"{count - 1} more skills, CPU time", value=more_s, limit=_MOST_S, unit=" s"),
            Goal(
                name="their memory",
                value=max(many.peak_bytes - one.peak_bytes, 0) / (1 << 20),
                limit=_MOST_MORE_BYTES / (1 << 20),
                unit=" MiB",
            ),
        ),
        notes=(
            f"one skill takes {one.cpu_s / empty.cpu_s:.1f} times an empty interpreter, "
            f"a further one {more_s / max(count - 1, 1) * 1000:.2f} ms",
        ),
    )


def _write_skill(place: Path, number: int) -> Path:
    directory = place / f"skill-{number}"
    directory.mkdir(parents=True)
    lines = "".join(_LINE.format(number=number, line=line) for line in range(_LINES))
    (directory / "SKILL.md").write_text(_SKILL.format(number=number) + lines, encoding="utf-8")
    return directory


def _python(half: Environment, place: Path, code: str) -> Usage:
    return run([str(half.python), "-c", code], cwd=place, env=half.variables)


def _score(half: Environment, place: Path, paths: Sequence[str]) -> Usage:
    options = ("score", "--depth", "quick", "--output", "json")
    return run([str(half.python), "-c", _COMMAND, *options, *paths], cwd=place, env=half.variables)


if __name__ == "__main__":
    sys.exit(command(measure, repetitions=REPETITIONS, about=__doc__))
