"""Skills, back ends and askings for the Monte Carlo layer."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path

from pytest_plugin_eval.judges.base import JudgeBackend, JudgeReply, JudgeRequest
from pytest_plugin_eval.quality.asking import Asking
from pytest_plugin_eval.quality.model import LayerResult
from pytest_plugin_eval.quality.parse import SkillSource, read_skill
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter

Reply = str | None | JudgeReply | Exception
Answer = Callable[[int], Reply]

SMALL = "small-1"
AGENT = "agent-1"
W1 = """\
---
name: w1
description: Use this skill when testing things.
---

# W1

Takes an input and returns JSON.
"""
PROMPTS = tuple(f"Prompt number {number}, please." for number in range(10))
"""As many as a decimal digit has values: the number of a run says which of them it has."""
WRITTEN = json.dumps(PROMPTS)


def skill_in(directory: Path, content: str = W1, *, name: str = "w1") -> SkillSource:
    """Return a skill that is read from the disk."""
    path = directory / name
    path.mkdir()
    (path / "SKILL.md").write_bytes(content.encode("utf-8"))
    return read_skill(path)


def run_reply(text: str | None, tokens: int = 100, *, cost_usd: float | None = 0.25) -> JudgeReply:
    """Return the reply of a run."""
    input_tokens = tokens // 2
    return JudgeReply(
        text=text,
        model=f"{AGENT}-served",
        input_tokens=input_tokens,
        output_tokens=tokens - input_tokens,
        cost_usd=cost_usd,
    )


def example_5(number: int) -> Reply:
    """Return the reply of a run in the specification's fifth example."""
    match number % 10:
        case 8:
            return run_reply("", 500)
        case 9:
            return RuntimeError("broken pipe")
        case digit:
            return run_reply("x" * (100 * digit + 50), 1207 + 100 * digit)


class RunsBackend:
    """Answers the call for prompts by a text, and each run by its place among the prompts."""

    description = "a stand-in"

    def __init__(self, answer: Answer, prompts: Reply = WRITTEN) -> None:
        """Answer run *n* by *answer*, and the call for prompts by *prompts*."""
        self.requests: list[JudgeRequest] = []
        self.most_in_flight = 0
        self.is_closed = False
        self.before: Callable[[int], None] = lambda _: None
        """Called in the thread of each run, with its place in the order of arrival from 0."""
        self._answer = answer
        self._prompts = prompts
        self._in_flight = 0
        self._lock = threading.Lock()

    @property
    def runs(self) -> list[JudgeRequest]:
        """Return the requests that were no call for prompts."""
        return [request for request in self.requests if request.model != SMALL]

    def resolved(self, model: str | None) -> str:
        """Return a name for the default judge, and one for whatever the agent takes."""
        return SMALL if model is None else AGENT

    def estimate_usd(self, model: str, *, input_tokens: int, output_tokens: int) -> float | None:
        """Return one millionth of a dollar a token."""
        return (input_tokens + output_tokens) / 1e6

    def ask(self, request: JudgeRequest) -> JudgeReply:
        """Return or raise the answer of a run, or that of the call for prompts."""
        with self._lock:
            self.requests.append(request)
            arrival = len(self.runs) - 1
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            if request.model == SMALL:
                return _given(self._prompts)
            self.before(arrival)
            return _given(self._answer(_digit(request, arrival)))
        finally:
            with self._lock:
                self._in_flight -= 1

    def close(self) -> None:
        """Note it."""
        self.is_closed = True


def asking_of(
    backend: JudgeBackend,
    *,
    ceiling_usd: float | None = None,
    limiter: Limiter | None = None,
    stopped: threading.Event | None = None,
    model: str | None = None,
) -> Asking:
    """Return what asks a back end, with a ledger of its own."""
    return Asking(
        lambda: backend,
        ledger=Ledger(ceiling_usd),
        limiter=limiter or Limiter(),
        env={},
        stopped=stopped,
        model=model,
    )


def _digit(request: JudgeRequest, arrival: int) -> int:
    """Return which of the prompts a run has; with others, its place in the order of arrival."""
    text = str(request.parts[0])
    return next((n for n, prompt in enumerate(PROMPTS) if prompt in text), arrival)


def _given(reply: Reply) -> JudgeReply:
    if isinstance(reply, Exception):
        raise reply
    if isinstance(reply, JudgeReply):
        return reply
    return JudgeReply(
        text=reply, model=f"{SMALL}-served", input_tokens=30, output_tokens=12, cost_usd=0.01
    )


def good_run(_: int) -> Reply:
    """Return a run of which nothing is to be wished for."""
    return run_reply("x" * 500)


def counts_of(layer: LayerResult) -> tuple[object, ...]:
    """Return how many runs were planned, made, not made, activated and failed."""
    names = ("n_planned", "n_runs", "n_not_made", "n_activated", "n_errored")
    return tuple(layer.metadata[name] for name in names)
