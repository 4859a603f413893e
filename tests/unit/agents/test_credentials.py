"""The operator's sign-in, handed over without the refresh token."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_plugin_eval.agents.credentials import (
    credentials_text,
    expiry_note,
    operator_secrets,
    secrets_in,
)

LOGIN = {
    "claudeAiOauth": {
        "accessToken": "sk-ant-oat01-access",
        "refreshToken": "sk-ant-ort01-refresh",
        "expiresAt": 2_000_000,
        "scopes": ["user:inference"],
    }
}


def sign_in(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / ".credentials.json").write_text(json.dumps(LOGIN), encoding="utf-8")
    return directory


@pytest.mark.parametrize("variable", ["HOME", "CLAUDE_CONFIG_DIR"])
def test_login_is_found_without_its_refresh_token(tmp_path: Path, variable: str) -> None:
    sign_in(tmp_path / ".claude")
    places = {"HOME": tmp_path, "CLAUDE_CONFIG_DIR": tmp_path / ".claude"}

    text = credentials_text({variable: str(places[variable])})

    assert "sk-ant-oat01-access" in str(text)
    assert "refresh" not in str(text)


@pytest.mark.parametrize(
    "variable", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"]
)
def test_login_stays_where_it_is_when_a_variable_signs_in(tmp_path: Path, variable: str) -> None:
    sign_in(tmp_path / ".claude")

    assert credentials_text({"HOME": str(tmp_path), variable: "key"}) is None


@pytest.mark.parametrize("content", [None, "", "{", "\udcff"])
def test_absent_or_broken_file_is_no_login(tmp_path: Path, content: str | None) -> None:
    file = sign_in(tmp_path) / ".credentials.json"
    file.unlink()
    if content is not None:
        file.write_bytes(content.encode("utf-8", "surrogateescape"))

    assert credentials_text({"CLAUDE_CONFIG_DIR": str(tmp_path)}) is None


def test_tokens_are_secrets_and_scopes_are_not() -> None:
    assert secrets_in(json.dumps(LOGIN)) == ("sk-ant-oat01-access", "sk-ant-ort01-refresh")
    assert secrets_in(None) == ()


@pytest.mark.parametrize(("now_s", "count"), [(1_999.0, 0), (2_001.0, 1)])
def test_expired_login_is_said(now_s: float, count: int) -> None:
    assert len(expiry_note(json.dumps(LOGIN), now_s)) == count


def test_secrets_of_the_operator_are_those_of_variables_files_and_sign_in(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("web-identity\n", encoding="utf-8")
    env = {
        "AWS_SECRET_ACCESS_KEY": "of-a-variable",
        "AWS_WEB_IDENTITY_TOKEN_FILE": str(token),
        "CLAUDE_CONFIG_DIR": str(sign_in(tmp_path / "config")),
        "GITHUB_TOKEN": "not given to a run",
    }

    assert set(operator_secrets(env)) == {"of-a-variable", "web-identity", "sk-ant-oat01-access"}
