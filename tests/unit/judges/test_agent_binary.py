"""What the agent binary is asked and how its lines are read; the binary itself is elsewhere."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from pytest_plugin_eval.errors import AgentError, JudgeError
from pytest_plugin_eval.judges.agent_binary import AgentBinary, Session
from pytest_plugin_eval.judges.base import Image, JudgeReply, JudgeRequest

KEY = "sk-ant-scripted-0000"
USAGE = {
    "inputTokens": 100,
    "cacheReadInputTokens": 20,
    "cacheCreationInputTokens": 3,
    "outputTokens": 10,
}
REQUEST = JudgeRequest(model="claude-haiku-4-5", system="Be strict.", parts=("Good?",))


@dataclass
class FakeProgram:
    """Answers every question with one session."""

    session: Session | Exception
    asked: list[tuple[tuple[str, ...], str]] = field(default_factory=list)
    is_closed: bool = False

    def run(self, arguments: Sequence[str], text: str) -> Session:
        self.asked.append((tuple(arguments), text))
        if isinstance(self.session, Exception):
            raise self.session
        return self.session

    def close(self) -> None:
        self.is_closed = True


def _judge(session: Session | Exception, **env: str) -> tuple[AgentBinary, FakeProgram]:
    program = FakeProgram(session)
    return AgentBinary(program, env=env, description="fake", secrets=(KEY,)), program


def _session(*events: dict[str, object], **options: Any) -> Session:
    return Session(lines=tuple(map(json.dumps, events)), **options)


def _said(*blocks: dict[str, object], model: str = "claude-served") -> dict[str, object]:
    return {"type": "assistant", "message": {"model": model, "content": list(blocks)}}


def _text(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


def _result(**fields: object) -> dict[str, object]:
    usage = {"claude-served": USAGE}
    return {"type": "result", "total_cost_usd": 0.25, "modelUsage": usage, **fields}


def _failure(session: Session | Exception) -> JudgeError:
    backend, _ = _judge(session)
    with pytest.raises(JudgeError) as caught:
        backend.ask(REQUEST)
    return caught.value


def test_reply_is_read_from_the_stream() -> None:
    backend, _ = _judge(_session(_said(_text("PASS")), _result()))

    reply = backend.ask(REQUEST)

    assert reply == JudgeReply(
        text="PASS", model="claude-served", input_tokens=123, output_tokens=10, cost_usd=0.25
    )


@pytest.mark.parametrize(
    ("events", "text"),
    [
        ((_said(_text("PASS")), _said(_text("FAIL"))), "PASS\nFAIL"),
        ((_said({"type": "thinking", "thinking": "hm"}), _said(_text("PASS"))), "PASS"),
        ((_said(_text("wrote the client"), model="<synthetic>"),), None),
        ((_said({"type": "tool_use", "name": "Bash", "input": {}}),), None),
        ((), None),
    ],
    ids=["two", "thoughts", "the client's own", "tool call", "nothing"],
)
def test_texts_of_the_model_are_taken_together(
    events: tuple[dict[str, object], ...], text: str | None
) -> None:
    backend, _ = _judge(_session(*events, _result()))

    assert backend.ask(REQUEST).text == text


def test_tool_call_in_the_only_turn_is_an_answer_without_text() -> None:
    call = _said({"type": "tool_use", "name": "Bash", "input": {}})
    backend, _ = _judge(_session(call, _result(is_error=True, subtype="error_max_turns")))

    reply = backend.ask(REQUEST)

    assert (reply.text, reply.cost_usd) == (None, 0.25)


@pytest.mark.parametrize("fields", [{"total_cost_usd": None}, {"total_cost_usd": "x"}])
def test_cost_that_is_not_told_is_unknown(fields: dict[str, object]) -> None:
    backend, _ = _judge(_session(_said(_text("PASS")), _result(**fields)))

    assert backend.ask(REQUEST).cost_usd is None


def test_model_that_is_not_told_is_the_one_asked_for() -> None:
    backend, _ = _judge(_session(_result(modelUsage=None)))

    assert backend.ask(REQUEST).model == REQUEST.model


@pytest.mark.parametrize(
    ("fields", "status"),
    [({"api_error_status": 401}, 401), ({"api_error_status": 500}, 500), ({}, None)],
)
def test_error_has_its_status(fields: dict[str, object], status: int | None) -> None:
    failure = _failure(_session(_result(is_error=True, result=f"no {KEY}\nluck", **fields)))

    assert str(failure) == "no [***] luck"
    assert (failure.status, failure.slow_down_until) == (status, None)


def test_missing_sign_in_is_a_refused_credential() -> None:
    event = {**_said(_text("Not signed in"), model="<synthetic>"), "error": "authentication_failed"}

    failure = _failure(_session(event, _result(is_error=True, result="Not signed in")))

    assert (str(failure), failure.status) == ("Not signed in", 401)


@pytest.mark.parametrize("status", [429, 503, 529])
def test_busy_service_asks_for_a_pause(status: int) -> None:
    before = time.time()

    failure = _failure(_session(_result(is_error=True, api_error_status=status, result="busy")))

    assert failure.slow_down_until is not None
    assert before + 9 < failure.slow_down_until < time.time() + 11


def test_pause_that_the_stream_names_goes_first() -> None:
    result = _result(is_error=True, api_error_status=429, result="busy")

    assert _failure(_session(result, slow_down_until=4e9)).slow_down_until == 4e9


@pytest.mark.parametrize(
    ("session", "message"),
    [
        (_session(stopped=True), "the session was stopped"),
        (_session(timed_out=True), "the judge gave no answer within its time limit"),
        (
            _session(stderr=f"boom {KEY}\n"),
            "the judge ended without a result, its standard error says boom [***]",
        ),
        (_session(), "the judge ended without a result, its standard error says nothing"),
        (OSError("no such file"), "the judge cannot be started: no such file"),
        (AgentError("no place"), "the judge cannot be started: no place"),
        (_session(_result(is_error=True, errors=["first"])), "first"),
        (_session(_result(is_error=True, subtype="error_x")), "error_x"),
    ],
)
def test_session_without_an_answer_fails(session: Session | Exception, message: str) -> None:
    assert str(_failure(session)) == message


def test_question_is_one_line_with_pictures_in_place() -> None:
    backend, program = _judge(_session(_result()))
    parts = ("a\nb\ud800", Image("image/gif", b"GIF89a"), "c")

    backend.ask(JudgeRequest(model="m", system="s", parts=parts))

    [(_, question)] = program.asked
    [line] = question.splitlines()
    assert json.loads(line)["message"]["content"] == [
        {"type": "text", "text": "a\nb\ufffd"},
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/gif", "data": "R0lGODlh"},
        },
        {"type": "text", "text": "c"},
    ]


def test_command_offers_no_tools_and_reads_no_settings() -> None:
    backend, program = _judge(_session(_result()))

    backend.ask(REQUEST)

    [(arguments, _)] = program.asked
    assert arguments[arguments.index("--tools") + 1] == ""
    assert arguments[arguments.index("--setting-sources") + 1] == ""
    assert {"--model=claude-haiku-4-5", "--system-prompt=Be strict."} < set(arguments)


@pytest.mark.parametrize(
    ("env", "is_bare"),
    [
        ({"ANTHROPIC_API_KEY": KEY}, True),
        ({"ANTHROPIC_API_KEY": KEY, "CLAUDE_CODE_USE_BEDROCK": "1"}, False),
        ({"CLAUDE_CODE_OAUTH_TOKEN": "tok"}, False),
        ({}, False),
    ],
)
def test_binary_is_bare_where_a_key_signs_in(env: dict[str, str], is_bare: bool) -> None:
    backend, program = _judge(_session(_result()), **env)

    backend.ask(REQUEST)

    assert ("--bare" in program.asked[0][0]) is is_bare


def test_alias_of_a_cloud_is_left_to_the_binary() -> None:
    backend, _ = _judge(_session(), CLAUDE_CODE_USE_BEDROCK="1")

    assert (backend.resolved(None), backend.resolved("opus")) == ("haiku", "opus")


def test_estimate_counts_what_the_binary_adds() -> None:
    backend, _ = _judge(_session())

    assert backend.estimate_usd(
        "claude-haiku-4-5", input_tokens=600, output_tokens=100
    ) == pytest.approx(0.0015)
    assert backend.estimate_usd("haiku", input_tokens=600, output_tokens=100) is None


def test_closing_closes_the_program() -> None:
    backend, program = _judge(_session())

    backend.close()

    assert program.is_closed
    assert repr(backend) == "<AgentBinary fake>"
