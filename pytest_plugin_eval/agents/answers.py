"""Which events of a stream are the model's answers, and which the client's own words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_plugin_eval.records.trace import Trace

__all__ = ["answers", "is_own", "is_subagent", "since_last_answer"]

_Event = Mapping[str, object]


def answers(trace: Trace) -> Iterator[tuple[_Event, _Event]]:
    """Return the ``assistant`` events that a model wrote, each with its message."""
    for event in trace.events:
        message = event.get("message")
        if _is_answer(event) and isinstance(message, dict):
            yield event, message


def since_last_answer(trace: Trace) -> Iterator[_Event]:
    """Return the events after the last answer of any agent."""
    found = []
    for event in reversed(trace.events):
        if _is_answer(event):
            break
        found.append(event)
    yield from reversed(found)


def is_own(event: _Event) -> bool:
    """Tell whether a message was written by the client: its error texts look like the model's."""
    message = event.get("message")
    model = message.get("model") if isinstance(message, dict) else None
    return bool(event.get("is_api_error_message")) or model == "<synthetic>"


def is_subagent(event: _Event) -> bool:
    """Tell whether an event is of another agent than the main one."""
    return event.get("parent_tool_use_id") is not None


def _is_answer(event: _Event) -> bool:
    is_message = event.get("type") == "assistant" and isinstance(event.get("message"), dict)
    return is_message and not is_own(event)
