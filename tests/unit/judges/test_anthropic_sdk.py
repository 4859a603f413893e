"""The Messages API through the real package, against the scripted API."""

from __future__ import annotations

import base64
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import anthropic
import pytest

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.judges.anthropic_sdk import AnthropicSdk, obstacle
from pytest_plugin_eval.judges.base import Image, JudgeReply, JudgeRequest
from tests.support.script import (
    TurnData,
    body,
    drop,
    error,
    judge,
    rule,
    script,
    text,
    thinking,
    tool,
    turn,
)
from tests.support.scripted_api import ScriptedApi

KEY = "sk-ant-scripted-0000"
MODEL = "claude-haiku-4-5"
PICTURE = Image("image/png", bytes(range(256)) * 40)
RESET = {"anthropic-ratelimit-tokens-reset": "2099-01-01T00:00:00Z"}
IN_2099 = 4_070_908_800.0

MakeJudge = Callable[..., AnthropicSdk]
StartApi = Callable[[object], ScriptedApi]


@pytest.fixture
def make_judge() -> Iterator[MakeJudge]:
    """Return a function that makes a judge for an API, without repetitions by default."""
    with ExitStack() as stack:

        def make(api: ScriptedApi, **env: str) -> AnthropicSdk:
            backend = AnthropicSdk(
                {
                    "ANTHROPIC_BASE_URL": api.url,
                    "ANTHROPIC_API_KEY": KEY,
                    "CLAUDE_CODE_MAX_RETRIES": "0",
                    **env,
                },
                secrets=(KEY,),
            )
            stack.callback(backend.close)
            return backend

        yield make


def _request(*parts: str | Image, **options: Any) -> JudgeRequest:
    return JudgeRequest(model=MODEL, system="Be strict.", parts=parts or ("Good?",), **options)


def _answering(*turns: TurnData) -> dict[str, object]:
    return script(rule(kind="bare", runs=[[turn] for turn in turns]))


def _failure(backend: AnthropicSdk, request: JudgeRequest | None = None) -> JudgeError:
    with pytest.raises(JudgeError) as caught:
        backend.ask(request or _request())
    return caught.value


def test_request_is_one_message_without_tools(
    scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    api = scripted_api(script(judge("PASS")))

    make_judge(api).ask(_request("Criterion", "Output", max_tokens=9))

    [request] = api.messages
    assert request.body == {
        "model": MODEL,
        "system": "Be strict.",
        "max_tokens": 9,
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Criterion"},
                    {"type": "text", "text": "Output"},
                ],
            }
        ],
    }


def test_reply_tells_model_tokens_and_price(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    usage = {"input": 1000, "output": 100, "cache_read": 1000, "cache_write": 1000}
    api = scripted_api(_answering(turn("PASS", usage=usage)))

    reply = make_judge(api).ask(_request())

    assert reply.cost_usd == pytest.approx(0.001 + 0.0005 + 0.0001 + 0.00125)
    assert replace(reply, cost_usd=None) == JudgeReply(
        text="PASS", model=MODEL, input_tokens=3000, output_tokens=100
    )


def test_model_is_the_one_that_was_served(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    answer = (
        '{"type": "message", "model": "claude-opus-5-5", "content": [],'
        ' "usage": {"input_tokens": 1000, "output_tokens": 100}}'
    )
    api = scripted_api(_answering(body(answer)))

    reply = make_judge(api).ask(_request())

    assert reply.model == "claude-opus-5-5"
    assert reply.cost_usd == pytest.approx(0.006)


def test_price_of_an_unknown_model_is_unknown(
    scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    backend = make_judge(scripted_api(script(judge("PASS"))))

    reply = backend.ask(JudgeRequest(model="my-model", system="", parts=("Good?",)))

    assert reply.cost_usd is None
    assert backend.estimate_usd("my-model", input_tokens=1, output_tokens=1) is None
    assert backend.estimate_usd(MODEL, input_tokens=1000, output_tokens=0) == pytest.approx(0.001)


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-4-5"])
def test_model_that_retires_can_judge_in_a_strict_session(
    model: str, scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    backend = make_judge(scripted_api(script(judge("PASS"))))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reply = backend.ask(JudgeRequest(model=model, system="", parts=("?",)))

    assert reply.text == "PASS"


def test_picture_arrives_intact(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(script(judge("PASS")))

    make_judge(api).ask(_request("Look:", PICTURE, "One word."))

    messages: Any = api.messages[0].body["messages"]
    before, picture, after = messages[0]["content"]
    assert (before["text"], after["text"]) == ("Look:", "One word.")
    assert picture["source"]["media_type"] == "image/png"
    assert base64.b64decode(picture["source"]["data"]) == PICTURE.data


def test_text_that_is_no_unicode_can_be_judged(
    scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    api = scripted_api(script(judge("PASS")))

    reply = make_judge(api).ask(_request("a\ud800b\x00c"))

    messages: Any = api.messages[0].body["messages"]
    assert reply.text == "PASS"
    assert messages[0]["content"][0]["text"] == "a\ufffdb\x00c"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (turn("PASS"), "PASS"),
        (turn("PASS", "FAIL"), "PASS\nFAIL"),
        (turn(thinking("hm"), "PASS"), "PASS"),
        (turn(text("")), ""),
        (turn(), None),
        (turn(tool("Bash", command="ls")), None),
        (turn(thinking("hm")), None),
    ],
    ids=["text", "two texts", "thoughts", "empty text", "nothing", "tool call", "thoughts alone"],
)
def test_texts_are_taken_together(
    answer: TurnData, expected: str | None, scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    backend = make_judge(scripted_api(_answering(answer)))

    assert backend.ask(_request()).text == expected


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 413, 500])
def test_refusal_has_its_status(status: int, scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(_answering(error(status, "no luck", error_type="some_error")))

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
    api = scripted_api(_answering(error(status, error_type="some_error", headers=headers)))
    before = time.time()

    failure = _failure(make_judge(api))

    assert failure.status == status
    assert failure.slow_down_until is not None
    assert before + least_s < failure.slow_down_until < time.time() + most_s


def test_pause_is_taken_from_the_limits(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(_answering(error(429, headers=RESET)))

    assert _failure(make_judge(api)).slow_down_until == IN_2099


def test_hours_are_not_slept(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(_answering(error(429, headers={"retry-after": "7200"})))

    failure = _failure(make_judge(api, CLAUDE_CODE_MAX_RETRIES="5"))

    assert failure.slow_down_until is not None
    assert len(api.messages) == 1


def test_refused_key_is_one_request(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(_answering(error(401, "invalid x-api-key")))

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
    api = scripted_api(_answering(fault, "PASS"))

    reply = make_judge(api, CLAUDE_CODE_MAX_RETRIES="1").ask(_request())

    assert (reply.text, len(api.messages)) == ("PASS", 2)


@pytest.mark.parametrize(
    ("fault", "garbled"),
    [
        (drop(), False),
        (drop(after_events=3), False),
        (body(""), True),
        (body("<html>no</html>"), True),
        (body('{"no": 1}'), True),
        (body("[]"), True),
    ],
    ids=["drop", "half", "empty", "garbled", "no message", "list"],
)
def test_answer_that_is_none_fails(
    fault: TurnData, garbled: bool, scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    failure = _failure(make_judge(scripted_api(_answering(fault))))

    assert (failure.status, failure.garbled) == (None, garbled)
    assert str(failure)


def test_slow_answer_fails_at_the_time_limit(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(_answering(turn("PASS", delay_s=60)))

    failure = _failure(make_judge(api, API_TIMEOUT_MS="200"))

    assert str(failure) == "no answer within the time limit (API_TIMEOUT_MS)"


def test_secrets_stand_in_no_text(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(_answering(error(401, f"bad key {KEY}\nagain")))
    backend = make_judge(api)

    failure = _failure(backend)

    assert str(failure) == "HTTP 401: bad key [***] again"
    assert KEY not in repr(backend) + backend.description


def test_key_signs_in(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(script(judge("PASS")))

    make_judge(api).ask(_request())

    # The package has sent keys in either header.
    headers = api.messages[0].headers
    assert KEY in (headers.get("x-api-key"), headers.get("authorization", "").split(" ")[-1])


@pytest.mark.parametrize("key", ["", KEY], ids=["alone", "beside a key"])
def test_token_signs_in_as_with_the_agent(
    key: str, scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    api = scripted_api(script(judge("PASS")))

    make_judge(api, ANTHROPIC_API_KEY=key, ANTHROPIC_AUTH_TOKEN="tok").ask(_request())

    headers = api.messages[0].headers
    assert headers["authorization"] == "Bearer tok"
    assert "x-api-key" not in headers


def test_many_threads_ask_at_once(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(_answering(turn("PASS", delay_s=0.05)))
    backend = make_judge(api)
    replies: list[str | None] = []
    threads = [
        threading.Thread(target=lambda: replies.append(backend.ask(_request()).text))
        for _ in range(8)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert replies == ["PASS"] * 8


def test_closing_ends_a_call_in_flight(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(_answering(turn("PASS", delay_s=600)))
    backend = make_judge(api)
    failures: list[JudgeError] = []
    thread = threading.Thread(target=lambda: failures.append(_failure(backend)))
    thread.start()
    api.wait_for_messages(1)

    backend.close()
    thread.join(60)

    assert [str(failure) for failure in failures] == ["the session was stopped"]
    assert str(_failure(backend)) == "the session was stopped"


BEDROCK = {
    "CLAUDE_CODE_USE_BEDROCK": "1",
    "AWS_REGION": "us-east-1",
    "AWS_BEARER_TOKEN_BEDROCK": "bedrock-token",
}


def test_bedrock_is_asked_by_its_own_client(
    scripted_api: StartApi, make_judge: MakeJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The package takes this one from the process's own environment.
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-token")
    usage = {"input": 1000, "output": 100}
    api = scripted_api(_answering(turn("PASS", usage=usage)))
    backend = make_judge(api, **BEDROCK, ANTHROPIC_BEDROCK_BASE_URL=api.url)
    model = "us.anthropic.claude-haiku-4-5-20251001-v1:0"

    reply = backend.ask(JudgeRequest(model=model, system="", parts=("Good?",)))

    [request] = api.messages
    assert request.path == f"/model/{model}/invoke"
    assert request.headers["authorization"] == "Bearer bedrock-token"
    assert reply.text == "PASS"
    assert reply.cost_usd == pytest.approx(0.00165)
    assert backend.description == "Amazon Bedrock by the anthropic package"


def test_vertex_has_its_own_client(make_judge: MakeJudge, scripted_api: StartApi) -> None:
    api = scripted_api(script(judge("PASS")))
    env = {"CLAUDE_CODE_USE_VERTEX": "1", "CLOUD_ML_REGION": "global"}

    backend = make_judge(api, **env, ANTHROPIC_VERTEX_BASE_URL=f"{api.url}/v1")

    assert isinstance(backend._client, anthropic.AnthropicVertex)
    assert backend.description == "Google Vertex AI by the anthropic package"


def test_foundry_is_asked_by_its_own_client(
    scripted_api: StartApi, make_judge: MakeJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = scripted_api(script(judge("PASS")))
    monkeypatch.setenv("ANTHROPIC_FOUNDRY_BASE_URL", api.url)

    backend = make_judge(api, CLAUDE_CODE_USE_FOUNDRY="1", ANTHROPIC_FOUNDRY_API_KEY="foundry-key")

    assert backend.ask(_request()).text == "PASS"
    assert isinstance(backend._client, anthropic.AnthropicFoundry)
    assert "foundry-key" in api.messages[0].headers.values()


def test_client_that_cannot_be_made_is_an_error() -> None:
    with pytest.raises(JudgeError, match="ANTHROPIC_FOUNDRY_API_KEY"):
        AnthropicSdk({"CLAUDE_CODE_USE_FOUNDRY": "1"})


def test_alias_without_a_mapping_is_refused_on_a_cloud(
    scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    backend = make_judge(scripted_api(script()), **BEDROCK)

    with pytest.raises(JudgeError, match=r"set ANTHROPIC_DEFAULT_OPUS_MODEL or name a full id"):
        backend.resolved("opus")


def test_models_are_resolved_by_the_environment(
    scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    backend = make_judge(scripted_api(script()), ANTHROPIC_SMALL_FAST_MODEL="my-small")

    assert (backend.resolved(None), backend.resolved("opus")) == ("my-small", "claude-opus-5-5")


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"ANTHROPIC_API_KEY": KEY}, None),
        ({"ANTHROPIC_AUTH_TOKEN": "tok"}, None),
        ({}, "set ANTHROPIC_API_KEY"),
        ({"CLAUDE_CODE_OAUTH_TOKEN": "tok"}, "set ANTHROPIC_API_KEY"),
        ({"CLAUDE_CODE_USE_BEDROCK": "1"}, "pip install 'anthropic[bedrock]'"),
        (BEDROCK, None),
        (
            {**BEDROCK, "CLAUDE_CODE_SKIP_BEDROCK_AUTH": "1"},
            "unset CLAUDE_CODE_SKIP_BEDROCK_AUTH",
        ),
        (
            {"CLAUDE_CODE_USE_VERTEX": "1"},
            "set CLOUD_ML_REGION and pip install 'anthropic[vertex]'",
        ),
        ({"CLAUDE_CODE_USE_FOUNDRY": "1"}, "set ANTHROPIC_FOUNDRY_API_KEY"),
        ({"CLAUDE_CODE_USE_FOUNDRY": "1", "ANTHROPIC_FOUNDRY_API_KEY": "k"}, None),
    ],
)
def test_obstacle_says_what_to_do(
    env: Mapping[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "pytest_plugin_eval.judges.anthropic_sdk._is_installed", lambda name: name == "anthropic"
    )

    assert obstacle(env) == expected
