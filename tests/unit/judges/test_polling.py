"""Votes: asked for together, taken from records, refused, lost and completed."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.judges.base import Image, JudgeRequest
from pytest_plugin_eval.judges.polling import IN_FLIGHT, Judge, Poll, PollResult
from pytest_plugin_eval.records.model import Vote
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter
from tests.support.judges import (
    POLL,
    WAIT_S,
    Answer,
    FakeBackend,
    judge_of,
    no_backend,
    polled,
    together,
)
from tests.support.records import vote

RECORDED = tuple(vote("q", number=number) for number in (1, 2, 3))


def test_votes_are_asked_for_with_what_the_poll_says() -> None:
    backend = FakeBackend()
    poll = Poll("g", "q", "be strict", ("look:", Image("image/png", b"x"), "well?"))

    polled(judge_of(backend), poll=poll)

    expected = JudgeRequest(model="judge-1", system="be strict", parts=poll.parts)
    assert backend.requests == [expected] * 3


def test_vote_says_what_was_answered_by_whom_and_at_which_price() -> None:
    result = polled(judge_of(FakeBackend("FAIL, " + "x" * 300), votes=1))

    assert result.votes == (
        Vote(
            question="q",
            grader="g",
            judging=1,
            number=1,
            passed=False,
            reply="FAIL, " + "x" * 194 + "… [+106 chars]",
            asked_model="judge-1",
            model="judge-1-served",
            cost_usd=0.25,
            asked_at="2026-01-31T00:00:00.000Z",
        ),
    )
    assert result.fresh == result.votes


@pytest.mark.parametrize("size", [1, 3, 5])
def test_as_many_votes_as_wanted_in_their_order(size: int) -> None:
    result = polled(judge_of(FakeBackend(), votes=size))

    assert [one.number for one in result.votes] == list(range(1, size + 1))


def test_votes_of_all_polls_go_out_together_but_no_more_than_eight() -> None:
    backend = FakeBackend()
    together(backend, IN_FLIGHT)
    polls = [Poll("g", f"q{number}", "", ("",)) for number in range(8)]

    results = judge_of(backend).poll([((), poll) for poll in polls])

    # 24 calls pass a barrier of eight three times: with fewer at once it would break.
    assert [[one.question for one in result.votes] for result in results] == [
        [f"q{number}"] * 3 for number in range(8)
    ]


def test_no_more_than_eight_calls_are_in_flight_whoever_asks() -> None:
    backend = FakeBackend()
    inside, most, lock = 0, 0, threading.Lock()
    several = threading.Barrier(IN_FLIGHT)

    def count(_: JudgeRequest) -> None:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        several.wait(WAIT_S)
        with lock:
            inside -= 1

    backend.before = count
    judge = judge_of(backend, votes=IN_FLIGHT)
    askers = [threading.Thread(target=polled, args=(judge,)) for _ in range(3)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join(WAIT_S)

    assert (len(backend.requests), most) == (3 * IN_FLIGHT, IN_FLIGHT)


def test_recorded_votes_need_no_back_end() -> None:
    judge = Judge(no_backend, ledger=Ledger(), limiter=Limiter())

    assert judge.missing(RECORDED, POLL) == 0
    assert polled(judge, RECORDED) == PollResult(RECORDED, ())


def test_another_question_is_asked_again() -> None:
    changed = POLL._replace(question="changed")
    judge = judge_of(FakeBackend())

    assert judge.missing(RECORDED, changed) == 3
    assert [one.judging for one in polled(judge, RECORDED, changed).fresh] == [2, 2, 2]


def test_only_missing_votes_are_asked_for() -> None:
    backend = FakeBackend("FAIL")

    result = polled(judge_of(backend), RECORDED[1:])

    assert len(backend.requests) == 1
    assert result.votes == (*result.fresh, *RECORDED[1:])
    assert [one.passed for one in result.votes] == [False, True, True]


@pytest.mark.parametrize(
    ("model", "missing"),
    [
        pytest.param(None, 0, id="not chosen"),
        pytest.param("judge-1", 0, id="the same"),
        pytest.param("other", 3, id="another"),
    ],
)
def test_recorded_votes_of_another_model_count_unless_one_was_chosen(
    model: str | None, missing: int
) -> None:
    backend = FakeBackend()
    judge = judge_of(backend, model=model)

    assert judge.missing(RECORDED, POLL) == missing
    assert len(polled(judge, RECORDED).fresh) == missing


@pytest.mark.parametrize("model", ["haiku", "claude-haiku-5-5"])
def test_alias_of_the_recorded_model_is_that_model(model: str) -> None:
    recorded = [replace(one, asked_model="claude-haiku-5-5", model="x") for one in RECORDED]
    judge = Judge(no_backend, model=model, ledger=Ledger(), limiter=Limiter())

    assert judge.missing(recorded, POLL) == 0


def test_alias_is_resolved_by_the_back_end_once_there_is_one() -> None:
    judge = judge_of(FakeBackend(), model="alias")
    first = polled(judge)

    assert {one.asked_model for one in first.votes} == {"judge-2"}
    assert polled(judge, first.votes).fresh == ()


def test_judging_afresh_counts_no_vote_of_an_earlier_session() -> None:
    judge = judge_of(FakeBackend(), afresh=True)
    first = polled(judge, RECORDED)
    second = polled(judge, (*RECORDED, *first.fresh))

    assert [(one.judging, one.number) for one in first.fresh] == [(2, 1), (2, 2), (2, 3)]
    assert second == PollResult(first.fresh, ())


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [
        pytest.param(JudgeError("overloaded"), "judge call failed: overloaded", id="refused"),
        pytest.param(JudgeError(""), "judge call failed: ", id="without a word"),
        pytest.param(KeyError("x"), "judge call failed: KeyError: 'x'", id="a bug"),
        pytest.param(JudgeError("a\nb"), "judge call failed: a b", id="lines"),
    ],
)
def test_vote_that_fails_for_good_is_trouble_and_the_others_are_kept(
    answer: Answer, trouble: str
) -> None:
    backend = FakeBackend("PASS", answer, "PASS")
    together(backend, 3)

    result = polled(judge_of(backend))

    assert (result.votes, result.trouble, result.refused) == ((), trouble, False)
    assert [one.passed for one in result.fresh] == [True, True]


def test_set_that_cannot_be_completed_is_asked_for_no_further() -> None:
    backend = FakeBackend(JudgeError("overloaded"))
    together(backend, IN_FLIGHT)

    polled(judge_of(backend, votes=21))

    assert len(backend.requests) == IN_FLIGHT


def test_trouble_with_one_question_spares_the_others() -> None:
    judge = judge_of(FakeBackend("PASS", JudgeError("overloaded"), "PASS"), votes=1)

    first, second, third = (polled(judge) for _ in range(3))

    assert [result.trouble is None for result in (first, second, third)] == [True, False, True]


def test_incomplete_set_is_completed_when_it_is_asked_for_again() -> None:
    backend = FakeBackend("PASS", JudgeError("overloaded"), "PASS")
    together(backend, 3)
    first = polled(judge_of(backend))
    later = FakeBackend("FAIL")

    second = polled(judge_of(later), first.fresh)

    assert len(later.requests) == 1
    assert sorted([*first.fresh, *second.fresh], key=lambda one: one.number) == [*second.votes]
    assert second.trouble is None


def test_stopped_judge_asks_nothing_further() -> None:
    backend = FakeBackend()
    judge = judge_of(backend, votes=21)
    all_there = threading.Barrier(IN_FLIGHT, action=judge.stop)

    def stop(_: JudgeRequest) -> None:
        all_there.wait(WAIT_S)

    backend.before = stop
    result = polled(judge)
    after = polled(judge)

    assert (len(result.fresh), result.trouble) == (IN_FLIGHT, "the judge was stopped")
    assert (after.fresh, after.trouble, len(backend.requests)) == ((), result.trouble, IN_FLIGHT)


def test_closed_judge_closes_the_back_end_and_asks_no_more() -> None:
    backend = FakeBackend()
    judge = judge_of(backend)
    polled(judge)

    judge.close()

    assert backend.is_closed
    assert polled(judge).trouble == "the judge was stopped"


def test_judge_that_may_not_ask_says_why_and_still_reads_records() -> None:
    judge = judge_of(FakeBackend(), forbidden="nobody named it")

    assert polled(judge) == PollResult((), (), "nobody named it")
    assert polled(judge, RECORDED).votes == RECORDED


def test_missing_back_end_is_looked_for_once() -> None:
    looked = []

    def find() -> FakeBackend:
        looked.append(1)
        raise JudgeError("install it")

    judge = Judge(find, ledger=Ledger(), limiter=Limiter())

    assert [polled(judge).trouble, polled(judge).trouble] == ["install it", "install it"]
    assert len(looked) == 1
    assert judge.estimate_usd([(POLL, 1)]) is None
    with pytest.raises(JudgeError, match="install it"):
        judge.check()


def test_check_says_what_answers() -> None:
    assert judge_of(FakeBackend()).check() == "a fake"


@pytest.mark.parametrize(
    ("parts", "count", "expected"),
    [
        pytest.param(("x" * 400,), 3, 3 * (1 + 101 + 10) / 1e6, id="text"),
        pytest.param((Image("image/png", b"x"),), 1, (1 + 1600 + 10) / 1e6, id="image"),
        pytest.param(("x",), 0, 0.0, id="nothing"),
    ],
)
def test_estimate_counts_a_token_for_four_characters(
    parts: tuple[str | Image, ...], count: int, expected: float
) -> None:
    poll = Poll("g", "q", "", parts)

    assert judge_of(FakeBackend()).estimate_usd([(poll, count)]) == pytest.approx(expected)


def test_estimate_of_a_model_without_a_price_is_unknown() -> None:
    assert judge_of(FakeBackend(price_usd=None)).estimate_usd([(POLL, 1)]) is None


def test_votes_are_handed_out_with_their_question_as_soon_as_its_set_is_in() -> None:
    handed = []
    asked = [(RECORDED, POLL), ((), POLL._replace(question="r")), ((), POLL)]

    results = judge_of(FakeBackend()).poll(
        asked, on_votes=lambda position, votes: handed.append((position, votes))
    )

    assert handed == [(1, results[1].fresh), (2, results[2].fresh)]


def test_interrupted_judging_hands_out_what_has_come() -> None:
    backend, handed = FakeBackend(), []
    judge = judge_of(backend, votes=1)
    asked = [((), POLL._replace(question=str(number))) for number in range(3)]
    together(backend, 3)

    def hand_out(position: int, votes: tuple[Vote, ...]) -> None:
        handed.append((position, votes[0].question))
        if len(handed) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge.poll(asked, on_votes=hand_out)

    assert handed[:3] == [(0, "0"), (1, "1"), (1, "1")]
    assert polled(judge).trouble == "the judge was stopped"
