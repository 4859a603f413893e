"""When the service takes requests again, by the fields of the stream alone."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from pytest_plugin_eval.agents.limits import slow_down_until
from pytest_plugin_eval.records.trace import Trace

ENDED = 1_800_000_000.0
RESET = 1_800_003_600

Event = dict[str, Any]


def retry(status: int | None, delay_ms: object = 3108, attempt: int = 1) -> Event:
    return {
        "type": "system",
        "subtype": "api_retry",
        "attempt": attempt,
        "max_retries": 10,
        "retry_delay_ms": delay_ms,
        "error_status": status,
        "error": "rate_limit",
    }


def limit(status: str = "rejected", **fields: object) -> Event:
    info = {"status": status, "rateLimitType": "five_hour", "isUsingOverage": False, **fields}
    return {"type": "rate_limit_event", "rate_limit_info": info}


def answered(**fields: object) -> Event:
    message = {"id": "m", "model": "claude-x", "content": [{"type": "text", "text": "hi"}]}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, **fields}


def client_said(status: int | None) -> Event:
    message = {"id": "x", "model": "<synthetic>", "content": [{"type": "text", "text": "Error"}]}
    return {
        "type": "assistant",
        "message": message,
        "is_api_error_message": True,
        "api_error_status": status,
    }


def failed(status: int | None, text: str = "API Error") -> Event:
    return {
        "type": "result",
        "subtype": "success",
        "is_error": True,
        "terminal_reason": "api_error",
        "api_error_status": status,
        "result": text,
    }


COMPLETED = {"type": "result", "subtype": "success", "is_error": False, "result": "hi"}


@pytest.mark.parametrize(
    ("events", "until"),
    [
        ([retry(429), client_said(429), failed(429)], ENDED + 3.108),
        ([retry(529, 2223), client_said(529), failed(529)], ENDED + 2.223),
        ([retry(429, 500), retry(429, 9000, 2), client_said(429), failed(429)], ENDED + 9),
        ([retry(429, 9000), retry(500, 600, 2), client_said(500), failed(500)], ENDED + 9),
        ([client_said(429), failed(429)], ENDED + 60),
        ([client_said(529), failed(529)], ENDED + 60),
        ([limit(resetsAt=RESET), client_said(429), failed(429)], RESET),
        ([retry(429), limit(resetsAt=RESET), client_said(429), failed(429)], RESET),
        ([retry(429), limit(), client_said(429), failed(429)], ENDED + 3.108),
        ([limit("allowed"), limit(resetsAt=RESET), client_said(429), failed(429)], RESET),
        ([limit(resetsAt=RESET), limit(resetsAt=RESET + 9), failed(429)], RESET + 9),
        ([answered(), retry(429, 1110), client_said(429), failed(429)], ENDED + 1.11),
        ([retry(429, 30139)], ENDED + 30.139),
        ([answered(), retry(429, 30139)], ENDED + 30.139),
        ([limit(resetsAt=RESET)], RESET),
    ],
    ids=[
        *("retry-after", "overloaded", "last-pause", "refused-before-an-error"),
        *("given-up-at-once", "overloaded-given-up", "usage-limit", "usage-limit-after-retry"),
        *("no-reset", "allowed-before", "two-limits", "later-turn", "cut-off-waiting"),
        *("cut-off-waiting-later", "cut-off-at-limit"),
    ],
)
def test_service_that_asks_for_a_pause(events: list[Event], until: float) -> None:
    trace = Trace(json.dumps(event) for event in events)

    assert slow_down_until(trace, ENDED) == pytest.approx(until)


@pytest.mark.parametrize(
    "events",
    [
        [],
        [answered(), COMPLETED],
        [retry(429), answered(), COMPLETED],
        [limit(resetsAt=RESET), COMPLETED],
        [limit("allowed_warning", resetsAt=RESET), client_said(500), failed(500)],
        [retry(500), client_said(500), failed(500)],
        [retry(401), client_said(401), failed(401)],
        [retry(None), client_said(None), failed(None)],
        [retry(429), answered(), client_said(500), failed(500)],
        [limit(resetsAt=RESET), answered(), client_said(400), failed(400)],
        [answered(), failed(None, "Reached the rate limit (429), retry after 30 seconds")],
        [answered(text="429 rate_limit_event resetsAt 1800003600")],
        [retry(429), answered(parent_tool_use_id="toolu_1")],
    ],
    ids=[
        *("empty", "fine", "waited-for", "limit-of-a-run-that-ended-well", "warning"),
        *("server-error", "credential", "connection", "waited-for-before-an-error"),
        *("limit-before-an-answer", "words-only", "words-of-the-model", "subagent-answered"),
    ],
)
def test_nobody_asked_for_a_pause(events: list[Event]) -> None:
    trace = Trace(json.dumps(event) for event in events)

    assert slow_down_until(trace, ENDED) is None


@pytest.mark.parametrize("value", [None, "soon", True, -1, math.nan, math.inf, 10**400, {}])
def test_values_that_are_no_times_are_ignored(value: object) -> None:
    events = [retry(429, 2000), limit(resetsAt=value), retry(429, value), failed(429)]

    until = slow_down_until(Trace(json.dumps(event) for event in events), ENDED)

    assert until == ENDED + 2


@pytest.mark.parametrize(
    "line", ['{"type":"rate_limit_event"}', "[1]", "torn {", '{"type":"system"}']
)
def test_events_of_another_shape_are_ignored(line: str) -> None:
    lines = [json.dumps(retry(429, 2000)), line, json.dumps(failed(429))]

    assert slow_down_until(Trace(lines), ENDED) == ENDED + 2
