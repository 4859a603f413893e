"""Votes: asked for together, taken from records, refused, lost and completed."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.judges.base import Image, JudgeReply, JudgeRequest
from pytest_plugin_eval.judges.polling import IN_FLIGHT, Judge, Poll, PollResult
from pytest_plugin_eval.records.model import Vote
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter
from tests.support.judges import Answer, FakeBackend, judge_of
from tests.support.records import vote

POLL = Poll("g", "q", "system", ("text",))
RECORDED = tuple(vote("q", number=number) for number in (1, 2, 3))
WAIT_S = 30.0


def polled(judge: Judge, recorded: Sequence[Vote] = (), poll: Poll = POLL) -> PollResult:
    (result,) = judge.poll([(recorded, poll)])
    return result


def no_backend() -> FakeBackend:
    raise AssertionError("nobody may look for a back end")


def together(backend: FakeBackend, count: int) -> None:
    """Have the back end answer when *count* calls are in flight."""
    all_there = threading.Barrier(count)

    def wait(_: JudgeRequest) -> None:
        all_there.wait(WAIT_S)

    backend.before = wait


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
    ("answers", "passed", "unreadable", "cost_usd"),
    [
        pytest.param(["Hm.", "PASS"], True, False, 0.5, id="once more"),
        pytest.param(["Hm.", "FAIL"], False, False, 0.5, id="against"),
        pytest.param(["Hm.", "Hm!"], False, True, 0.5, id="never"),
        pytest.param(["", ""], False, True, 0.5, id="empty"),
        pytest.param(["PASS"], True, False, 0.25, id="at once"),
    ],
)
def test_reply_without_a_verdict_is_asked_for_once_more(
    answers: list[Answer], passed: bool, unreadable: bool, cost_usd: float
) -> None:
    backend = FakeBackend(*answers)

    (only,) = polled(judge_of(backend, votes=1)).votes

    assert (only.passed, only.unreadable, only.cost_usd) == (passed, unreadable, cost_usd)
    assert len(backend.requests) == len(answers)


def test_cost_of_a_vote_is_unknown_when_one_of_its_calls_is() -> None:
    free = JudgeReply(text="Hm.", model="m", cost_usd=None)

    (only,) = polled(judge_of(FakeBackend(free, "PASS"), votes=1)).votes

    assert only.cost_usd is None


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [
        pytest.param(None, "judge call failed: the judge answered without any text", id="no text"),
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


@pytest.mark.parametrize(
    ("error", "unknown"),
    [
        pytest.param(JudgeError("overloaded", status=529), 0, id="an answer costs nothing"),
        pytest.param(JudgeError("connection lost"), 1, id="without one nobody knows"),
        pytest.param(OSError("gone"), 1, id="a bug"),
    ],
)
def test_every_call_is_in_the_ledger(error: Exception, unknown: int) -> None:
    ledger = Ledger()

    polled(judge_of(FakeBackend("Hm.", "PASS", error), votes=1, ledger=ledger))
    polled(judge_of(FakeBackend(error), votes=1, ledger=ledger))

    assert (ledger.spent_usd, ledger.unknown, ledger.unfinished) == (0.5, unknown, 0)


@pytest.mark.parametrize(
    ("answers", "lost_usd"),
    [
        pytest.param(["Hm.", JudgeError("overloaded", status=529)], 0.25, id="unreadable"),
        pytest.param([None], 0.25, id="without text"),
        pytest.param(["Hm.", None], 0.5, id="both"),
        pytest.param([JudgeError("overloaded", status=529)], 0.0, id="refused"),
        pytest.param([JudgeReply(text=None, model="m", cost_usd=None)], 0.0, id="unknown"),
        pytest.param(["Hm.", "PASS"], 0.0, id="made a vote"),
    ],
)
def test_what_was_paid_for_replies_that_made_no_vote_is_told(
    answers: list[Answer], lost_usd: float
) -> None:
    assert polled(judge_of(FakeBackend(*answers), votes=1)).lost_usd == lost_usd


def test_ceiling_stops_votes_in_the_middle_of_a_set() -> None:
    backend = FakeBackend()
    together(backend, IN_FLIGHT)

    result = polled(judge_of(backend, votes=21, ceiling_usd=0.25))

    assert (result.votes, len(result.fresh), len(backend.requests)) == ((), 8, 8)
    assert result.refused
    assert result.trouble is not None
    assert result.trouble.startswith("cost ceiling $0.25 reached")


def test_ceiling_is_looked_at_before_a_reply_is_asked_for_once_more() -> None:
    backend = FakeBackend("Hm.")

    result = polled(judge_of(backend, votes=1, ceiling_usd=0.25))

    assert (result.fresh, result.refused, len(backend.requests)) == ((), True, 1)
    assert result.lost_usd == 0.25


def test_ceiling_of_nothing_looks_for_no_back_end() -> None:
    judge = Judge(no_backend, ledger=Ledger(0.0), limiter=Limiter())

    assert polled(judge, RECORDED).votes == RECORDED
    assert polled(judge) == PollResult((), (), "cost ceiling $0 reached", True)


def test_model_without_a_price_is_refused_under_a_ceiling_before_it_is_asked() -> None:
    backend = FakeBackend(price_usd=None)

    result = polled(judge_of(backend, model="x", ceiling_usd=1.0))

    assert (result.fresh, result.refused, backend.requests) == ((), True, [])
    assert result.trouble == "the price of judge model 'x' is unknown, and a cost ceiling is set"
    assert polled(judge_of(backend, model="x")).trouble is None


@pytest.mark.parametrize(
    ("is_installed", "cure"),
    [(True, "choose another one with --eval-judge-model"), (False, "pytest-plugin-eval[judge]")],
)
def test_session_without_a_price_is_told_what_would_bring_one(
    is_installed: bool, cure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_installed:
        monkeypatch.setitem(sys.modules, "genai_prices", None)
    judge = judge_of(FakeBackend(price_usd=None), ceiling_usd=1.0)

    with pytest.raises(JudgeError, match=r"^the price of judge model 'judge-1' is unknown") as told:
        judge.check_price()

    assert cure in str(told.value)


def test_refusal_outweighs_what_else_went_wrong() -> None:
    backend = FakeBackend(JudgeError("overloaded"), "Hm.")
    together(backend, 2)

    result = polled(judge_of(backend, votes=2, ceiling_usd=0.25))

    assert result.refused


class Clock:
    """Time that passes while somebody waits."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        self.now += 0.5
        return self.now


def test_vote_waits_as_long_as_the_service_asks_and_is_asked_for_once_more() -> None:
    clock = Clock()
    backend = FakeBackend(JudgeError("slow down", status=429, slow_down_until=1002.0), "PASS")

    result = polled(judge_of(backend, votes=1, limiter=Limiter(now=clock)))

    assert [one.passed for one in result.votes] == [True]
    assert clock.now >= 1002.0


def test_service_that_asks_for_a_pause_again_and_again_is_left_alone() -> None:
    backend = FakeBackend(*(JudgeError("slow down", slow_down_until=at) for at in (1002, 1008)))

    result = polled(judge_of(backend, votes=1, limiter=Limiter(now=Clock())))

    assert result.trouble == "judge call failed: slow down"
    assert len(backend.requests) == 2


def test_nothing_is_asked_when_the_service_is_away_for_long() -> None:
    backend, limiter = FakeBackend(), Limiter(now=lambda: 0.0)
    limiter.slow_down(3600.0)

    result = polled(judge_of(backend, limiter=limiter))

    assert (backend.requests, result.refused) == ([], False)
    assert result.trouble is not None
    assert result.trouble.startswith("the service takes requests again at 1970-01-01 01:00 UTC")


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
