"""The transcript of a run, as it is shown: what was said, called and answered, in order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from pytest_plugin_eval.records.trace import Trace
from pytest_plugin_eval.text import cut, decimals, plural

__all__ = ["Kind", "Step", "Transcript", "first_difference", "transcript"]

STEP_LENGTH = 8_000
TRANSCRIPT_LENGTH = 200_000
"""Characters shown of a step and of a transcript; the record has all."""
MOST_STEPS = 1_000
_SHORT = 400
_SHORT_LINES = 8


class Kind(StrEnum):
    """Who a step is of."""

    START = "start"
    TEXT = "text"
    THINKING = "thinking"
    CALL = "call"
    RESULT = "result"
    ERROR = "error"
    """A tool's result that is an error."""
    INPUT = "input"
    """A text that the harness or a skill put before the agent."""
    END = "end"


_BEFORE_THE_NEXT = {Kind.START, Kind.RESULT, Kind.ERROR}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One event of a transcript."""

    kind: Kind
    text: str
    tool: str = ""
    is_subagent: bool = False
    signature: str = ""
    """Of a call: tool and input, without what differs between any two runs."""
    differs: bool = False
    """The first call that the other arm did not make in this place."""

    @property
    def is_long(self) -> bool:
        """Whether it is folded at first."""
        return len(self.text) > _SHORT or self.text.count("\n") > _SHORT_LINES


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """The steps of one run, divided where the arms part."""

    before: tuple[Step, ...]
    after: tuple[Step, ...] = ()
    """From the first call that differs from the other arm's on."""
    note: str = ""
    """What is not shown."""

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps."""
        return (*self.before, *self.after)


def transcript(trace: Trace) -> Transcript:
    """Return what is shown of a trace."""
    steps: list[Step] = []
    length = 0
    listed = _steps(trace)
    for step in listed:
        length += len(step.text)
        if length > TRANSCRIPT_LENGTH or len(steps) == MOST_STEPS:
            left_out = 1 + sum(1 for _ in listed)
            note = f"{plural(left_out, 'further step')} left out here"
            return Transcript(before=tuple(steps), note=note)
        steps.append(step)
    return Transcript(before=tuple(steps))


def first_difference(
    with_run: Transcript, without_run: Transcript
) -> tuple[Transcript, Transcript, str]:
    """Return both transcripts divided at the first tool call that differs, and a line about it.

    The directory of the run is the same word in both, so that a path does not count.
    """
    calls = [
        [step for step in one.steps if step.kind is Kind.CALL] for one in (with_run, without_run)
    ]
    signatures = [[call.signature for call in one] for one in calls]
    number = next(
        (i for i, pair in enumerate(zip(*signatures, strict=False)) if pair[0] != pair[1]),
        min(map(len, signatures)),
    )
    if number == max(map(len, signatures)):
        made = plural(number, "tool call") if number else "no tool call"
        return with_run, without_run, f"Both arms made the same calls: {made}."
    names = [_call_name(one, number) for one in calls]
    text = (
        f"Tool call {number + 1} is the first that differs: "
        f"with the plugin {names[0]}, without it {names[1]}."
    )
    return _divided(with_run, number), _divided(without_run, number), text


def _call_name(calls: Sequence[Step], number: int) -> str:
    if number < len(calls):
        return calls[number].tool
    return "no further one" if number else "none at all"


def _divided(one: Transcript, number: int) -> Transcript:
    """Return a transcript divided at a call, counted from 0, or behind its last call's result."""
    steps = one.steps
    places = [i for i, step in enumerate(steps) if step.kind is Kind.CALL]
    if number < len(places):
        place = places[number]
        marked = replace(steps[place], differs=True)
        return replace(one, before=steps[:place], after=(marked, *steps[place + 1 :]))
    place = places[-1] + 1 if places else 0
    while place < len(steps) and steps[place].kind in _BEFORE_THE_NEXT:
        place += 1
    return replace(one, before=steps[:place], after=steps[place:])


def _steps(trace: Trace) -> Iterator[Step]:
    home = ""
    for line in trace.lines:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict):
            yield Step(kind=Kind.INPUT, text=cut(f"(a line that is no event) {line}", STEP_LENGTH))
            continue
        match event.get("type"):
            case "assistant" | "user":
                yield from _message(event, home)
            case "system" if event.get("subtype") == "init" and not home:
                home = str(event.get("cwd") or "")
                yield Step(kind=Kind.START, text=_start(event))
            case "result":
                yield Step(kind=Kind.END, text=_end(event))


def _start(event: Mapping[str, object]) -> str:
    parts = [f"model {event.get('model') or 'unknown'}"]
    for name, noun in (("tools", "tool"), ("skills", "skill"), ("mcp_servers", "MCP server")):
        listed = event.get(name)
        if isinstance(listed, list):
            parts.append(plural(len(listed), noun))
    plugins = event.get("plugins")
    if isinstance(plugins, list):
        names = [str(one.get("name")) for one in plugins if isinstance(one, dict)]
        parts.append(f"plugins: {', '.join(names) or 'none'}")
    return "; ".join(parts)


def _end(event: Mapping[str, object]) -> str:
    parts = [str(event.get("subtype") or "ended")]
    turns, cost = event.get("num_turns"), event.get("total_cost_usd")
    if isinstance(turns, int):
        parts.append(plural(turns, "turn"))
    if isinstance(cost, (int, float)):
        parts.append(f"${decimals(cost, 4)}")
    return "; ".join(parts)


def _message(event: Mapping[str, object], home: str) -> Iterator[Step]:
    message = event.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    is_agent = event.get("type") == "assistant"
    is_subagent = bool(event.get("parent_tool_use_id"))
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict):
            yield _block(block, home, is_agent=is_agent, is_subagent=is_subagent)


def _block(block: Mapping[str, object], home: str, *, is_agent: bool, is_subagent: bool) -> Step:
    kind, tool, signature = Kind.TEXT if is_agent else Kind.INPUT, "", ""
    match block.get("type"):
        case "text":
            text = str(block.get("text") or "")
        case "thinking":
            kind, text = Kind.THINKING, str(block.get("thinking") or "")
        case "tool_use":
            kind, tool, text = Kind.CALL, str(block.get("name")), _input(block.get("input"))
            signature = f"{tool}\n{text.replace(home, '.') if home else text}"
        case "tool_result":
            kind = Kind.ERROR if block.get("is_error") else Kind.RESULT
            text = _result(block.get("content"))
        case other:
            kind, text = Kind.INPUT, f"({other or 'a block without a type'}, not shown)"
    return Step(
        kind=kind,
        text=cut(text, STEP_LENGTH),
        tool=tool,
        is_subagent=is_subagent,
        signature=signature,
    )


def _input(value: object) -> str:
    """Return a call's input: a field a line where it is an object of plain values."""
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_plain(one)}" for name, one in value.items())
    return _plain(value)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _result(content: object) -> str:
    if isinstance(content, list):
        parts = (
            str(block.get("text"))
            if isinstance(block, dict) and block.get("type") == "text"
            else f"({block.get('type') if isinstance(block, dict) else 'a block'}, not shown)"
            for block in content
        )
        return "\n".join(parts)
    return _plain(content) if content is not None else ""
