"""Print the differential table: `python -m tests.differential.table [pytest arguments]`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.differential.compare import TABLE_VARIABLE


def table_lines(rows: Sequence[dict[str, object]]) -> list[str]:
    """Return a line for each suite: equal fields, and differing ones by deviation row."""
    label = f"{len(rows)} suites"
    width = max(len(name) for name in (label, *(str(row["suite"]) for row in rows)))
    lines = [f"{'SUITE':{width}}  EQUAL  DEVIATING"]
    total = 0
    by_row: Counter[str] = Counter()
    for row in sorted(rows, key=lambda row: str(row["suite"])):
        counts = row["rows"]
        assert isinstance(counts, dict)
        by_row.update(counts)
        words = [f"{name}: {count}" for name, count in sorted(counts.items())]
        if row["unexplained"]:
            words.append(f"UNEXPLAINED: {row['unexplained']}")
        lines.append(f"{row['suite']!s:{width}}  {row['equal']:5}  {', '.join(words)}".rstrip())
        total += int(str(row["equal"]))
    deviating = ", ".join(f"{name}: {count}" for name, count in sorted(by_row.items()))
    return [*lines, f"{label:{width}}  {total:5}  {deviating}"]


def main(arguments: Sequence[str]) -> int:
    """Run the differential tests and print the table."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "rows")
        command = [sys.executable, "-m", "pytest", "-q", str(Path(__file__).parent), *arguments]
        env = {**os.environ, TABLE_VARIABLE: str(file)}
        status = subprocess.run(command, env=env, check=False).returncode
        if file.is_file():
            rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
            sys.stdout.write("\n".join(table_lines(rows)) + "\n")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
