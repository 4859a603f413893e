"""Answers of the Messages API in their wire forms."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.support.script_model import Data, Fault, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A turn addressed to one request: ids given, placeholders filled."""

    id: str
    model: str
    content: tuple[Data, ...]
    stop_reason: str
    usage: Mapping[str, int]


def address(turn: Turn, *, model: str, seed: str, cwd: str | None) -> Message:
    """Return the turn as a message whose ids follow from `seed`; without `cwd`, `{cwd}` stays."""
    content = []
    for index, block in enumerate(turn.blocks):
        filled = block if cwd is None else {key: _fill(value, cwd) for key, value in block.items()}
        if block["type"] == "tool_use":
            filled = {"type": "tool_use", "id": f"toolu_{seed}_{index}", **filled}
        content.append(filled)
    return Message(
        id=f"msg_{seed}",
        model=model,
        content=tuple(content),
        stop_reason=turn.stop_reason,
        usage=turn.usage,
    )


def json_body(message: Message) -> bytes:
    """Return the answer to a request that does not stream."""
    usage = _usage(message.usage, message.usage["output"])
    body = {**_envelope(message), "content": [_whole(block) for block in message.content]}
    return _dump({**body, "stop_reason": message.stop_reason, "usage": usage})


def stream_events(message: Message) -> list[bytes]:
    """Return the server-sent events of a streamed answer."""
    start = {**_envelope(message), "usage": _usage(message.usage, 1)}
    events = [_event("message_start", {"message": start})]
    for index, block in enumerate(message.content):
        empty, deltas = _opening(block), _deltas(block)
        events.append(_event("content_block_start", {"index": index, "content_block": empty}))
        for delta in deltas:
            events.append(_event("content_block_delta", {"index": index, "delta": delta}))
        events.append(_event("content_block_stop", {"index": index}))
    delta = {"stop_reason": message.stop_reason, "stop_sequence": None}
    usage = {"output_tokens": message.usage["output"]}
    events.append(_event("message_delta", {"delta": delta, "usage": usage}))
    events.append(_event("message_stop", {}))
    return events


def error_body(fault: Fault) -> bytes:
    """Return the body of an API error."""
    return _dump(_error(fault))


def error_event(fault: Fault) -> bytes:
    """Return the API error as an event inside a stream."""
    return _event("error", _error(fault))


def _error(fault: Fault) -> Data:
    return {"type": "error", "error": {"type": fault.error_type, "message": fault.message}}


def _envelope(message: Message) -> Data:
    return {
        "id": message.id,
        "type": "message",
        "role": "assistant",
        "model": message.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _usage(usage: Mapping[str, int], output: int) -> Data:
    return {
        "input_tokens": usage["input"],
        "cache_creation_input_tokens": usage["cache_write"],
        "cache_read_input_tokens": usage["cache_read"],
        "output_tokens": output,
    }


def _whole(block: Data) -> Data:
    return {**block, "signature": "scripted"} if block["type"] == "thinking" else block


def _opening(block: Data) -> Data:
    match block["type"]:
        case "tool_use":
            return {**block, "input": {}}
        case "thinking":
            return {"type": "thinking", "thinking": "", "signature": ""}
        case _:
            return {"type": "text", "text": ""}


def _deltas(block: Data) -> Iterator[Data]:
    match block["type"]:
        case "tool_use":
            inputs = json.dumps(block["input"], ensure_ascii=False)
            yield {"type": "input_json_delta", "partial_json": inputs}
        case "thinking":
            yield {"type": "thinking_delta", "thinking": block["thinking"]}
            yield {"type": "signature_delta", "signature": "scripted"}
        case _:
            yield {"type": "text_delta", "text": block["text"]}


def _event(name: str, data: Data) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), _dump({"type": name, **data}))


def _fill(value: object, cwd: str) -> object:
    if isinstance(value, str):
        return value.replace("{cwd}", cwd)
    if isinstance(value, Mapping):
        return {key: _fill(item, cwd) for key, item in value.items()}
    return [_fill(item, cwd) for item in value] if isinstance(value, list | tuple) else value


def _dump(data: object) -> bytes:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
