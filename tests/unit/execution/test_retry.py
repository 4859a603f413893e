"""Which runs are made again, and after which pause. Spec: deviations, D1."""

from __future__ import annotations

import json

import pytest

from pytest_plugin_eval.execution.retry import ended_at, pause_before
from pytest_plugin_eval.records.model import Arm, Ending, RunKey, RunOutcome, RunRecord
from pytest_plugin_eval.records.trace import Trace
from pytest_plugin_eval.spending.limiter import LONGEST_PAUSE_S

STARTED = "2027-01-15T08:00:00.000Z"
NOON = 1_800_000_000.0
NOW = NOON + 10
"""The run took ten seconds."""
REPEATED = (Ending.AGENT_ERROR, Ending.NO_RESULT, Ending.CREDENTIAL_REFUSED)


def ended(ending: Ending = Ending.AGENT_ERROR, resets_at: float | None = None) -> RunRecord:
    info = {"status": "rejected", "resetsAt": resets_at}
    event = {"type": "rate_limit_event", "rate_limit_info": info}
    return RunRecord(
        key=RunKey(case="a", arm=Arm.WITH, number=1),
        outcome=RunOutcome(ending=ending, started_at=STARTED, duration_s=10.0),
        trace=Trace([] if resets_at is None else [json.dumps(event)]),
    )


def pause(record: RunRecord, attempt: int = 1, *, base_s: float = 5, jitter: float = 0) -> object:
    return pause_before(record, attempt, base_s=base_s, now=NOW, jitter=lambda: jitter)


@pytest.mark.parametrize("ending", REPEATED)
def test_run_that_the_infrastructure_spoilt_is_made_again(ending: Ending) -> None:
    assert pause(ended(ending)) == 5


@pytest.mark.parametrize("ending", sorted(set(Ending) - set(REPEATED)))
def test_run_of_another_ending_is_not(ending: Ending) -> None:
    assert pause(ended(ending)) is None
    assert pause(ended(ending, resets_at=NOW + 5)) is None


@pytest.mark.parametrize(
    ("attempt", "base_s", "jitter", "pause_s"),
    [
        (1, 5, 0, 5),
        (2, 5, 0, 10),
        (4, 5, 0, 40),
        (1, 5, 1, 7.5),
        (2, 5, 0.5, 12.5),
        (1, 0, 0.5, 0),
        (9, 0, 1, 0),
        (8, 5, 0, LONGEST_PAUSE_S),
        (100_000, 5, 0, LONGEST_PAUSE_S),
        (1, 10_000, 1, 1.5 * LONGEST_PAUSE_S),
    ],
)
def test_pause_doubles_up_to_the_longest_and_is_spread(
    attempt: int, base_s: float, jitter: float, pause_s: float
) -> None:
    assert pause(ended(), attempt, base_s=base_s, jitter=jitter) == pause_s


@pytest.mark.parametrize(
    ("resets_at", "pause_s"),
    [
        (NOW - 100, 5),
        (NOW + 1, 5),
        (NOW + 42, 42),
        (NOW + LONGEST_PAUSE_S, LONGEST_PAUSE_S),
        (NOW + LONGEST_PAUSE_S + 1, None),
        (NOW + 7 * 86400, None),
    ],
)
def test_pause_reaches_to_the_reset(resets_at: float, pause_s: float | None) -> None:
    assert pause(ended(resets_at=resets_at)) == pause_s


def test_those_who_wait_for_a_reset_do_not_come_at_once() -> None:
    assert pause(ended(resets_at=NOW + 42), jitter=0.4) == 43


@pytest.mark.parametrize(
    ("started_at", "moment"),
    [
        (STARTED, NOON + 10),
        ("2027-01-15T09:00:00.000+01:00", NOON + 10),
        ("", 7.0),
        ("2027-01-15T08:00:00", 7.0),
        ("yesterday", 7.0),
    ],
)
def test_end_of_a_run_is_now_where_its_start_is_not_known(started_at: str, moment: float) -> None:
    outcome = RunOutcome(ending=Ending.NO_RESULT, started_at=started_at, duration_s=10.0)

    assert ended_at(outcome, 7.0) == moment
