"""Hook after Write and Edit: exit with 2 when a changelog breaks the format, saying where."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

GROUPS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
RELEASE = re.compile(r"\[Unreleased\]|\[[^\]]+\] - \d{4}-\d{2}-\d{2}")


def problems(changelog: str) -> list[str]:
    """Return a line for each heading that `skills/changelog/references/format.md` does not know."""
    found = []
    for number, line in enumerate(changelog.splitlines(), 1):
        if line.startswith("## ") and not RELEASE.fullmatch(line[3:]):
            found.append(f"line {number}: {line!r}, expected '## [version] - YYYY-MM-DD'")
        if line.startswith("### ") and line[4:] not in GROUPS:
            found.append(f"line {number}: {line!r}, expected one of {', '.join(GROUPS)}")
    return found


def main() -> int:
    """Check the file that the tool call on standard input wrote."""
    call = json.load(sys.stdin)
    path = Path(call.get("tool_input", {}).get("file_path", ""))
    if path.name != "CHANGELOG.md" or not path.is_file():
        return 0
    found = problems(path.read_text(encoding="utf-8"))
    if found:
        sys.stderr.write("CHANGELOG.md breaks the format:\n" + "\n".join(found) + "\n")
    return 2 if found else 0


if __name__ == "__main__":
    sys.exit(main())
