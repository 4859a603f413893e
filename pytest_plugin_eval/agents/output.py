"""What an agent process says, kept within bounds while it is being read."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable

__all__ = ["Lines", "Tail"]


_TOLD = ('"result"', '"init"', '"api_retry"', '"rate_limit_event"')


class Lines:
    """Standard output as lines; beyond the limit only result lines are kept.

    `feed` is called by one thread, the rest by others.
    """

    def __init__(self, limit: int) -> None:
        self.is_wrong: Callable[[str], bool] | None = None
        self.on_refusal: Callable[[str], None] | None = None
        self._limit = limit
        self._lines: list[str] = []
        self._rest: list[bytes] = []
        self._rest_size = 0
        self._size = 0
        self._is_cut = False
        self._has_result = False
        self._guard = threading.Lock()

    @property
    def count(self) -> int:
        """Return how many whole lines there are."""
        return len(self._lines)

    @property
    def has_result(self) -> bool:
        """Tell whether a result line has come."""
        return self._has_result

    def feed(self, chunk: bytes) -> str:
        """Take output; return ``result``, ``wrong``, ``line`` or nothing for what ended in it."""
        *ended, rest = chunk.split(b"\n")
        news = ""
        with self._guard:
            for part in ended:
                self._keep_rest(part)
                news = self._line(b"".join(self._rest)) or news or "line"
                self._rest, self._rest_size = [], 0
            self._keep_rest(rest)
        return news

    def take(self) -> tuple[tuple[str, ...], int]:
        """Return the lines, an unfinished one included, and where they were cut, or 0."""
        with self._guard:
            if self._rest_size:
                self._line(b"".join(self._rest))
                self._rest, self._rest_size = [], 0
            return tuple(self._lines), self._limit if self._is_cut else 0

    def _keep_rest(self, part: bytes) -> None:
        if not part:
            return
        if self._rest_size + len(part) > self._limit:
            self._is_cut = True
            return
        self._rest.append(part)
        self._rest_size += len(part)

    def _line(self, data: bytes) -> str:
        text = data.removesuffix(b"\r").decode("utf-8", "replace")
        if not text.strip():
            return ""
        kind = _kind(text)
        if self._size + len(data) > self._limit and kind != "result":
            self._is_cut = True
            return ""
        self._size += len(data)
        self._lines.append(text)
        if kind == "result":
            self._has_result = True
            return kind
        if kind == "refusal" and self.on_refusal is not None:
            self.on_refusal(text)
        if kind == "init" and self.is_wrong is not None and self.is_wrong(text):
            return "wrong"
        return ""


class Tail:
    """The first and the last bytes of standard error."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head = b""
        self._tail = b""

    def feed(self, chunk: bytes) -> None:
        """Take output."""
        room = self._half - len(self._head)
        self._head += chunk[:room]
        self._tail = (self._tail + chunk[room:])[-self._half :]

    def text(self) -> str:
        """Return what was kept."""
        return (self._head + self._tail).decode("utf-8", "replace")


def _kind(line: str) -> str:
    """Return ``result``, ``init`` or ``refusal`` for such an event, or an empty word.

    A refusal is one of a request that the agent makes again, or of a subscription's limit.
    """
    if not any(word in line for word in _TOLD):
        return ""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(event, dict):
        return ""
    if event.get("type") == "result":
        return "result"
    if event.get("type") == "system" and event.get("subtype") in ("init", "api_retry"):
        return "init" if event["subtype"] == "init" else "refusal"
    return "refusal" if event.get("type") == "rate_limit_event" else ""
