"""Questions of agent mocks, within the limits of the session."""

from __future__ import annotations

import time

import pytest

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.judges.base import JudgeRequest
from pytest_plugin_eval.mocks.asking import Asked, Asker, UnansweredError
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter
from tests.support.judges import Answer, FakeBackend


def asker_of(
    backend: FakeBackend,
    *,
    model: str | None = None,
    ledger: Ledger | None = None,
    limiter: Limiter | None = None,
) -> Asker:
    return Asker(
        lambda: backend,
        model=model,
        ledger=ledger or Ledger(),
        limiter=limiter or Limiter(),
    )


@pytest.mark.parametrize(("model", "asked"), [(None, "judge-1"), ("alias", "judge-2")])
def test_a_question_goes_to_the_resolved_model(model: str | None, asked: str) -> None:
    backend, ledger = FakeBackend("answer"), Ledger()

    answer = asker_of(backend, model=model, ledger=ledger)("system", "user")

    assert answer == Asked("answer", 0.25)
    assert backend.requests == [
        JudgeRequest(model=asked, system="system", parts=("user",), max_tokens=8192)
    ]
    assert ledger.spent_usd == 0.25


def test_the_back_end_is_looked_for_once_and_only_when_asked() -> None:
    found: list[FakeBackend] = []

    def find() -> FakeBackend:
        found.append(FakeBackend("a"))
        return found[-1]

    asker = Asker(find, model=None, ledger=Ledger(), limiter=Limiter())
    before = len(found)
    asker("s", "1")
    asker("s", "2")
    asker.close()

    assert (before, len(found)) == (0, 1)
    assert found[0].is_closed


@pytest.mark.parametrize(
    ("answers", "text", "costs_usd"),
    [
        pytest.param((None,), "the judge answered without any text", (0.25, 0.25), id="no text"),
        pytest.param((" \n",), "the judge answered without any text", (0.25, 0.25), id="blank"),
        pytest.param((JudgeError("no", status=529),), "no", (0.0,), id="refused"),
        pytest.param((JudgeError("no"),), "no", (None,), id="lost"),
        pytest.param((None, JudgeError("no")), "no", (0.25, None), id="lost the second time"),
        pytest.param((ValueError("odd"),), "ValueError: odd", (None,), id="fault of the back end"),
    ],
)
def test_a_question_without_an_answer_tells_what_it_cost(
    answers: tuple[Answer, ...], text: str, costs_usd: tuple[float | None, ...]
) -> None:
    ledger = Ledger()

    with pytest.raises(UnansweredError) as caught:
        asker_of(FakeBackend(*answers), ledger=ledger)("s", "u")

    error = caught.value
    assert (str(error), error.costs_usd, error.refused) == (text, costs_usd, False)
    known = [cost for cost in costs_usd if cost is not None]
    assert (ledger.spent_usd, ledger.unknown) == (sum(known), len(costs_usd) - len(known))


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        pytest.param(None, Asked("b", 0.5), id="no text"),
        pytest.param("", Asked("b", 0.5), id="empty"),
        pytest.param(JudgeError("odd", garbled=True), Asked("b", None, 0.25), id="garbled"),
        pytest.param(
            JudgeError("busy", status=429, slow_down_until=1.0), Asked("b", 0.25), id="pause"
        ),
    ],
)
def test_what_may_go_well_the_second_time_is_asked_once_more(
    first: Answer, expected: Asked
) -> None:
    backend = FakeBackend(first, "b")

    answer = asker_of(backend)("s", "u")

    assert (answer, len(backend.requests)) == (expected, 2)


@pytest.mark.parametrize("text", ["no verdict in here", "PASS"])
def test_an_answer_need_not_be_a_vote(text: str) -> None:
    backend = FakeBackend(text)

    assert asker_of(backend)("s", "u").text == text
    assert len(backend.requests) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_a_credential_that_is_refused_before_any_answer_is_told(status: int) -> None:
    refusal = JudgeError("invalid key", status=status)
    at_once, later = asker_of(FakeBackend(refusal)), asker_of(FakeBackend("a", refusal))
    later("s", "u")

    for asker in (at_once, later):
        with pytest.raises(UnansweredError):
            asker("s", "u")

    assert (at_once.refused_credential, later.refused_credential) == ("invalid key", None)


def test_a_pause_that_the_service_asks_for_holds_everybody_back() -> None:
    limiter = Limiter()
    error = JudgeError("busy", status=429, slow_down_until=time.time() + 5000)
    backend = FakeBackend(error)
    asker = asker_of(backend, limiter=limiter)

    with pytest.raises(UnansweredError, match="the service takes requests again") as caught:
        asker("s", "u")

    assert limiter.pause_s() > 1000
    assert (caught.value.costs_usd, len(backend.requests)) == ((0.0,), 1)


def test_at_the_ceiling_nothing_is_asked() -> None:
    backend, ledger = FakeBackend("a"), Ledger(1.0)
    ledger.add(1.0)

    with pytest.raises(UnansweredError, match=r"cost ceiling \$1 reached") as caught:
        asker_of(backend, ledger=ledger)("s", "u")

    assert (caught.value.refused, caught.value.costs_usd) == (True, ())
    assert backend.requests == []


def test_under_a_ceiling_a_model_without_a_price_is_not_asked() -> None:
    backend = FakeBackend("a", price_usd=None)

    with pytest.raises(JudgeError, match="the price of judge model 'judge-1' is unknown"):
        asker_of(backend, ledger=Ledger(1.0))("s", "u")

    assert backend.requests == []
    assert asker_of(backend)("s", "u") == Asked("a", None)


def test_a_model_without_a_price_is_found_before_any_run_under_a_ceiling() -> None:
    backend = FakeBackend("a", price_usd=None)

    with pytest.raises(JudgeError, match=r"'judge-2' is unknown.*--eval-judge-model"):
        asker_of(backend, model="alias", ledger=Ledger(1.0)).check()

    assert asker_of(backend).check() == "a fake"


def test_after_a_stop_nothing_is_asked() -> None:
    backend = FakeBackend("a")
    asker = asker_of(backend)
    asker.stop()

    with pytest.raises(JudgeError, match="stopped"):
        asker("s", "u")

    assert backend.requests == []
