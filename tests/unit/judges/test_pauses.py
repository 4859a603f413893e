"""When requests are taken again, by the headers of a refusal."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_plugin_eval.judges.pauses import slow_down_until

NOW = 1_800_000_000.0
"""2027-01-15T08:00:00Z"""
LIMIT = "anthropic-ratelimit-"


@pytest.mark.parametrize(
    ("status", "headers", "expected_s"),
    [
        (429, {"retry-after": "7"}, 7),
        (529, {"retry-after": "7"}, 7),
        (503, {"retry-after": "0"}, 0),
        (429, {"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        (429, {"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT"}, 30),
        (429, {"retry-after": "Fri, 15 Jan 2027 07:00:00 GMT"}, 0),
        (429, {}, 10),
        (529, {}, 10),
        (503, {}, 10),
        (429, {"retry-after": "soon"}, 10),
        (429, {"retry-after": "-5"}, 10),
        (429, {"retry-after": "nan"}, 10),
        (429, {f"{LIMIT}tokens-reset": "2027-01-15T08:00:20Z"}, 20),
        (429, {f"{LIMIT}tokens-reset": "2027-01-15T08:00:20"}, 20),
        (429, {f"{LIMIT}unified-reset": "1800000300"}, 300),
        (429, {f"{LIMIT}tokens-reset": "2027-01-15T07:00:00Z"}, 10),
        (429, {f"{LIMIT}tokens-reset": "tomorrow"}, 10),
        (
            429,
            {
                f"{LIMIT}requests-reset": "2027-01-15T08:09:00Z",
                f"{LIMIT}requests-remaining": "50",
                f"{LIMIT}tokens-reset": "2027-01-15T08:00:20Z",
                f"{LIMIT}tokens-remaining": "0",
                f"{LIMIT}input-tokens-reset": "2027-01-15T08:00:40Z",
                f"{LIMIT}input-tokens-remaining": "0",
            },
            40,
        ),
        (429, {"retry-after": "5", f"{LIMIT}tokens-reset": "2027-01-15T08:00:20Z"}, 5),
    ],
)
def test_pause_is_taken_from_the_headers(
    status: int, headers: Mapping[str, str], expected_s: float
) -> None:
    assert slow_down_until(status, headers, NOW) == NOW + expected_s


@pytest.mark.parametrize("status", [None, 400, 401, 403, 408, 413, 500])
def test_other_failures_ask_for_no_pause(status: int | None) -> None:
    assert slow_down_until(status, {"retry-after": "7"}, NOW) is None
