"""The calls of mocked tools in a run, and what graders see of them. Spec: agent-run, 7.7."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_plugin_eval.cases.mock import PlacedServer, Responder
from pytest_plugin_eval.mocks.values import json_numbers
from pytest_plugin_eval.records.jsjson import parse, stringify
from pytest_plugin_eval.records.trace import Trace

__all__ = ["MockCall", "altered_result", "mock_calls_text", "unmocked_calls"]


_SAVED = "/tool-results/mcp-"


@dataclass(frozen=True, slots=True, kw_only=True)
class MockCall:
    """One call that a stand-in answered."""

    server: str
    """The name of the mock's directory."""
    tool: str
    name: str
    """The tool as the agent calls it."""
    responder: Responder
    inputs: Mapping[str, object]
    output: str
    is_error: bool = False
    is_replayed: bool = False
    """Answered from an adopted recording."""
    is_asked: bool = False
    """Answered by a model, or meant to be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """A call as it stands in the trace, with the result that the model got."""

    name: str
    inputs: object
    output: str | None
    is_error: bool


def mock_calls_text(trace: Trace, calls: Sequence[MockCall]) -> str:
    """Return the grader target ``mock_calls``: a line a call, in the order of the trace.

    The trace has the inputs and outputs as the model saw them, the client's own additions
    included. Calls of mocked tools that never came to the stand-in, since a hook refused them or
    the tool is not there, are left out.
    """
    return "\n".join(map(_line, (seen for seen, _ in _answered(trace, calls))))


def altered_result(trace: Trace, calls: Sequence[MockCall]) -> MockCall | None:
    """Return the first call whose answer is not what the model got, or ``None``.

    A hook of the plugin may rewrite results. What the client itself does is none of that: a note
    after an error, words in place of an empty answer, a file in place of a long one.
    """
    for seen, call in _answered(trace, calls):
        if seen.output is None or _is_kept(seen.output, call.output, is_error=call.is_error):
            continue
        return call
    return None


def unmocked_calls(trace: Trace, servers: Iterable[PlacedServer]) -> dict[str, int]:
    """Return how often the agent called tools of these servers that nobody mocks."""
    servers = tuple(servers)
    mocked = {
        server.tool_name(tool.name)
        for server in servers
        if server.mock is not None
        for tool in server.mock.tools
    }
    counts: Counter[str] = Counter()
    for call in trace.tool_calls:
        if call.tool in mocked:
            continue
        for server in servers:
            prefix = server.tool_name("")
            if call.tool.startswith(prefix):
                counts[f"{server.name}/{call.tool.removeprefix(prefix)}"] += 1
                break
    return dict(counts)


def _line(seen: _Seen) -> str:
    fields: dict[str, object] = {
        "tool": seen.name,
        "input": seen.inputs,
        "output": seen.output or "",
    }
    if seen.is_error:
        fields["isError"] = True
    fields["verdict"] = "tool_error" if seen.is_error else "ok"
    return stringify(fields)


def _is_kept(seen: str, given: str, *, is_error: bool) -> bool:
    if seen == given or not given.strip():
        return True
    if is_error:
        return seen.startswith(given)
    # Too long for the model: the client names the file that it put the answer into.
    return len(given) > len(seen) and _SAVED in seen


def _answered(trace: Trace, calls: Sequence[MockCall]) -> Iterator[tuple[_Seen, MockCall]]:
    """Yield the calls of the trace that a stand-in answered, each with its answer."""
    open_calls: dict[tuple[str, str], list[MockCall]] = {}
    for call in calls:
        open_calls.setdefault(_key(call.name, json_numbers(call.inputs)), []).append(call)
    for seen in _seen(trace, {call.name for call in calls}):
        if answers := open_calls.get(_key(seen.name, seen.inputs)):
            yield seen, answers.pop(0)


def _key(name: str, inputs: object) -> tuple[str, str]:
    return name, json.dumps(inputs, sort_keys=True)


def _seen(trace: Trace, names: set[str]) -> Iterator[_Seen]:
    uses: dict[str, tuple[str, object]] = {}
    results: dict[str, tuple[str, bool]] = {}
    for event in _events(trace):
        for block in _blocks(event):
            identity, name = block.get("id"), block.get("name")
            if block.get("type") == "tool_use" and name in names and isinstance(identity, str):
                uses[identity] = (str(name), block.get("input"))
            answered = block.get("tool_use_id")
            if block.get("type") == "tool_result" and isinstance(answered, str):
                results[answered] = _text(block.get("content")), block.get("is_error") is True
    for identity, (name, inputs) in uses.items():
        output, is_error = results.get(identity, (None, False))
        yield _Seen(name=name, inputs=inputs, output=output, is_error=is_error)


def _events(trace: Trace) -> Iterator[Mapping[str, object]]:
    for line in trace.lines:
        if '"tool_use"' not in line and '"tool_result"' not in line:
            continue
        try:
            event = parse(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event


def _blocks(event: Mapping[str, object]) -> list[Mapping[str, object]]:
    message = event.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return (
        [block for block in content or () if isinstance(block, dict)]
        if isinstance(content, list)
        else []
    )


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (block.get("text") for block in content if isinstance(block, dict))
    return "\n".join(text for text in texts if isinstance(text, str))
