"""How a run ended, by the fields of its result."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_plugin_eval.agents.child import ChildResult
from pytest_plugin_eval.agents.outcome import classify, cost_of, has_answer, turns_of
from pytest_plugin_eval.records.model import Ending
from pytest_plugin_eval.records.trace import Trace

USAGE = {"modelUsage": {"m": {"outputTokens": 5}}}


def trace(*events: dict[str, Any]) -> Trace:
    return Trace(json.dumps(event) for event in events)


def result(**fields: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": False, **fields}


def failure(text: str = "API Error: 500 x", **fields: Any) -> dict[str, Any]:
    return result(is_error=True, terminal_reason="api_error", result=text, **fields)


def said(text: str = "hi", **fields: Any) -> dict[str, Any]:
    message = {"id": "m1", "model": "claude-x", "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, **fields}


def client_said(error: str) -> dict[str, Any]:
    message = {
        "id": "x",
        "model": "<synthetic>",
        "content": [{"type": "text", "text": "API Error"}],
    }
    return {"type": "assistant", "message": message, "error": error, "is_api_error_message": True}


def retried(status: int | None) -> dict[str, Any]:
    return {"type": "system", "subtype": "api_retry", "error_status": status}


def ended(code: int | None = 0, **fields: Any) -> ChildResult:
    return ChildResult(lines=(), exit_code=code, **fields)


@pytest.mark.parametrize(
    ("events", "child", "ending", "error"),
    [
        ([said(), result()], ended(), Ending.COMPLETED, None),
        ([result(**USAGE)], ended(), Ending.COMPLETED, None),
        ([said(), result(result="done")], ended(3), Ending.COMPLETED, "exit 3: done"),
        ([said(), result()], ended(None), Ending.COMPLETED, None),
        (
            [
                said(),
                result(
                    subtype="error_max_turns",
                    is_error=True,
                    errors=["Reached maximum number of turns (1)"],
                ),
            ],
            ended(1),
            Ending.TURN_LIMIT,
            "exit 1: Reached maximum number of turns (1)",
        ),
        ([said()], ended(None, timed_out=True), Ending.TIMED_OUT, "timed out after 7s"),
        ([said()], ended(None, stopped=True), Ending.INTERRUPTED, "interrupted"),
        (
            [
                said(),
                client_said("max_output_tokens"),
                failure("cut", api_error="max_output_tokens"),
            ],
            ended(1),
            Ending.STOPPED,
            "exit 1: cut",
        ),
        ([said(), failure("no", stop_reason="refusal")], ended(1), Ending.STOPPED, "exit 1: no"),
        (
            [client_said("unknown"), failure(api_error_status=500)],
            ended(1),
            Ending.AGENT_ERROR,
            "exit 1: API Error: 500 x",
        ),
        ([said(), failure(api_error="connection_failed")], ended(1), Ending.AGENT_ERROR, None),
        (
            [client_said("billing_error"), failure(api_error_status=400)],
            ended(1),
            Ending.AGENT_ERROR,
            None,
        ),
        (
            [client_said("authentication_failed"), failure("Not logged in")],
            ended(1),
            Ending.CREDENTIAL_REFUSED,
            "exit 1: Not logged in",
        ),
        ([failure("x", api_error_status=401)], ended(1), Ending.CREDENTIAL_REFUSED, "exit 1: x"),
        ([failure("x", api_error_status=403)], ended(1), Ending.CREDENTIAL_REFUSED, "exit 1: x"),
        (
            [result(subtype="error_during_execution", is_error=True, errors=["No conversation"])],
            ended(1),
            Ending.AGENT_ERROR,
            "exit 1: No conversation",
        ),
        (
            [client_said("server_error"), failure("API Error: mid-response")],
            ended(1),
            Ending.AGENT_ERROR,
            None,
        ),
        (
            [said(), client_said("rate_limit"), failure(api_error="usage_limit_reached")],
            ended(1),
            Ending.AGENT_ERROR,
            None,
        ),
        (
            [said(), client_said("authentication_failed"), said(), failure(api_error_status=500)],
            ended(1),
            Ending.AGENT_ERROR,
            None,
        ),
        ([said()], ended(1, stderr="boom\n"), Ending.NO_RESULT, "exit 1: boom"),
        ([], ended(0), Ending.NO_RESULT, "exit 0 without a result line"),
        ([said()], ended(-11), Ending.NO_RESULT, "ended by SIGSEGV without a result line"),
        ([said()], ended(-99), Ending.NO_RESULT, "ended by signal 99 without a result line"),
    ],
)
def test_ending(
    events: list[dict[str, Any]], child: ChildResult, ending: Ending, error: str | None
) -> None:
    found = classify(trace(*events), child, timeout_s=7)

    assert found.ending is ending
    assert error in (None, found.error)


@pytest.mark.parametrize(
    ("events", "child", "error"),
    [
        ([result()], ended(), "the model never answered"),
        ([], ended(None, timed_out=True), "timed out after 7s: the model never answered"),
        (
            [client_said("x")],
            ended(None, timed_out=True),
            "timed out after 7s: the model never answered",
        ),
    ],
    ids=["no-message", "time-limit", "only-the-client"],
)
def test_run_without_an_answer_is_not_measured(
    events: list[dict[str, Any]], child: ChildResult, error: str
) -> None:
    found = classify(trace(*events), child, timeout_s=7)

    assert (found.ending, found.error) == (Ending.AGENT_ERROR, error)


@pytest.mark.parametrize(
    ("status", "words"),
    [(429, "was refused with status 429"), (500, "was refused with status 500"), (None, "failed")],
)
def test_time_limit_while_a_request_is_repeated_is_the_services_doing(
    status: int | None, words: str
) -> None:
    events = (said(), retried(status), {"type": "system", "subtype": "status"})

    found = classify(trace(*events), ended(None, timed_out=True), timeout_s=7)

    assert found.ending is Ending.AGENT_ERROR
    assert found.error == f"timed out after 7s: a request {words} and was being repeated"


@pytest.mark.parametrize("answer", [said(), said(parent_tool_use_id="t")], ids=["main", "subagent"])
def test_time_limit_after_a_repetition_that_was_answered_is_the_agents_doing(
    answer: dict[str, Any],
) -> None:
    events = (retried(429), answer, {"type": "user", "message": {"content": []}})

    found = classify(trace(*events), ended(None, timed_out=True), timeout_s=7)

    assert (found.ending, found.error) == (Ending.TIMED_OUT, "timed out after 7s")


def test_session_that_was_stopped_is_interrupted_whatever_the_service_said() -> None:
    found = classify(trace(said(), retried(429)), ended(None, stopped=True), timeout_s=7)

    assert found.ending is Ending.INTERRUPTED


def test_text_of_the_model_is_never_taken_for_an_error() -> None:
    found = classify(trace(said("API Error: 401 Not logged in"), result()), ended(), timeout_s=7)

    assert found.ending is Ending.COMPLETED


def test_error_is_one_line() -> None:
    found = classify(trace(said(), failure("a\n\nb", api_error_status=500)), ended(1), timeout_s=7)

    assert found.error == "exit 1: a  b"


def test_subagent_answers_are_answers_but_no_turns() -> None:
    lines = trace(said(parent_tool_use_id="t"), client_said("x"))

    assert has_answer(lines)
    assert turns_of(lines) == 0


def test_turns_are_the_results_own_or_counted_by_message() -> None:
    assert turns_of(trace(said(), result(num_turns=4))) == 4
    assert turns_of(trace(said("a"), said("b"), client_said("x"))) == 1


def test_cost_is_the_agents_own_even_when_it_was_broken_off() -> None:
    farewell = (json.dumps(result(total_cost_usd=0.25)),)

    assert cost_of(trace(result(total_cost_usd=1)), ended()) == 1.0
    assert cost_of(trace(said()), ended(None, farewell=farewell)) == 0.25
    assert cost_of(trace(said()), ended(None)) is None
