"""What reaches the agent of the operator's environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.agents.environment import (
    agent_environment,
    inherited,
    secret_names,
    secret_values,
)
from pytest_plugin_eval.agents.sandbox import Sandbox

RUN = Sandbox(Path("/runs/eval-1"))
PASSED_ON = """
    PATH LANG LC_ALL EVAL_REGION EVAL_ EVAL_lower ANTHROPIC_API_KEY ANTHROPIC_MODEL
    CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_MAX_RETRIES AWS_REGION AZURE_X CLOUDSDK_X VERTEX_REGION_X
    DISABLE_TELEMETRY BASH_MAX_TIMEOUT_MS HTTPS_PROXY no_proxy SSL_CERT_FILE GCLOUD_PROJECT CI
"""
WITHHELD = """
    CLAUDECODE CLAUDE_CODE_SESSION_ID CLAUDE_CODE_SSE_PORT CLAUDE_CODE_MESSAGING_TOKEN
    CLAUDE_CODE_CHILD_SESSION CLAUDE_PLUGIN_ROOT CLAUDE_PROJECT_DIR CLAUDE_CONFIG_DIR GITHUB_TOKEN
    OPENAI_API_KEY MY_SECRET SSH_AUTH_SOCK NODE_OPTIONS PYTHONPATH VIRTUAL_ENV LD_LIBRARY_PATH
    EDITOR DBUS_SESSION_BUS_ADDRESS GIT_DIR BASH_ENV PWD OTEL_X eval_x path EVALX
"""


@pytest.mark.parametrize("name", PASSED_ON.split())
def test_named_variables_reach_the_agent(name: str) -> None:
    assert inherited({name: "value"}) == {name: "value"}


@pytest.mark.parametrize("name", WITHHELD.split())
def test_everything_else_is_withheld(name: str) -> None:
    assert inherited({name: "value"}) == {}


def test_fixed_values_win_over_inherited_ones() -> None:
    env = {
        "HOME": "/home/me",
        "TMPDIR": "/tmp/mine",  # noqa: S108
        "CLAUDE_CONFIG_DIR": "/home/me/.claude",
        "CLAUDE_CODE_ENTRYPOINT": "cli",
        "CLAUDE_CODE_TMPDIR": "/mine",
        "GIT_CONFIG_COUNT": "1",
        "AWS_CONFIG_FILE": "/mine/aws",
        "EVAL_A": "operator",
        "EVAL_B": "operator",
    }

    found = agent_environment(env, RUN, {"EVAL_A": "case"})

    assert {name: found[name] for name in ("HOME", "TMPDIR", "CLAUDE_CONFIG_DIR")} == {
        "HOME": "/runs/eval-1/home",
        "TMPDIR": "/runs/eval-1/tmp",
        "CLAUDE_CONFIG_DIR": "/runs/eval-1/config",
    }
    assert (found["CLAUDE_CODE_ENTRYPOINT"], found["CLAUDE_CODE_TMPDIR"]) == (
        "sdk-cli",
        "/runs/eval-1/tmp",
    )
    assert (found["EVAL_A"], found["EVAL_B"]) == ("case", "operator")
    assert found["AWS_CONFIG_FILE"] == "/mine/aws"
    assert found["AWS_SHARED_CREDENTIALS_FILE"] == "/home/me/.aws/credentials"


def test_managed_policy_of_the_machine_stays_in_force() -> None:
    assert "CLAUDE_CODE_MANAGED_SETTINGS_PATH" not in agent_environment({}, RUN, {})


def test_git_pairs_are_numbered_without_gaps() -> None:
    found = agent_environment({}, RUN, {})

    count = int(found["GIT_CONFIG_COUNT"])
    keys = [found[f"GIT_CONFIG_KEY_{number}"] for number in range(count)]
    values = [found[f"GIT_CONFIG_VALUE_{number}"] for number in range(count)]
    pairs = dict(zip(keys, values, strict=True))
    assert len(pairs) == count
    assert (pairs["core.hooksPath"], pairs["hook.pre-commit.enabled"]) == ("/dev/null", "false")


@pytest.mark.parametrize(
    ("name", "value", "secrets"),
    [
        ("ANTHROPIC_API_KEY", "sk-ant-1", ("sk-ant-1",)),
        ("ANTHROPIC_AUTH_TOKEN", "t0ken", ("t0ken",)),
        ("CLAUDE_CODE_OAUTH_TOKEN", "oat", ("oat",)),
        ("AWS_ACCESS_KEY_ID", "AKIA", ("AKIA",)),
        ("AWS_SECRET_ACCESS_KEY", "s", ("s",)),
        ("AWS_BEARER_TOKEN_BEDROCK", "b", ("b",)),
        ("EVAL_DB_PASSWORD", "p", ("p",)),
        ("EVAL_DB_PASS", "p", ("p",)),
        ("AZURE_STORAGE_CONNECTION_STRING", "AccountKey=k", ("AccountKey=k",)),
        ("ANTHROPIC_BASE_URL", "https://me:pass@host/v1", ("pass",)),
        ("EVAL_PASSAGE", "a text", ()),
        ("ANTHROPIC_CUSTOM_HEADERS", "X-Auth: abc\nX-B: def", ("abc", "def")),
        ("HTTPS_PROXY", "http://me:pass@host:1", ("pass",)),
        ("HTTPS_PROXY", "http://host:1", ()),
        ("AWS_REGION", "us-east-1", ()),
        ("AWS_SHARED_CREDENTIALS_FILE", "/home/me/.aws/credentials", ()),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/gcp.json", ()),
        ("MAX_THINKING_TOKENS", "10000000", ()),
        ("GITHUB_TOKEN", "not-given-to-the-agent", ()),
        ("ANTHROPIC_API_KEY", "", ()),
    ],
)
def test_secrets_are_the_values_of_credential_variables(
    name: str, value: str, secrets: tuple[str, ...]
) -> None:
    assert secret_values({name: value}) == secrets


def test_variables_that_a_shell_does_not_get() -> None:
    kept = {
        "EVAL_TOKEN": "t",
        "HTTP_PROXY": "http://proxy",
        "AWS_SHARED_CREDENTIALS_FILE": "/home/me/.aws/credentials",
        "MAX_THINKING_TOKENS": "1",
    }
    withheld = {
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": "https://me:pass@host",
        "ANTHROPIC_CUSTOM_HEADERS": "a: b",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.2/x",
        "MSI_ENDPOINT": "http://169.254.169.254/x",
    }

    assert secret_names({**withheld, **kept}) == tuple(withheld)
