"""Who is asked for a quality score, what it costs, and when asking ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

import pytest

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.judges.base import JudgeReply, JudgeRequest
from pytest_plugin_eval.quality.asking import Asking, Outcome, Question, Said, Tier, Unsaid
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter
from tests.support.judges import FakeBackend
from tests.support.skills import WAIT_S, asking_of

GATEWAY = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}
OWN = {"ANTHROPIC_BASE_URL": "https://api.anthropic.com"}


def _question(tier: Tier = Tier.SMALL, text: str = "text") -> Question:
    return Question(tier=tier, system="system", text=text)


def test_reply_has_its_tokens_and_cost() -> None:
    reply = JudgeReply(text="Hm.", model="m", input_tokens=7, output_tokens=3, cost_usd=0.5)

    said = asking_of(FakeBackend(reply)).ask(_question())

    assert said == Said("Hm.", "m", 10, 0.5)


@pytest.mark.parametrize("text", [None, "", " \n"], ids=["none", "empty", "white space"])
def test_reply_without_text_counts_and_is_not_asked_for_again(text: str | None) -> None:
    backend = FakeBackend(text)

    said = asking_of(backend).ask(_question())

    assert said == Said(text or "", "judge-1-served", 0, 0.25)
    assert len(backend.requests) == 1


def test_request_is_the_question() -> None:
    backend = FakeBackend("Hm.")

    asking_of(backend).ask(Question(tier=Tier.SMALL, system="s", text="t", max_tokens=5))

    (request,) = backend.requests
    assert request == JudgeRequest(model="judge-1", system="s", parts=("t",), max_tokens=5)


@pytest.mark.parametrize(
    ("env", "judge_model", "model", "asked"),
    [
        pytest.param({}, None, None, ["judge-1", "sonnet", "opus"], id="defaults"),
        pytest.param({}, "j", None, ["j", "j", "opus"], id="judge model"),
        pytest.param({}, None, "m", ["judge-1", "sonnet", "m"], id="model"),
        pytest.param({}, "alias", "m", ["judge-2", "judge-2", "m"], id="both, one an alias"),
        pytest.param(
            {"ANTHROPIC_MODEL": "a"}, None, None, ["judge-1", "sonnet", "a"], id="agent's model"
        ),
        pytest.param({"ANTHROPIC_MODEL": "a"}, None, "m", ["judge-1", "sonnet", "m"], id="chosen"),
        pytest.param(GATEWAY, None, None, ["judge-1", "opus", "opus"], id="gateway"),
        pytest.param(
            {**GATEWAY, "ANTHROPIC_MODEL": "a"}, None, None, ["judge-1", "a", "a"], id="its model"
        ),
        pytest.param(
            {**GATEWAY, "ANTHROPIC_DEFAULT_SONNET_MODEL": "s", "ANTHROPIC_MODEL": "a"},
            None,
            None,
            ["judge-1", "sonnet", "a"],
            id="gateway with a mapping",
        ),
        pytest.param(
            {**OWN, "ANTHROPIC_MODEL": "a"}, None, None, ["judge-1", "sonnet", "a"], id="own host"
        ),
        pytest.param(
            {**GATEWAY, "CLAUDE_CODE_USE_BEDROCK": "1"},
            None,
            None,
            ["judge-1", "sonnet", "opus"],
            id="cloud",
        ),
    ],
)
def test_each_tier_has_its_model(
    env: Mapping[str, str], judge_model: str | None, model: str | None, asked: list[str]
) -> None:
    asking = asking_of(FakeBackend("Hm."), env=env, judge_model=judge_model, model=model)

    assert [asking.model(tier) for tier in Tier] == asked


def test_back_end_is_looked_for_once_by_many_threads() -> None:
    found: list[FakeBackend] = []

    def find() -> FakeBackend:
        found.append(FakeBackend("Hm."))
        return found[-1]

    asking = Asking(find, ledger=Ledger(), limiter=Limiter(), env={})

    outcomes = asking.ask_all([_question()] * 20, concurrency=8)

    assert len(found) == 1
    assert outcomes == [Said("Hm.", "judge-1-served", 0, 0.25)] * 20


def test_missing_back_end_is_told_and_not_looked_for_again() -> None:
    looked: list[None] = []

    def find() -> FakeBackend:
        looked.append(None)
        raise JudgeError("no judge: install\none")

    asking = Asking(find, ledger=Ledger(), limiter=Limiter(), env={})

    outcomes = [asking.ask(_question()), asking.ask(_question())]

    assert outcomes == [Unsaid("no judge: install one", is_final=True)] * 2
    assert len(looked) == 1
    assert asking.estimate_usd([_question()]) is None


def test_outcomes_come_in_the_order_of_the_questions() -> None:
    backend = FakeBackend("Hm.")
    last = threading.Event()

    def hold(request: JudgeRequest) -> None:
        if request.parts == ("0",):
            assert last.wait(WAIT_S)
        if request.parts == ("3",):
            last.set()

    backend.before = hold
    told: list[tuple[int, Outcome]] = []
    questions = [_question(text=str(number)) for number in range(4)]

    outcomes = asking_of(backend).ask_all(
        questions, concurrency=4, on_outcome=lambda *one: told.append(one)
    )

    assert len(outcomes) == 4
    assert told == list(enumerate(outcomes))


def test_no_questions_look_for_no_back_end() -> None:
    def find() -> FakeBackend:
        raise AssertionError("nobody may look for a back end")

    asking = Asking(find, ledger=Ledger(), limiter=Limiter(), env={})

    assert asking.ask_all([], concurrency=4) == []
    asking.close()


def test_ledger_is_charged_and_its_ceiling_holds() -> None:
    backend = FakeBackend("Hm.", price_usd=0.25)
    ledger = Ledger(0.5)

    outcomes = asking_of(backend, ledger=ledger).ask_all([_question()] * 4, concurrency=1)

    said = Said("Hm.", "judge-1-served", 0, 0.25)
    refused = Unsaid("cost ceiling $0.5 reached", is_final=True)
    assert outcomes == [said, said, refused, refused]
    assert ledger.spent_usd == 0.5


def test_unpriceable_model_is_refused_under_a_ceiling() -> None:
    backend = FakeBackend("Hm.", price_usd=None)
    asking = asking_of(backend, ceiling_usd=1.0)
    told = "the price of judge model 'judge-1' is unknown, and a cost ceiling is set"

    outcome = asking.ask(_question())

    assert outcome == Unsaid(told)
    assert backend.requests == []
    with pytest.raises(JudgeError, match=told):
        asking.check([Tier.SMALL])


def test_pause_of_hours_is_the_end() -> None:
    later = JudgeError("busy", status=429, slow_down_until=time.time() + 7200)
    backend = FakeBackend(later)

    outcomes = asking_of(backend).ask_all([_question()] * 2, concurrency=1)

    assert [isinstance(one, Unsaid) and one.is_final for one in outcomes] == [True, True]
    assert len(backend.requests) == 1


def test_check_tells_what_answers() -> None:
    assert asking_of(FakeBackend("Hm.", price_usd=None)).check(list(Tier)) == "a fake"


def test_refused_credential_stops_the_rest() -> None:
    backend = FakeBackend(JudgeError("invalid\nkey", status=401), "Hm.")
    asking = asking_of(backend)
    told = "the service refused the credential: invalid key"

    outcomes = asking.ask_all([_question()] * 3, concurrency=1)

    assert outcomes == [Unsaid(told, 0.0, is_final=True)] * 3
    assert len(backend.requests) == 1
    assert asking.refused_credential == told


@pytest.mark.parametrize("status", [401, 403])
def test_credential_that_is_revoked_meanwhile_is_told_and_no_failure(status: int) -> None:
    revoked = JudgeError("re\nvoked", status=status)
    asking = asking_of(FakeBackend("Hm.", revoked, "Hm."))

    outcomes = asking.ask_all([_question()] * 3, concurrency=1)

    said = Said("Hm.", "judge-1-served", 0, 0.25)
    told = "the service refused the credential: re voked"
    assert outcomes == [said, Unsaid(told, 0.0), said]
    assert asking.refused_credential is None


@pytest.mark.parametrize(
    ("failure", "cost_usd", "has_failed"),
    [
        pytest.param(JudgeError("no luck", status=500), 0.0, True, id="refused request is free"),
        pytest.param(JudgeError("no luck"), None, True, id="lost one may have cost something"),
    ],
)
def test_failure_is_told(failure: JudgeError, cost_usd: float | None, has_failed: bool) -> None:
    outcome = asking_of(FakeBackend(failure)).ask(_question())

    assert outcome == Unsaid("no luck", cost_usd, has_failed=has_failed)


def test_estimate_is_of_all_questions() -> None:
    asking = asking_of(FakeBackend("Hm."))
    one = Question(tier=Tier.SMALL, system="x" * 4, text="x" * 36, reply_tokens=9)

    assert asking.estimate_usd([one, one]) == pytest.approx(2 * (11 + 9) / 1e6)


def test_estimate_without_a_price_is_unknown() -> None:
    assert asking_of(FakeBackend("Hm.", price_usd=None)).estimate_usd([_question()]) is None


def test_stopped_asking_asks_nothing() -> None:
    backend = FakeBackend("Hm.")
    asking = asking_of(backend)
    asking.stop()

    outcome = asking.ask(_question())

    assert outcome == Unsaid("the judge was stopped", is_final=True)
    assert backend.requests == []


def test_closed_asking_has_closed_its_back_end_and_finds_no_other() -> None:
    backend = FakeBackend("Hm.")
    asking = asking_of(backend)
    asking.check()

    asking.close()
    asking.close()

    assert backend.is_closed
    with pytest.raises(JudgeError, match="stopped"):
        asking.check()


def test_interruption_ends_calls_in_flight_and_goes_on() -> None:
    in_flight = threading.Event()
    closed = threading.Event()

    class Backend(FakeBackend):
        def ask(self, request: JudgeRequest) -> JudgeReply:
            if request.parts == ("first",):
                return super().ask(request)
            in_flight.set()
            assert closed.wait(WAIT_S)
            raise JudgeError("the session was stopped")

        def close(self) -> None:
            super().close()
            closed.set()

    def interrupt(*_: object) -> None:
        assert in_flight.wait(WAIT_S)
        raise KeyboardInterrupt

    backend = Backend("Hm.")
    questions = [_question(text="first"), *[_question(text="other")] * 50]

    with pytest.raises(KeyboardInterrupt):
        asking_of(backend).ask_all(questions, concurrency=2, on_outcome=interrupt)

    assert backend.is_closed
    assert len(backend.requests) == 1
