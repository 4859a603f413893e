"""When the service takes requests again, by what the agent's stream tells of a refused one.

Seen with Claude Code 2.1.332:

* A subscription's limit is a ``rate_limit_event`` whose ``rate_limit_info`` has ``status``
  ``rejected`` and ``resetsAt``, in seconds since the epoch.
* Before a request is repeated there is a ``system``/``api_retry`` event with ``error_status`` and
  ``retry_delay_ms``, into which a ``retry-after`` of the service has gone. No event tells that of
  the last refusal.
* Asked to wait for longer than a minute, the agent gives up at once, without such an event.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from pytest_plugin_eval.agents.answers import since_last_answer
from pytest_plugin_eval.records.trace import Trace

__all__ = ["LONGEST_AGENT_PAUSE_S", "slow_down_until"]

LONGEST_AGENT_PAUSE_S = 60.0
"""A pause that the agent itself still waits for."""

_SLOW_DOWN_STATUS = (429, 529)


def slow_down_until(trace: Trace, ended_at: float) -> float | None:
    """Return the time in seconds since the epoch, or ``None`` when nobody asked for a pause.

    *ended_at* is when the session ended. Only what came after the model's last answer counts:
    earlier pauses were waited for. Where the stream has no time, it is that of the agent's last
    pause, counted from the end, or the shortest for which the agent gives up.
    """
    result = trace.result or {}
    if trace.result is not None and not result.get("is_error"):
        return None
    events = tuple(since_last_answer(trace))
    resets = tuple(_resets(events))
    if resets:
        return max(resets)
    pauses_s = tuple(_pauses_s(events))
    if pauses_s:
        return ended_at + pauses_s[-1]
    if result.get("api_error_status") in _SLOW_DOWN_STATUS:
        return ended_at + LONGEST_AGENT_PAUSE_S
    return None


def _resets(events: tuple[Mapping[str, object], ...]) -> Iterator[float]:
    for event in events:
        info = event.get("rate_limit_info")
        if event.get("type") != "rate_limit_event" or not isinstance(info, dict):
            continue
        until = _number(info.get("resetsAt"))
        if info.get("status") == "rejected" and until is not None:
            yield until


def _pauses_s(events: tuple[Mapping[str, object], ...]) -> Iterator[float]:
    for event in events:
        if (event.get("type"), event.get("subtype")) != ("system", "api_retry"):
            continue
        delay_ms = _number(event.get("retry_delay_ms"))
        if event.get("error_status") in _SLOW_DOWN_STATUS and delay_ms is not None:
            yield delay_ms / 1000


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
