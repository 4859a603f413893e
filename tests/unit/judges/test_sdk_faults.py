"""The Messages API through the real package: refusals, pauses, lost and garbled answers."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Mapping

import pytest

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.judges.anthropic_sdk import AnthropicSdk
from pytest_plugin_eval.judges.base import JudgeRequest
from tests.support.script import TurnData, body, drop, error, turn
from tests.support.sdk import KEY, MakeJudge, StartApi, answering, question

RESET = {"anthropic-ratelimit-tokens-reset": "2099-01-01T00:00:00Z"}
IN_2099 = 4_070_908_800.0


def _failure(backend: AnthropicSdk, request: JudgeRequest | None = None) -> JudgeError:
    with pytest.raises(JudgeError) as caught:
        backend.ask(request or question())
    return caught.value


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 413, 500])
def test_refusal_has_its_status(status: int, scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(answering(error(status, "no luck", error_type="some_error")))

    failure = _failure(make_judge(api))

    assert (failure.status, failure.slow_down_until) == (status, None)
    assert str(failure) == f"HTTP {status}: no luck"


@pytest.mark.parametrize("status", [429, 503, 529])
@pytest.mark.parametrize(
    ("headers", "least_s", "most_s"),
    [({}, 9, 11), ({"retry-after": "40"}, 39, 41), ({"retry-after-ms": "3000"}, 2, 4)],
    ids=["no header", "seconds", "milliseconds"],
)
def test_busy_service_names_a_pause(
    status: int,
    headers: Mapping[str, str],
    least_s: float,
    most_s: float,
    scripted_api: StartApi,
    make_judge: MakeJudge,
) -> None:
    api = scripted_api(answering(error(status, error_type="some_error", headers=headers)))
    before = time.time()

    failure = _failure(make_judge(api))

    assert failure.status == status
    assert failure.slow_down_until is not None
    assert before + least_s < failure.slow_down_until < time.time() + most_s


def test_pause_is_taken_from_the_limits(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(answering(error(429, headers=RESET)))

    assert _failure(make_judge(api)).slow_down_until == IN_2099


def test_hours_are_not_slept(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(answering(error(429, headers={"retry-after": "7200"})))

    failure = _failure(make_judge(api, CLAUDE_CODE_MAX_RETRIES="5"))

    assert failure.slow_down_until is not None
    assert len(api.messages) == 1


def test_refused_key_is_one_request(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(answering(error(401, "invalid x-api-key")))

    failure = _failure(make_judge(api, CLAUDE_CODE_MAX_RETRIES="10"))

    assert (failure.status, len(api.messages)) == (401, 1)


@pytest.mark.parametrize(
    "fault",
    [error(529), error(500), drop(), drop(after_events=3)],
    ids=["529", "500", "drop", "half"],
)
def test_package_repeats_what_may_pass(
    fault: TurnData, scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    api = scripted_api(answering(fault, "PASS"))

    reply = make_judge(api, CLAUDE_CODE_MAX_RETRIES="1").ask(question())

    assert (reply.text, len(api.messages)) == ("PASS", 2)


@pytest.mark.parametrize(
    ("fault", "garbled", "told"),
    [
        (drop(), False, "."),
        (drop(after_events=3), False, "."),
        (body(""), True, "^the answer is no JSON: "),
        (body("<html>no</html>"), True, "^the answer is no JSON: "),
        (body('{"no": 1}'), True, "^the service answered with .*, expected a message$"),
        (body("[]"), True, r"^the service answered with .*, expected a message$"),
    ],
    ids=["drop", "half", "empty", "garbled", "no message", "list"],
)
def test_answer_that_is_none_fails(
    fault: TurnData, garbled: bool, told: str, scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    failure = _failure(make_judge(scripted_api(answering(fault))))

    assert (failure.status, failure.garbled) == (None, garbled)
    assert re.search(told, str(failure))


def test_slow_answer_fails_at_the_time_limit(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(answering(turn("PASS", delay_s=60)))

    failure = _failure(make_judge(api, API_TIMEOUT_MS="200"))

    assert str(failure) == "no answer within the time limit (API_TIMEOUT_MS)"


def test_secrets_stand_in_no_text(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(answering(error(401, f"bad key {KEY}\nagain")))
    backend = make_judge(api)

    failure = _failure(backend)

    assert str(failure) == "HTTP 401: bad key [***] again"
    assert KEY not in repr(backend) + backend.description


def test_closing_ends_a_call_in_flight(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(answering(turn("PASS", delay_s=600)))
    backend = make_judge(api)
    failures: list[JudgeError] = []
    thread = threading.Thread(target=lambda: failures.append(_failure(backend)))
    thread.start()
    api.wait_for_messages(1)

    backend.close()
    thread.join(60)

    assert [str(failure) for failure in failures] == ["the session was stopped"]
    assert str(_failure(backend)) == "the session was stopped"


@pytest.mark.parametrize("headers", [{"retry-after-ms": "1"}, {"retry-after": "0"}])
@pytest.mark.parametrize("status", [429, 503, 529])
def test_pause_is_told_before_the_package_repeats_the_request(
    status: int, headers: Mapping[str, str], scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    api = scripted_api(answering(error(status, headers=headers), "PASS"))
    told: list[tuple[float, int]] = []

    def slow_down(until: float | None) -> None:
        if until is not None:
            told.append((until, len(api.messages)))

    before = time.time()
    reply = make_judge(api, slow_down, CLAUDE_CODE_MAX_RETRIES="1").ask(question())

    [(until, requests)] = told
    assert (reply.text, requests, len(api.messages)) == ("PASS", 1, 2)
    assert before <= until <= time.time()


@pytest.mark.parametrize("fault", [error(400), error(500), "PASS"], ids=["400", "500", "an answer"])
def test_nothing_else_is_told_as_a_pause(
    fault: TurnData, scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    told: list[float | None] = []
    backend = make_judge(
        scripted_api(answering(fault, "PASS")), told.append, CLAUDE_CODE_MAX_RETRIES="1"
    )

    with contextlib.suppress(JudgeError):
        backend.ask(question())

    assert set(told) == {None}
