"""Which recorded votes count, and which are missing."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.judges.tally import Tally, tallied
from pytest_plugin_eval.records.model import Vote
from tests.support.records import vote


def votes(count: int, judging: int = 1, *, first: int = 1, **fields: str) -> tuple[Vote, ...]:
    numbers = range(first, first + count)
    return tuple(vote("q", judging=judging, number=number, **fields) for number in numbers)  # type: ignore[arg-type]  # all of them texts


FIRST, SECOND = votes(3), votes(3, 2)


@pytest.mark.parametrize(
    ("recorded", "size", "expected"),
    [
        pytest.param((), 3, Tally(1, (), (1, 2, 3)), id="nothing"),
        pytest.param(FIRST, 3, Tally(1, FIRST, ()), id="complete"),
        pytest.param(FIRST[::-1], 3, Tally(1, FIRST, ()), id="in any order"),
        pytest.param((*FIRST, *SECOND), 3, Tally(2, SECOND, ()), id="the newest"),
        pytest.param((*SECOND, *FIRST), 3, Tally(2, SECOND, ()), id="by number, not by place"),
        pytest.param(votes(5), 3, Tally(1, votes(5)[:3], ()), id="the first of more"),
        pytest.param(FIRST, 5, Tally(1, FIRST, (4, 5)), id="more votes wanted"),
        pytest.param(votes(1, first=2), 3, Tally(1, votes(1, first=2), (1, 3)), id="incomplete"),
        pytest.param((*FIRST, *votes(1, 2)), 3, Tally(1, FIRST, ()), id="newest is incomplete"),
        pytest.param((*FIRST, *votes(1, 2)), 5, Tally(2, votes(1, 2), (2, 3, 4, 5)), id="neither"),
        pytest.param((vote("old", judging=4),), 3, Tally(5, (), (1, 2, 3)), id="other question"),
        pytest.param(votes(3, grader="g2"), 3, Tally(1, votes(3, grader="g2"), ()), id="renamed"),
        pytest.param(votes(2, grader="g2"), 3, Tally(1, (), (1, 2, 3)), id="not another's rest"),
        pytest.param((*votes(3, 9, grader="g2"), *FIRST), 3, Tally(1, FIRST, ()), id="own first"),
    ],
)
def test_newest_complete_judging_counts_else_one_is_completed(
    recorded: tuple[Vote, ...], size: int, expected: Tally
) -> None:
    assert tallied(recorded, grader="g", question="q", size=size) == expected


@pytest.mark.parametrize(
    ("chosen", "kept"),
    [
        pytest.param(None, SECOND, id="any"),
        pytest.param({"judge-1"}, SECOND, id="this one"),
        pytest.param({"old"}, votes(3, model="old"), id="an older one"),
        pytest.param({"other"}, (), id="none of it"),
    ],
)
def test_only_votes_of_a_chosen_model_count(
    chosen: set[str] | None, kept: tuple[Vote, ...]
) -> None:
    recorded = (*votes(3, model="old"), *SECOND)

    assert tallied(recorded, grader="g", question="q", size=3, chosen=chosen).kept == kept


def test_judging_of_one_model_is_not_completed_by_another() -> None:
    recorded = votes(2, model="old")

    by_other = tallied(recorded, grader="g", question="q", size=3, completed_by="judge-1")
    by_same = tallied(recorded, grader="g", question="q", size=3, completed_by="old")

    assert by_other == Tally(2, (), (1, 2, 3))
    assert by_same == Tally(1, recorded, (3,))


def test_votes_that_do_not_count_only_take_their_number() -> None:
    counted = frozenset(votes(1, 2))

    tally = tallied((*FIRST, *votes(1, 2)), grader="g", question="q", size=3, counted=counted)
    nothing = tallied(FIRST, grader="g", question="q", size=3, counted=frozenset())

    assert tally == Tally(2, votes(1, 2), (2, 3))
    assert nothing == Tally(2, (), (1, 2, 3))
