"""Aliases, the default judge model and the provider, as Claude Code 2.1.332 has them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_plugin_eval.judges.models import (
    Cloud,
    agent_model,
    cloud_of,
    is_alias,
    middle_model,
    resolve_model,
    variable_of,
)

GATEWAY = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}
BEDROCK = {"CLAUDE_CODE_USE_BEDROCK": "1"}


@pytest.mark.parametrize(
    ("model", "env", "expected"),
    [
        ("haiku", {}, "claude-haiku-5-5"),
        ("sonnet", {}, "claude-sonnet-5-5"),
        ("opus", {}, "claude-opus-5-5"),
        ("Sonnet[1m]", {}, "claude-sonnet-5-5"),
        (" opus ", {}, "claude-opus-5-5"),
        ("haiku", {"ANTHROPIC_DEFAULT_HAIKU_MODEL": "my-haiku"}, "my-haiku"),
        ("sonnet", {"ANTHROPIC_DEFAULT_SONNET_MODEL": "my-sonnet[1m]"}, "my-sonnet"),
        ("opus", {"ANTHROPIC_DEFAULT_OPUS_MODEL": "my-opus"}, "my-opus"),
        ("haiku", {"ANTHROPIC_SMALL_FAST_MODEL": "my-small"}, "claude-haiku-5-5"),
        ("claude-opus-4-1", GATEWAY, "claude-opus-4-1"),
        ("Some/Model:X", {}, "Some/Model:X"),
        ("haiku", BEDROCK, "haiku"),
        ("haiku", {**BEDROCK, "ANTHROPIC_DEFAULT_HAIKU_MODEL": "us.small"}, "us.small"),
    ],
)
def test_named_model_is_resolved(model: str, env: Mapping[str, str], expected: str) -> None:
    assert resolve_model(model, env) == expected


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, "claude-haiku-5-5"),
        ({"ANTHROPIC_MODEL": "sonnet"}, "claude-haiku-5-5"),
        ({"ANTHROPIC_BASE_URL": "https://api.anthropic.com"}, "claude-haiku-5-5"),
        ({"ANTHROPIC_BASE_URL": "https://api.anthropic.com:443/"}, "claude-haiku-5-5"),
        (GATEWAY, "claude-opus-5-5"),
        ({"ANTHROPIC_BASE_URL": "http://[broken"}, "claude-opus-5-5"),
        ({**GATEWAY, "ANTHROPIC_MODEL": "sonnet"}, "claude-sonnet-5-5"),
        ({**GATEWAY, "ANTHROPIC_MODEL": "my-model"}, "my-model"),
        ({**GATEWAY, "ANTHROPIC_DEFAULT_OPUS_MODEL": "my-opus"}, "my-opus"),
        ({**GATEWAY, "ANTHROPIC_DEFAULT_HAIKU_MODEL": "my-haiku"}, "my-haiku"),
        ({**GATEWAY, "ANTHROPIC_SMALL_FAST_MODEL": "my-small"}, "my-small"),
        (
            {"ANTHROPIC_SMALL_FAST_MODEL": "my-small", "ANTHROPIC_DEFAULT_HAIKU_MODEL": "mine"},
            "my-small",
        ),
        ({"ANTHROPIC_SMALL_FAST_MODEL": "sonnet"}, "claude-sonnet-5-5"),
        ({"ANTHROPIC_DEFAULT_HAIKU_MODEL": "haiku"}, "haiku"),
        (BEDROCK, "haiku"),
        ({**BEDROCK, **GATEWAY}, "haiku"),
        ({**BEDROCK, "ANTHROPIC_SMALL_FAST_MODEL": "us.small"}, "us.small"),
    ],
)
def test_default_judge_model(env: Mapping[str, str], expected: str) -> None:
    assert resolve_model(None, env) == expected


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, None),
        ({"CLAUDE_CODE_USE_BEDROCK": "1"}, Cloud.BEDROCK),
        ({"CLAUDE_CODE_USE_VERTEX": "true"}, Cloud.VERTEX),
        ({"CLAUDE_CODE_USE_FOUNDRY": "yes"}, Cloud.FOUNDRY),
        ({"CLAUDE_CODE_USE_BEDROCK": "0"}, None),
        ({"CLAUDE_CODE_USE_BEDROCK": "False", "CLAUDE_CODE_USE_VERTEX": "1"}, Cloud.VERTEX),
        ({"CLAUDE_CODE_USE_BEDROCK": ""}, None),
    ],
)
def test_cloud_is_selected_by_the_agents_variables(
    env: Mapping[str, str], expected: Cloud | None
) -> None:
    assert cloud_of(env) is expected


def test_alias_names_its_variable() -> None:
    assert is_alias("haiku")
    assert not is_alias("claude-haiku-5-5")
    assert variable_of("haiku") == "ANTHROPIC_DEFAULT_HAIKU_MODEL"


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, "claude-sonnet-5-5"),
        ({"ANTHROPIC_MODEL": "opus"}, "claude-sonnet-5-5"),
        ({"ANTHROPIC_BASE_URL": "https://api.anthropic.com"}, "claude-sonnet-5-5"),
        ({"ANTHROPIC_DEFAULT_SONNET_MODEL": "mine"}, "mine"),
        (GATEWAY, "claude-opus-5-5"),
        ({**GATEWAY, "ANTHROPIC_MODEL": "my-model"}, "my-model"),
        ({**GATEWAY, "ANTHROPIC_DEFAULT_SONNET_MODEL": "mine"}, "mine"),
        ({**GATEWAY, "ANTHROPIC_SMALL_FAST_MODEL": "my-small"}, "claude-opus-5-5"),
        (BEDROCK, "sonnet"),
        ({**GATEWAY, **BEDROCK}, "sonnet"),
    ],
)
def test_middle_model_is_one_that_the_service_has(env: Mapping[str, str], expected: str) -> None:
    assert resolve_model(middle_model(env), env) == expected


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, "claude-opus-5-5"),
        ({"ANTHROPIC_MODEL": ""}, "claude-opus-5-5"),
        ({"ANTHROPIC_MODEL": "sonnet"}, "claude-sonnet-5-5"),
        ({"ANTHROPIC_MODEL": "my-model[1m]"}, "my-model"),
        ({"ANTHROPIC_DEFAULT_OPUS_MODEL": "mine"}, "mine"),
        (BEDROCK, "opus"),
    ],
)
def test_agents_model_is_that_of_its_settings(env: Mapping[str, str], expected: str) -> None:
    assert resolve_model(agent_model(env), env) == expected
