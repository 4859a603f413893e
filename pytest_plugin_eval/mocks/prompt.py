"""What a model is told that answers in the place of an MCP server. Spec: agent-run, 7.6."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pytest_plugin_eval.mocks.recordings import Earlier
from pytest_plugin_eval.mocks.values import json_numbers
from pytest_plugin_eval.records.jsjson import stringify

__all__ = ["VERSION", "Reply", "question", "read_reply", "system_text"]

VERSION = 1
"""Raised with every change of the words below: answers recorded before it may differ."""

_ERROR = "ERROR:"
_ABORT = "ABORT:"
_ROLE = (
    "A coding agent is being tested, and you answer its tool calls in the place of the MCP server"
    ' "{server}". Each message holds one call. Answer with what the server itself would return for'
    " it and nothing else: no remarks, and no code fence unless the server sends one. If the"
    " message lists earlier calls, your answer must fit what was answered to them."
)
_ERRORS = (
    "Where the server would refuse the call, such as for an unknown id or a missing argument,"
    " answer with one line: ERROR: and then the server's message."
)
_NO_ABORT = "Never begin an answer with ABORT:."
_ABORTS = (
    "The test must be broken off when the call fits one of the conditions between the tags below."
    " Only then answer with one line: ABORT: and then, in a few words, which condition it fits.\n"
    "<conditions>\n{conditions}\n</conditions>"
)
_SERVER = "What the author of the test says of the server:"


class Reply(NamedTuple):
    """A model's answer, understood."""

    text: str
    is_error: bool = False
    is_abort: bool = False


def system_text(server: str, body: str, abort_when: str | None) -> str:
    """Return the system text: the role, the ways to answer, and the author's words."""
    aborts = _NO_ABORT if abort_when is None else _ABORTS.format(conditions=abort_when.strip())
    return "\n\n".join((_ROLE.format(server=server), _ERRORS, aborts, f"{_SERVER}\n\n{body}"))


def question(tool: str, inputs: Mapping[str, object], earlier: Sequence[Earlier]) -> str:
    """Return the user's text: the earlier calls, then the one to answer."""
    arguments = json.dumps(json_numbers_as_written(inputs), ensure_ascii=False, indent=2)
    call = f"Call to answer: {tool}\nIts input:\n{arguments}"
    if not earlier:
        return call
    lines = ["Answered before in this run:", *map(_earlier_line, earlier), ""]
    return "\n".join((*lines, call))


def read_reply(text: str, *, may_abort: bool) -> Reply:
    """Return what an answer says; an abort that nobody allowed is an error of the tool."""
    text = text.strip()
    if text.startswith(_ERROR):
        return Reply(text.removeprefix(_ERROR).strip() or "error", is_error=True)
    if text.startswith(_ABORT):
        reason = text.removeprefix(_ABORT).strip()
        if may_abort:
            return Reply(reason or "a condition of abort_when was met", is_abort=True)
        return Reply(reason or "error", is_error=True)
    return Reply(text)


def json_numbers_as_written(value: object) -> object:
    """Return JSON whose whole floats are integers, as JavaScript would write them."""
    return json.loads(stringify(json_numbers(value)))


def _earlier_line(call: Earlier) -> str:
    output = f"{_ERROR} {call.output}" if call.is_error else call.output
    return f"- {call.tool}({stringify(json_numbers(call.inputs))}) → {output}"
