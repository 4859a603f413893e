"""The calls behind a vote: repeated, paid for, refused, and put off."""

from __future__ import annotations

import sys

import pytest

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.judges.base import JudgeReply
from pytest_plugin_eval.judges.polling import IN_FLIGHT, Judge, PollResult
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter
from tests.support.judges import Answer, FakeBackend, judge_of, no_backend, polled, together
from tests.support.records import vote

RECORDED = tuple(vote("q", number=number) for number in (1, 2, 3))


@pytest.mark.parametrize(
    ("answers", "passed", "unreadable", "cost_usd"),
    [
        pytest.param(["Hm.", "PASS"], True, False, 0.5, id="once more"),
        pytest.param(["Hm.", "FAIL"], False, False, 0.5, id="against"),
        pytest.param(["Hm.", "Hm!"], False, True, 0.5, id="never"),
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


@pytest.mark.parametrize(
    ("none", "cost_usd"),
    [
        pytest.param(None, 0.5, id="without text"),
        pytest.param("", 0.5, id="empty text"),
        pytest.param(" \n\t", 0.5, id="white space"),
        pytest.param(JudgeError("no JSON", garbled=True), None, id="garbled"),
    ],
)
def test_answer_that_is_none_is_asked_for_once_more(none: Answer, cost_usd: float | None) -> None:
    backend = FakeBackend(none, "PASS")

    (only,) = polled(judge_of(backend, votes=1)).votes

    assert (only.passed, only.cost_usd, len(backend.requests)) == (True, cost_usd, 2)


@pytest.mark.parametrize(
    ("answers", "trouble"),
    [
        pytest.param([None], "the judge answered without any text", id="without text"),
        pytest.param([""], "the judge answered without any text", id="empty text"),
        pytest.param([" \n\t"], "the judge answered without any text", id="white space"),
        pytest.param([JudgeError("no JSON", garbled=True)], "no JSON", id="garbled"),
        pytest.param([None, JudgeError("no JSON", garbled=True)], "no JSON", id="one, the other"),
        pytest.param([None, JudgeError("busy", slow_down_until=1e9)], "busy", id="one, busy"),
    ],
)
def test_answer_that_is_none_twice_is_trouble(answers: list[Answer], trouble: str) -> None:
    backend = FakeBackend(*answers)

    result = polled(judge_of(backend, votes=1))

    assert (result.votes, result.trouble) == ((), f"judge call failed: {trouble}")
    assert len(backend.requests) == 2


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (JudgeError("HTTP 404: no luck", status=404), "HTTP 404: no luck (asked for model 'm-1')"),
        (JudgeError("HTTP 404: model: m-1", status=404), "HTTP 404: model: m-1"),
        (JudgeError("HTTP 500: no luck", status=500), "HTTP 500: no luck"),
    ],
    ids=["not found", "named already", "another trouble"],
)
def test_model_that_was_not_found_is_named(error: JudgeError, told: str) -> None:
    result = polled(judge_of(FakeBackend(error), votes=1, model="m-1"))

    assert result.trouble == f"judge call failed: {told}"


def test_request_that_fails_for_good_is_not_repeated() -> None:
    backend = FakeBackend(JudgeError("bad request", status=400))

    assert polled(judge_of(backend, votes=1)).trouble == "judge call failed: bad request"
    assert len(backend.requests) == 1


def test_cost_of_a_vote_is_unknown_when_one_of_its_calls_is() -> None:
    free = JudgeReply(text="Hm.", model="m", cost_usd=None)

    (only,) = polled(judge_of(FakeBackend(free, "PASS"), votes=1)).votes

    assert only.cost_usd is None


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
        pytest.param([None], 0.5, id="without text, twice"),
        pytest.param(["Hm.", None], 0.75, id="both"),
        pytest.param([None, JudgeError("gone")], 0.25, id="unknown besides"),
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
