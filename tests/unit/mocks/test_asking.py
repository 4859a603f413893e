"""Questions of agent mocks, within the limits of the session."""

from __future__ import annotations

import time

import pytest

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.judges.base import JudgeRequest
from pytest_plugin_eval.mocks.asking import Asked, Asker, UnansweredError
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter
from tests.support.judges import FakeBackend


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
    ("answer", "text", "cost_usd"),
    [
        pytest.param(None, "the answer has no text", 0.25, id="no text"),
        pytest.param(JudgeError("no", status=529), "no", 0.0, id="refused"),
        pytest.param(JudgeError("no"), "no", None, id="lost"),
        pytest.param(ValueError("odd"), "ValueError: odd", None, id="a fault of the back end"),
    ],
)
def test_a_question_without_an_answer_tells_what_it_cost(
    answer: JudgeError | ValueError | None, text: str, cost_usd: float | None
) -> None:
    ledger = Ledger()

    with pytest.raises(UnansweredError) as caught:
        asker_of(FakeBackend(answer), ledger=ledger)("s", "u")

    assert (str(caught.value), caught.value.cost_usd) == (text, cost_usd)
    assert (ledger.spent_usd, ledger.unknown) == (cost_usd or 0.0, cost_usd is None)


def test_a_pause_that_the_service_asks_for_holds_everybody_back() -> None:
    limiter = Limiter()
    error = JudgeError("busy", status=429, slow_down_until=time.time() + 5000)
    asker = asker_of(FakeBackend(error), limiter=limiter)

    with pytest.raises(JudgeError, match="busy"):
        asker("s", "u")

    assert limiter.pause_s() > 1000
    with pytest.raises(JudgeError) as caught:
        asker("s", "u")
    assert "busy" not in str(caught.value)


def test_at_the_ceiling_nothing_is_asked() -> None:
    backend, ledger = FakeBackend("a"), Ledger(1.0)
    ledger.add(1.0)

    with pytest.raises(JudgeError, match="the cost ceiling is reached"):
        asker_of(backend, ledger=ledger)("s", "u")

    assert backend.requests == []


def test_under_a_ceiling_a_model_without_a_price_is_not_asked() -> None:
    backend = FakeBackend("a", price_usd=None)

    with pytest.raises(JudgeError, match="the price of model 'judge-1' is unknown"):
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
