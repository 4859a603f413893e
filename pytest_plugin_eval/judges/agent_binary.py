"""The agent binary as a judge, for those who sign in by subscription. Spec: agent-run, 9.2.

A question costs a process of half a second; nothing but the system text and the question is ours to
choose: the binary adds some lines about the machine.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pytest_plugin_eval.errors import EvalError, JudgeError
from pytest_plugin_eval.judges.base import Image, JudgeReply, JudgeRequest
from pytest_plugin_eval.judges.models import cloud_of, resolve_model
from pytest_plugin_eval.judges.pauses import slow_down_until
from pytest_plugin_eval.records.redact import redactor
from pytest_plugin_eval.records.trace import Trace
from pytest_plugin_eval.spending.prices import price_usd
from pytest_plugin_eval.text import cut, one_line, without_surrogates

__all__ = ["VARIABLES", "AgentBinary", "Program", "Session"]

VARIABLES = {"CLAUDE_CODE_DISABLE_THINKING": "1"}
"""To be set for the process: the word of a vote needs no thoughts at the price of output."""
ADDED_TOKENS = 400
"""About what the binary adds to a question."""
ERROR_LENGTH = 500

_FLAGS_TEXT = """
    -p --input-format stream-json --output-format stream-json --verbose --max-turns 1
    --permission-mode dontAsk --no-session-persistence --strict-mcp-config --disable-slash-commands
"""
_FLAGS = (*_FLAGS_TEXT.split(), "--setting-sources", "", "--tools", "")
_NOT_SIGNED_IN = "authentication_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """How one process of the binary ended and what it said."""

    lines: tuple[str, ...]
    stderr: str = ""
    timed_out: bool = False
    stopped: bool = False
    slow_down_until: float | None = None
    """When the service takes requests again, where the stream tells."""


class Program(Protocol):
    """Starts the binary, each time in directories of its own; several threads may do so at once."""

    def run(self, arguments: Sequence[str], text: str) -> Session:
        """Give *text* to a process and follow it to its end.

        Raises `EvalError` or `OSError` when it cannot be started.
        """
        ...

    def close(self) -> None:
        """End the processes in flight, start no other, and remove the directories."""
        ...


class AgentBinary:
    """Asks by ``claude -p`` without tools."""

    def __init__(
        self,
        program: Program,
        *,
        env: Mapping[str, str],
        description: str,
        secrets: Iterable[str] = (),
    ) -> None:
        """*env* is the operator's; *secrets* never stand in a message."""
        self._program = program
        self._env = dict(env)
        self._description = description
        self._redact = redactor(secrets)

    def __repr__(self) -> str:
        """Return what holds no secret."""
        return f"<AgentBinary {self._description}>"

    @property
    def description(self) -> str:
        """Say which binary is asked."""
        return self._description

    def resolved(self, model: str | None) -> str:
        """Return the model to ask for; an alias of a cloud provider is resolved by the binary."""
        return resolve_model(model, self._env)

    def estimate_usd(self, model: str, *, input_tokens: int, output_tokens: int) -> float | None:
        """Return the list price of a call with what the binary adds to it."""
        added = input_tokens + ADDED_TOKENS
        return price_usd(model, input_tokens=added, output_tokens=output_tokens)

    def ask(self, request: JudgeRequest) -> JudgeReply:
        """Return the answer; raises `JudgeError` when the request fails or `close` is called."""
        try:
            session = self._program.run(self._arguments(request), _question(request))
        except (EvalError, OSError) as error:
            raise JudgeError(f"the judge cannot be started: {self._said(str(error))}") from error
        if session.stopped:
            raise JudgeError("the session was stopped")
        if session.timed_out:
            raise JudgeError("the judge gave no answer within its time limit")
        trace = Trace(session.lines)
        if trace.result is None:
            said = self._said(session.stderr) or "nothing"
            text = f"the judge ended without a result, its standard error says {said}"
            raise JudgeError(text, garbled=True)
        # A judge that called a tool had its one turn: an answer without text.
        if trace.result.get("is_error") and trace.result.get("subtype") != "error_max_turns":
            raise self._error(trace, trace.result, session)
        return _reply(trace, trace.result, request.model)

    def close(self) -> None:
        """End the processes in flight and remove their directories."""
        self._program.close()

    def _arguments(self, request: JudgeRequest) -> tuple[str, ...]:
        own = (f"--model={request.model}", f"--system-prompt={without_surrogates(request.system)}")
        # With a key alone the binary can leave out what it adds to a question; a sign-in needs it.
        has_key = self._env.get("ANTHROPIC_API_KEY") and cloud_of(self._env) is None
        return (*_FLAGS, *own, "--bare") if has_key else (*_FLAGS, *own)

    def _error(self, trace: Trace, result: Mapping[str, object], session: Session) -> JudgeError:
        errors = result.get("errors")
        said = errors[0] if isinstance(errors, list) and errors else result.get("result")
        status = result.get("api_error_status")
        if not isinstance(status, int):
            status = 401 if _is_not_signed_in(trace) else None
        pause = session.slow_down_until or slow_down_until(status, {}, time.time())
        text = self._said(str(said or result.get("subtype")))
        return JudgeError(text, status=status, slow_down_until=pause)

    def _said(self, text: str) -> str:
        """Return a text for a message: no secrets, one line, of bounded length."""
        return cut(one_line(self._redact(text)).strip(), ERROR_LENGTH)


def _question(request: JudgeRequest) -> str:
    content = [_block(part) for part in request.parts]
    event = {"type": "user", "message": {"role": "user", "content": content}}
    return json.dumps(event) + "\n"


def _block(part: str | Image) -> dict[str, object]:
    if isinstance(part, str):
        return {"type": "text", "text": without_surrogates(part)}
    data = base64.standard_b64encode(part.data).decode("ascii")
    return {"type": "image", "source": {"type": "base64", "media_type": part.mime, "data": data}}


def _reply(trace: Trace, result: Mapping[str, object], asked: str) -> JudgeReply:
    messages = tuple(_messages(trace))
    texts = tuple(text for message in messages for text in _texts(message))
    cost = result.get("total_cost_usd")
    usage = result.get("modelUsage")
    usage = usage if isinstance(usage, dict) else {}
    served = [message.get("model") for message in messages] or list(usage)
    inputs = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
    return JudgeReply(
        text="\n".join(texts) if texts else None,
        model=str(served[-1]) if served and served[-1] else asked,
        input_tokens=sum(_count(usage, name) for name in inputs),
        output_tokens=_count(usage, "outputTokens"),
        cost_usd=float(cost) if isinstance(cost, int | float) else None,
    )


def _messages(trace: Trace) -> Iterator[Mapping[str, object]]:
    """Yield the model's messages; the client's own have no model's name."""
    for event in trace.events:
        message = event.get("message")
        if event.get("type") != "assistant" or not isinstance(message, dict):
            continue
        if message.get("model") != "<synthetic>":
            yield message


def _texts(message: Mapping[str, object]) -> Iterator[str]:
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and isinstance(text := block.get("text"), str):
            yield text


def _count(usage: Mapping[str, object], name: str) -> int:
    counts = (model.get(name) for model in usage.values() if isinstance(model, dict))
    return sum(count for count in counts if isinstance(count, int))


def _is_not_signed_in(trace: Trace) -> bool:
    return any(event.get("error") == _NOT_SIGNED_IN for event in trace.events)
