"""Which service the package asks, and what signs in there."""

from __future__ import annotations

from collections.abc import Mapping

import anthropic
import pytest

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.judges.anthropic_sdk import AnthropicSdk, obstacle
from pytest_plugin_eval.judges.base import JudgeRequest
from tests.support.script import judge, script, turn
from tests.support.sdk import KEY, MakeJudge, StartApi, answering, question

BEDROCK = {
    "CLAUDE_CODE_USE_BEDROCK": "1",
    "AWS_REGION": "us-east-1",
    "AWS_BEARER_TOKEN_BEDROCK": "bedrock-token",
}


def test_key_signs_in(scripted_api: StartApi, make_judge: MakeJudge) -> None:
    api = scripted_api(script(judge("PASS")))

    make_judge(api).ask(question())

    # The package has sent keys in either header.
    headers = api.messages[0].headers
    assert KEY in (headers.get("x-api-key"), headers.get("authorization", "").split(" ")[-1])


@pytest.mark.parametrize("key", ["", KEY], ids=["alone", "beside a key"])
def test_token_signs_in_as_with_the_agent(
    key: str, scripted_api: StartApi, make_judge: MakeJudge
) -> None:
    api = scripted_api(script(judge("PASS")))

    make_judge(api, ANTHROPIC_API_KEY=key, ANTHROPIC_AUTH_TOKEN="tok").ask(question())

    headers = api.messages[0].headers
    assert headers["authorization"] == "Bearer tok"
    assert "x-api-key" not in headers


def test_bedrock_is_asked_by_its_own_client(
    scripted_api: StartApi, make_judge: MakeJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The package takes this one from the process's own environment.
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-token")
    usage = {"input": 1000, "output": 100}
    api = scripted_api(answering(turn("PASS", usage=usage)))
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

    assert backend.ask(question()).text == "PASS"
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
