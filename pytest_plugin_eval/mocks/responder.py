"""The stand-ins of one run: what they answer, and what they remember. Spec: agent-run, 7."""

from __future__ import annotations

import datetime
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from pytest_plugin_eval.cases.mock import MockTool, PlacedServer, Responder
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.mocks.asking import Ask, Asked, UnansweredError
from pytest_plugin_eval.mocks.calls import MockCall
from pytest_plugin_eval.mocks.expect import Matches, violation
from pytest_plugin_eval.mocks.prompt import question, read_reply, system_text
from pytest_plugin_eval.mocks.recordings import (
    Earlier,
    Recording,
    find_recording,
    recording_key,
)
from pytest_plugin_eval.mocks.substitution import MockToolError, substituted
from pytest_plugin_eval.records.redact import redacted_json
from pytest_plugin_eval.text import one_line

__all__ = ["BUDGET_PER_TURN", "Aborted", "Answer", "MockResult", "RunMocks", "RunResponder"]

BUDGET_PER_TURN = 4
"""Answers by a model that a run may use up for each of its turns."""
_EXPECT = "the model's call violates expect: "


class Answer(NamedTuple):
    """What goes back to the agent."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Aborted:
    """Why a mock broke its run off."""

    server: str
    tool: str
    reason: str

    def __str__(self) -> str:
        return f"aborted by mock {self.server}/{self.tool}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMocks:
    """The stand-ins that one run is to have."""

    servers: tuple[PlacedServer, ...]
    """Only those with a mock are served."""
    max_turns: int
    matches: Matches
    """Finds JavaScript patterns in texts."""
    ask: Ask | None = None
    """Asks the model behind agent mocks; without it such a mock answers with an error."""
    on_abort: Callable[[Aborted], None] | None = None
    """Called once, from another thread, before the agent gets any answer: ends the run."""
    on_failure: Callable[[str], None] | None = None
    """Called likewise when a model that was to answer did not, so that nothing is measured."""
    model: str | None = None
    """The model that recordings name; ``None`` for the default."""
    root: Path | None = None
    """What destinations of recordings are relative to, the suite's root."""

    @property
    def budget(self) -> int:
        """How many answers by a model the run may use up, over all servers."""
        return BUDGET_PER_TURN * self.max_turns


@dataclass(frozen=True, slots=True, kw_only=True)
class MockResult:
    """What the stand-ins of one run did."""

    calls: tuple[MockCall, ...] = ()
    """In the order they were answered in; the one that broke the run off is the last."""
    aborted: Aborted | None = None
    failure: str | None = None
    """Why a model that was to answer did not, in one line; nothing was answered after that."""
    is_at_ceiling: bool = False
    """Whether that is because no more money may be spent."""
    cost_usd: float | None = 0.0
    """Of questions to a model; ``None`` when that of one is unknown."""
    known_usd: float = 0.0
    """The cost as far as it is known."""
    replay_hits: int = 0
    replay_misses: int = 0
    recordings: tuple[Recording, ...] = ()
    """Fresh answers by a model; to be kept only when the run ended well."""

    @property
    def errors(self) -> int:
        """Calls that were answered with an error, not counting the one that broke the run off."""
        return sum(call.is_error for call in self.calls) - (self.aborted is not None)

    def redacted(self, redact: Callable[[str], str]) -> MockResult:
        """Return the result without what *redact* takes out of texts."""
        aborted = self.aborted
        return replace(
            self,
            calls=tuple(
                replace(call, inputs=_redacted(call.inputs, redact), output=redact(call.output))
                for call in self.calls
            ),
            aborted=aborted and replace(aborted, reason=redact(aborted.reason)),
            failure=self.failure and redact(self.failure),
            recordings=tuple(
                replace(each, inputs=_redacted(each.inputs, redact), output=redact(each.output))
                for each in self.recordings
            ),
        )


class _Settled(NamedTuple):
    """An answer and how it came about."""

    answer: Answer
    is_asked: bool = False
    is_replayed: bool = False


class _Abort(Exception):
    """Ends a call and its run; its text is the reason."""


class RunResponder:
    """Answers the calls of one run, one after the other; safe to use from several threads."""

    def __init__(self, run: RunMocks) -> None:
        self._run = run
        self._nonce = secrets.token_hex(6)
        self._lock = threading.Lock()
        self._tools = {
            (server.key, tool.name): tool
            for server in run.servers
            if server.mock is not None
            for tool in server.mock.tools
        }
        self._earlier: dict[str, list[Earlier]] = {}
        self._answered = 0
        self._calls: list[MockCall] = []
        self._recordings: list[Recording] = []
        self._failure: str | None = None
        self._is_at_ceiling = False
        self._known_usd = 0.0
        self._unknown = 0
        self._hits = 0
        self._misses = 0
        self._aborted: Aborted | None = None
        self._is_closed = False

    def answer(self, server: PlacedServer, tool: str, inputs: Mapping[str, object]) -> Answer:
        """Return the answer to a call of one of the server's tools."""
        mock = self._tools.get((server.key, tool))
        if mock is None:
            return Answer(f"unknown tool: {tool}", is_error=True)
        # In turn, so that each answer can take account of those before it.
        with self._lock:
            if self._aborted is not None:
                return self._farewell(self._aborted)
            if self._is_closed or self._failure is not None:
                return Answer("the run has ended", is_error=True)
            return self._answer(server, mock, inputs)

    def close(self) -> MockResult:
        """Return what was answered; nothing is from now on.

        A question to a model that is still open is not waited for; what it costs is unknown.
        """
        self._is_closed = True
        return MockResult(
            calls=tuple(self._calls),
            aborted=self._aborted,
            failure=self._failure,
            is_at_ceiling=self._is_at_ceiling,
            cost_usd=None if self._unknown else self._known_usd,
            known_usd=self._known_usd,
            replay_hits=self._hits,
            replay_misses=self._misses,
            recordings=tuple(self._recordings),
        )

    def _answer(self, server: PlacedServer, mock: MockTool, inputs: Mapping[str, object]) -> Answer:
        try:
            settled = self._settled(server, mock, inputs)
        except _Abort as abort:
            reason = one_line(str(abort))
            self._aborted = Aborted(server=server.name, tool=mock.name, reason=reason)
            settled = _Settled(self._farewell(self._aborted))
        self._calls.append(
            MockCall(
                server=server.name,
                tool=mock.name,
                name=server.tool_name(mock.name),
                responder=mock.responder,
                inputs=inputs,
                output=settled.answer.text,
                is_error=settled.answer.is_error,
                is_replayed=settled.is_replayed,
                is_asked=settled.is_asked,
            )
        )
        if self._aborted is not None and self._run.on_abort is not None:
            self._run.on_abort(self._aborted)
        if self._failure is not None and self._run.on_failure is not None:
            self._run.on_failure(self._failure)
        return settled.answer

    def _settled(
        self, server: PlacedServer, mock: MockTool, inputs: Mapping[str, object]
    ) -> _Settled:
        if problem := violation(mock.expect, inputs, self._run.matches):
            raise _Abort(_EXPECT + problem)
        if mock.responder is Responder.AGENT:
            return self._by_agent(server, mock, inputs)
        try:
            return _Settled(Answer(substituted(mock, inputs), is_error=mock.is_error))
        except MockToolError as error:
            return _Settled(Answer(str(error), is_error=True))

    def _by_agent(
        self, server: PlacedServer, mock: MockTool, inputs: Mapping[str, object]
    ) -> _Settled:
        if self._answered >= self._run.budget:
            raise _Abort(
                f"mock call budget exceeded ({self._answered} agent-answered calls this run)"
            )
        self._answered += 1
        try:
            body = substituted(mock, inputs)
        except MockToolError as error:
            self._misses += 1
            return _Settled(Answer(str(error), is_error=True))
        earlier = self._earlier.setdefault(server.key, [])
        key = recording_key(server.name, mock, inputs, earlier, body=body)
        found = find_recording(mock, key, inputs)
        if found is not None:
            self._hits += 1
            settled = _Settled(Answer(found.output, found.is_error), is_replayed=True)
        else:
            self._misses += 1
            reply = self._asked(server, mock, inputs, body)
            if reply is None:
                text = "the model that plays this server did not answer"
                return _Settled(Answer(text, is_error=True), is_asked=True)
            self._record(server, mock, inputs, key, reply)
            settled = _Settled(reply, is_asked=True)
        earlier.append(
            Earlier(
                tool=mock.name,
                inputs=inputs,
                output=settled.answer.text,
                is_error=settled.answer.is_error,
            )
        )
        return settled

    def _asked(
        self, server: PlacedServer, mock: MockTool, inputs: Mapping[str, object], body: str
    ) -> Answer | None:
        """Return the model's answer, ``None`` when there is none."""
        system = system_text(server.name, body, mock.abort_when)
        user = question(mock.name, inputs, self._earlier[server.key])
        asked = self._put(system, user)
        if isinstance(asked, EvalError):
            self._failure = one_line(f"{server.name}/{mock.name}: {asked}")
            self._is_at_ceiling = isinstance(asked, UnansweredError) and asked.refused
            return None
        reply = read_reply(asked.text, may_abort=mock.abort_when is not None)
        if reply.is_abort:
            raise _Abort(reply.text)
        return Answer(reply.text, reply.is_error)

    def _put(self, system: str, user: str) -> Asked | EvalError:
        """Put a question and count its cost, which is unknown until it is told."""
        self._unknown += 1
        # Unknown and nothing, until the question has come back.
        costs: tuple[float | None, ...] = (None,)
        try:
            if self._run.ask is None:
                raise EvalError("there is no model to ask")
            asked = self._run.ask(system, user)
            costs = (asked.cost_usd, asked.known_usd)
            return asked
        except EvalError as error:
            costs = error.costs_usd if isinstance(error, UnansweredError) else ()
            return error
        finally:
            self._known_usd += sum(cost for cost in costs if cost is not None)
            self._unknown -= None not in costs

    def _record(
        self,
        server: PlacedServer,
        mock: MockTool,
        inputs: Mapping[str, object],
        key: str,
        answer: Answer,
    ) -> None:
        now = datetime.datetime.now(datetime.UTC)
        destination = mock.replay_directory
        root = self._run.root
        if root is not None and destination.is_relative_to(root):
            destination = destination.relative_to(root)
        self._recordings.append(
            Recording(
                server=server.name,
                tool=mock.name,
                key=key,
                inputs=inputs,
                output=answer.text,
                is_error=answer.is_error,
                recorded_at=now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                model=self._run.model,
                destination=f"{destination.as_posix()}/",
            )
        )

    def _farewell(self, aborted: Aborted) -> Answer:
        # It names the run by a number that no file knows, so that no text of an author looks alike.
        text = (
            f"eval aborted by mock {self._nonce}: {aborted.server}/{aborted.tool} —"
            f" {aborted.reason}"
        )
        return Answer(text, is_error=True)


def _redacted(inputs: Mapping[str, object], redact: Callable[[str], str]) -> Mapping[str, object]:
    clean = redacted_json(inputs, redact)
    assert isinstance(clean, Mapping)
    return clean
