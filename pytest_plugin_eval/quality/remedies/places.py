"""Lines of a skill's file, from 1, for findings that stand somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

__all__ = ["line_at", "line_of", "line_of_field", "lines_of", "numbered_lines", "told_lines"]

TOLD = 3
"""Lines that a message names; the others are counted."""


def line_at(content: str, offset: int) -> int:
    """Return the line that the character at *offset* stands in."""
    return content.count("\n", 0, offset) + 1


def line_of(content: str, pattern: re.Pattern[str]) -> int | None:
    """Return the line of the first match, ``None`` without one."""
    match = pattern.search(content)
    return line_at(content, match.start()) if match else None


def line_of_field(frontmatter: str, field: str) -> int | None:
    """Return the line of a top-level key, ``None`` where it does not begin a line."""
    return line_of(
        frontmatter, re.compile(rf"^[\"']?{re.escape(field)}[\"']?[ \t]*:", re.MULTILINE)
    )


def numbered_lines(content: str) -> Iterator[tuple[int, str]]:
    """Yield lines as the repetition rule takes them, with the number an editor shows.

    The rule also breaks at form feeds and the like (spec: 3.5), which are no line ends here.
    """
    for number, line in enumerate(content.split("\n"), 1):
        for part in line.splitlines():
            yield number, part


def told_lines(lines: Sequence[int]) -> str:
    """Return ``line 3``, ``lines 3, 9``, or the first few and how many more there are."""
    distinct = sorted(set(lines))
    told = ", ".join(map(str, distinct[:TOLD]))
    more = f" and {len(distinct) - TOLD} more" if len(distinct) > TOLD else ""
    return f"line {told}" if len(distinct) == 1 else f"lines {told}{more}"


def lines_of(content: str, pattern: re.Pattern[str]) -> str:
    """Return the lines of all matches, for a message."""
    lines, line, end = [], 1, 0
    for match in pattern.finditer(content):
        line += content.count("\n", end, match.start())
        end = match.start()
        lines.append(line)
    return told_lines(lines)
