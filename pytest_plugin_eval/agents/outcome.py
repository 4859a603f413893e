"""How a run ended, told by the fields of its result line.

Spec: behaviour-evals, 6; deviations, D1 and D7.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_plugin_eval.agents.answers import (
    answers,
    is_own,
    is_subagent,
    since_last_answer,
)
from pytest_plugin_eval.agents.child import ChildResult
from pytest_plugin_eval.records.model import Ending
from pytest_plugin_eval.records.trace import Trace
from pytest_plugin_eval.text import one_line

__all__ = ["Classified", "classify", "cost_of", "has_answer", "turns_of"]

_CREDENTIAL_STATUS = (401, 403)
_NOT_SIGNED_IN = "authentication_failed"
_OWN_STOPS = ("max_output_tokens",)
_UNHEARD = (Ending.COMPLETED, Ending.TURN_LIMIT, Ending.TIMED_OUT, Ending.STOPPED)


@dataclass(frozen=True, slots=True)
class Classified:
    """An ending and its text for people."""

    ending: Ending
    error: str | None = None


def classify(trace: Trace, child: ChildResult, *, timeout_s: int) -> Classified:
    """Return how the run ended."""
    found = _ending(trace, child, timeout_s)
    if found.ending in _UNHEARD and not has_answer(trace):
        what = "the model never answered"
        return Classified(Ending.AGENT_ERROR, f"{found.error}: {what}" if found.error else what)
    return found


def has_answer(trace: Trace) -> bool:
    """Tell whether the model said anything; the client's own error messages do not count (D7).

    An empty answer leaves no line of its own, but tokens in the accounts of the result.
    """
    if any(True for _ in answers(trace)):
        return True
    usage = (trace.result or {}).get("modelUsage")
    models = usage.values() if isinstance(usage, dict) else ()
    return any(isinstance(model, dict) and model.get("outputTokens") for model in models)


def turns_of(trace: Trace) -> int:
    """Return the result's own count, else the number of the main agent's answers."""
    turns = (trace.result or {}).get("num_turns")
    if isinstance(turns, int):
        return turns
    return len({message.get("id") for event, message in answers(trace) if not is_subagent(event)})


def cost_of(trace: Trace, child: ChildResult) -> float | None:
    """Return the agent's own account in US dollars, or ``None`` when it gave none."""
    results = [trace.result, Trace(child.farewell).result]
    for result in results:
        cost = (result or {}).get("total_cost_usd")
        if isinstance(cost, int | float):
            return float(cost)
    return None


def _ending(trace: Trace, child: ChildResult, timeout_s: int) -> Classified:
    if child.stopped:
        return Classified(Ending.INTERRUPTED, "interrupted")
    if child.timed_out:
        error = f"timed out after {timeout_s}s"
        if refusal := _refusal_waited_for(trace):
            return Classified(Ending.AGENT_ERROR, f"{error}: {refusal}")
        return Classified(Ending.TIMED_OUT, error)
    if trace.result is None:
        return Classified(Ending.NO_RESULT, _without_result(child))
    return _by_result(trace, trace.result, child)


def _by_result(trace: Trace, result: Mapping[str, object], child: ChildResult) -> Classified:
    text = f"exit {_exit_code(child)}: {_error_text(result)}"
    if not result.get("is_error"):
        failed = child.exit_code not in (0, None)
        return Classified(Ending.COMPLETED, text if failed else None)
    if result.get("subtype") == "error_max_turns" or result.get("terminal_reason") == "max_turns":
        return Classified(Ending.TURN_LIMIT, text)
    if result.get("api_error_status") in _CREDENTIAL_STATUS or _last_error(trace) == _NOT_SIGNED_IN:
        return Classified(Ending.CREDENTIAL_REFUSED, text)
    if result.get("api_error") in _OWN_STOPS or result.get("stop_reason") == "refusal":
        return Classified(Ending.STOPPED, text)
    return Classified(Ending.AGENT_ERROR, text)


def _error_text(result: Mapping[str, object]) -> str:
    errors = result.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else result.get("result")
    text = first if isinstance(first, str) and first else str(result.get("subtype"))
    return one_line(text).strip()


def _exit_code(child: ChildResult) -> int:
    # A process that had to be ended after its result would have said 1 of a failed session.
    return 1 if child.exit_code is None else child.exit_code


def _refusal_waited_for(trace: Trace) -> str | None:
    """Return what the agent spent the rest of its time on, where that was repeating a request.

    The time was used up by the service then, not by the model.
    """
    for event in reversed(tuple(since_last_answer(trace))):
        if (event.get("type"), event.get("subtype")) == ("system", "api_retry"):
            status = event.get("error_status")
            how = "failed" if status is None else f"was refused with status {status}"
            return f"a request {how} and was being repeated"
    return None


def _without_result(child: ChildResult) -> str:
    said = one_line(child.stderr).strip()
    return f"{_end_of(child)}: {said}" if said else f"{_end_of(child)} without a result line"


def _end_of(child: ChildResult) -> str:
    code = child.exit_code
    if code is None:
        return "the agent was ended"
    if code >= 0:
        return f"exit {code}"
    try:
        return f"ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"


def _last_error(trace: Trace) -> object:
    for event in reversed(trace.events):
        if event.get("type") == "assistant" and not is_subagent(event):
            return event.get("error") if is_own(event) else None
    return None
