"""What a request to the Messages API says about the conversation it belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

_WORKING_DIRECTORY = re.compile(r"Primary working directory: (.+)")
# The client puts its own remarks into user messages; a background agent's end arrives as one, too.
_REMINDER = "<system-reminder>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One request, read.

    `turn` is the number of assistant messages after the last prompt of the user. `cwd` is `None`
    when the request names no working directory. `agent_id` is that of a subagent, else empty.
    """

    kind: Literal["main", "subagent", "bare"]
    session: str
    agent_id: str
    model: str
    prompt: str
    turn: int
    cwd: str | None
    offered: tuple[str, ...]
    messages: Sequence[Mapping[str, object]]

    def offers(self, text: str) -> bool:
        """Say whether `text` stands in system text, in a reminder or in the name of a tool."""
        return any(text in part for part in self.offered)

    def mentions(self, text: str) -> bool:
        """Say whether `text` stands anywhere in the request."""
        said = (part for message in self.messages for part in _texts(message.get("content")))
        return self.offers(text) or any(text in part for part in said)


def read_conversation(request: Mapping[str, object], headers: Mapping[str, str]) -> Conversation:
    """Return what a request with these (lower-case) headers says."""
    messages = [item for item in _items(request.get("messages")) if isinstance(item, Mapping)]
    tools = [
        str(item.get("name")) for item in _items(request.get("tools")) if isinstance(item, Mapping)
    ]
    prompt, turn = _prompt_and_turn(messages)
    system = [*_texts(request.get("system")), *_client_texts(messages)]
    agent_id = headers.get("x-claude-code-agent-id", "")
    found = (match[1] for part in system if (match := _WORKING_DIRECTORY.search(part)))
    return Conversation(
        kind="subagent" if agent_id else "main" if tools else "bare",
        session=headers.get("x-claude-code-session-id", ""),
        agent_id=agent_id,
        model=str(request.get("model", "")),
        prompt=prompt,
        turn=turn,
        cwd=next(found, None),
        offered=(*system, *tools),
        messages=messages,
    )


def _prompt_and_turn(messages: Sequence[Mapping[str, object]]) -> tuple[str, int]:
    turn = 0
    for message in reversed(messages):
        if message.get("role") == "assistant":
            turn += 1
        elif message.get("role") == "user" and (prompt := _prompt(message.get("content"))):
            return prompt, turn
    return "", turn


def _prompt(content: object) -> str:
    """Return the user's own words.

    A message with tool results has none: the body of a skill comes as text in such a message.
    """
    kinds = [item.get("type") for item in _items(content) if isinstance(item, Mapping)]
    if "tool_result" in kinds:
        return ""
    return "\n".join(part for part in _texts(content) if not part.startswith(_REMINDER))


def _client_texts(messages: Sequence[Mapping[str, object]]) -> Iterator[str]:
    for message in messages:
        if message.get("role") == "system":
            yield from _texts(message.get("content"))
        elif message.get("role") == "user":
            yield from (
                part for part in _texts(message.get("content")) if part.startswith(_REMINDER)
            )


def _texts(content: object) -> Iterator[str]:
    """Yield the texts of a message's content, those inside tool results included."""
    if isinstance(content, str):
        yield content
    for item in _items(content):
        if isinstance(item, Mapping):
            if isinstance(words := item.get("text"), str):
                yield words
            yield from _texts(item.get("content"))


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()
