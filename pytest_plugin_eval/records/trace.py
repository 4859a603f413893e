"""The agent's event stream and the views of it that graders need."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pytest_plugin_eval.records.jsjson import parse, stringify

__all__ = ["ToolCall", "Trace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One tool call of the agent or of a subagent, in trace order."""

    tool: str
    input_json: str
    """Compact JSON as JavaScript writes it: non-ASCII unescaped, ``1.0`` as ``1``."""


class Trace:
    """The lines of one agent session as they came, parsed when somebody asks.

    Spec: behaviour-evals, 4.3 and 4.4; agent-run, 6. Immutable; traces with equal lines are equal.
    """

    def __init__(self, lines: Iterable[str] = ()) -> None:
        self.lines: tuple[str, ...] = tuple(lines)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and self.lines == other.lines

    def __hash__(self) -> int:
        return hash(self.lines)

    def __repr__(self) -> str:
        return f"<Trace of {len(self.lines)} lines>"

    @property
    def text(self) -> str:
        """The grader target ``trace``: the lines, without a final newline."""
        return "\n".join(self.lines)

    @cached_property
    def events(self) -> tuple[Mapping[str, object], ...]:
        """The lines that are JSON objects, parsed."""
        return tuple(_objects(self.lines))

    @cached_property
    def init(self) -> Mapping[str, object] | None:
        """The first ``system``/``init`` event: what the agent says it loaded."""
        for event in _objects(line for line in self.lines if '"init"' in line):
            if event.get("type") == "system" and event.get("subtype") == "init":
                return event
        return None

    @cached_property
    def result(self) -> Mapping[str, object] | None:
        """The last ``result`` event, or ``None`` when the session never got there."""
        for event in _objects(line for line in reversed(self.lines) if '"result"' in line):
            if event.get("type") == "result":
                return event
        return None

    @cached_property
    def last_message(self) -> str:
        """The last text block of any assistant event; empty when there is none.

        Texts of subagents and of the client's own error messages count, as in the reference; blank
        texts never get into a trace.
        """
        for line in reversed(self.lines):
            if '"assistant"' not in line or '"text"' not in line:
                continue
            for event in _objects((line,)):
                for block in reversed(_blocks(event)):
                    text = block.get("text")
                    if block.get("type") == "text" and isinstance(text, str):
                        return text
        return ""

    @cached_property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """Every tool call, those of subagents and refused ones included."""
        lines = (line for line in self.lines if '"tool_use"' in line and '"assistant"' in line)
        return tuple(
            ToolCall(tool=name, input_json=stringify(block.get("input")))
            for event in _objects(lines, parse)
            for block in _blocks(event)
            if block.get("type") == "tool_use" and isinstance(name := block.get("name"), str)
        )

    @cached_property
    def skills_called(self) -> tuple[str, ...]:
        """The skills that were called, subagents included, each once; ``?`` without a name."""
        calls = (parse(call.input_json) for call in self.tool_calls if call.tool == "Skill")
        names = (call.get("skill") if isinstance(call, dict) else None for call in calls)
        return tuple(dict.fromkeys(name if isinstance(name, str) else "?" for name in names))


def _blocks(event: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Return the content blocks of an ``assistant`` event, and nothing for any other."""
    message = event.get("message")
    if event.get("type") != "assistant" or not isinstance(message, dict):
        return []
    content = message.get("content")
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, dict)]


def _objects(
    lines: Iterable[str], parser: Callable[[str], object] = json.loads
) -> Iterator[Mapping[str, object]]:
    for line in lines:
        try:
            event = parser(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            yield event
