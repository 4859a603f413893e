"""Whether a run is made once more, and after which pause. Spec: deviations, D1."""

from __future__ import annotations

import datetime
from collections.abc import Callable

from pytest_plugin_eval.agents.limits import slow_down_until
from pytest_plugin_eval.records.model import Ending, RunOutcome, RunRecord
from pytest_plugin_eval.spending.limiter import LONGEST_PAUSE_S

__all__ = ["ended_at", "pause_before"]

_DOUBLINGS = 16
"""More of them are beyond any pause, and in the end beyond any float."""
_REPEATED = frozenset({Ending.AGENT_ERROR, Ending.NO_RESULT, Ending.CREDENTIAL_REFUSED})


def pause_before(
    record: RunRecord, attempt: int, *, base_s: float, now: float, jitter: Callable[[], float]
) -> float | None:
    """Return the seconds to wait before a run is made again; ``None``: it is not to be repeated.

    Only what the infrastructure spoilt is repeated, whole, and never because of a grade: a run that
    was measured, could not be set up, loaded the wrong things or was interrupted is not. A refused
    credential is, since it was accepted before: where the first run ends on one the session stops
    (decisions, 12), and nobody asks here.

    *attempt* is how many sessions the run has taken so far, from 1: the pause is *base_s* after the
    first and doubles with each further one, up to half as long again by *jitter*, which returns 0
    to 1. It reaches to the time when the service takes requests again, spread as well, since all
    who wait for that time would come at once. Where it is more than `LONGEST_PAUSE_S` after *now*,
    in seconds since the epoch, waiting is not worth it.
    """
    if record.outcome.ending not in _REPEATED:
        return None
    spread = jitter() / 2
    pause_s = min(base_s * 2.0 ** min(attempt - 1, _DOUBLINGS), LONGEST_PAUSE_S) * (1 + spread)
    until = slow_down_until(record.trace, ended_at(record.outcome, now))
    if until is None:
        return pause_s
    if until - now > LONGEST_PAUSE_S:
        return None
    return max(pause_s, until - now + base_s * spread)


def ended_at(outcome: RunOutcome, now: float) -> float:
    """Return when a run ended, in seconds since the epoch; *now* where its start is not known."""
    try:
        started = datetime.datetime.fromisoformat(outcome.started_at)
    except ValueError:
        return now
    if started.tzinfo is None:
        return now
    return started.timestamp() + outcome.duration_s
