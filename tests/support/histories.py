"""Recorded conversations for ``history_file``."""

from __future__ import annotations

import json
from collections.abc import Iterable

SESSION = "11111111-1111-4111-8111-111111111111"
TURNS = ("My name is Zoe.", "Hello Zoe.", "I like tea.", "Noted.")
"""Of the user and the assistant by turns."""


def records(turns: Iterable[str] = TURNS, *, chained: bool = True) -> list[dict[str, object]]:
    """Return the lines of a transcript; when not *chained*, none names the one before it."""
    lines: list[dict[str, object]] = []
    for number, text in enumerate(turns):
        role = "assistant" if number % 2 else "user"
        content: object = [{"type": "text", "text": text}] if number % 2 else text
        line: dict[str, object] = {
            "type": role,
            "message": {"role": role, "content": content},
            "sessionId": SESSION,
            "timestamp": f"2026-01-01T00:00:{number:02}.000Z",
        }
        if chained:
            line["uuid"] = _uuid(number)
            line["parentUuid"] = _uuid(number - 1) if number else None
        lines.append(line)
    return lines


def history(turns: Iterable[str] = TURNS, *, chained: bool = True) -> str:
    """Return the text of a transcript."""
    return as_lines(records(turns, chained=chained))


def as_lines(values: Iterable[object]) -> str:
    """Return JSON lines."""
    return "".join(f"{json.dumps(value)}\n" for value in values)


def _uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"
