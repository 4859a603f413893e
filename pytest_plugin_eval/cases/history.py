"""What a recorded conversation must hold so that a run can go on with it.

Seen of the agent: it takes what it can use of the lines of a file, leaves out the rest without a
word, and follows the chain of ``parentUuid`` back from the last message. Spec: agent-run, 8.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pytest_plugin_eval.text import plural

__all__ = ["HistoryReport", "check_history"]

NEEDED = (
    'expected lines such as {"type": "user", "message": {"role": "user", "content": "..."}, '
    '"uuid": "...", "parentUuid": null, "sessionId": "..."}'
)
_ROLES = ("user", "assistant")


class HistoryReport(NamedTuple):
    """What is wrong with a conversation, as texts that go on from the file's name."""

    problem: str | None = None
    """Why no run can go on with it."""
    warnings: tuple[tuple[int, str], ...] = ()
    """By line, from 1."""


def check_history(path: Path) -> HistoryReport:
    """Return what is wrong with the file at *path*, which exists."""
    try:
        text = path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff")
    except OSError as error:
        return HistoryReport(f"cannot be read: {error.strerror}")
    written = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not written:
        return HistoryReport(f"is empty, {NEEDED}")
    rows = [(number, _row(line)) for number, line in written]
    messages = [(number, row) for number, row in rows if row is not None and _is_message(row)]
    if not messages:
        return HistoryReport(f"holds no message, {_first(rows)}; {NEEDED}")
    return HistoryReport(warnings=(*_unread(rows), *_unseen(messages)))


def _row(line: str) -> dict[str, object] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _is_message(row: dict[str, object]) -> bool:
    message = row.get("message")
    return (
        row.get("type") in _ROLES
        and isinstance(message, dict)
        and isinstance(message.get("content"), str | list)
        and row.get("isSidechain") is not True
    )


def _first(rows: Sequence[tuple[int, dict[str, object] | None]]) -> str:
    number, row = rows[0]
    if row is None:
        return f"line {number} is no JSON object"
    if "content" in row and "message" not in row:
        return f"line {number} is the bare message, without the record around it"
    return f"line {number} is none"


def _unread(
    rows: Sequence[tuple[int, dict[str, object] | None]],
) -> tuple[tuple[int, str], ...]:
    broken = [number for number, row in rows if row is None]
    if not broken:
        return ()
    return ((broken[0], f"{plural(len(broken), 'line')} without a JSON object, which are skipped"),)


def _unseen(messages: Sequence[tuple[int, dict[str, object]]]) -> tuple[tuple[int, str], ...]:
    starts = [number for number, row in messages[1:] if not row.get("parentUuid")]
    if not starts:
        return ()
    before = plural(sum(number < starts[-1] for number, _ in messages), "message")
    text = f"the message has no parentUuid, so the agent sees nothing of the {before} before it"
    return ((starts[-1], text),)
