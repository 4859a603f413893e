"""Signing in by subscription: the operator's credentials file. Spec: decisions, 13.

The refresh token stays behind: it can be used once, so a run that renewed its copy would sign the
operator out. An access token that has expired is refused by the service, and the run says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_plugin_eval.agents.credential_files import file_secrets
from pytest_plugin_eval.agents.environment import given, secret_values
from pytest_plugin_eval.agents.sandbox import CREDENTIALS

__all__ = [
    "credentials_file",
    "credentials_text",
    "expiry_note",
    "operator_secrets",
    "secrets_in",
]

_OTHER_WAYS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
)
_CLOUDS = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")
_OFF = ("", "0", "false", "no", "off")


def credentials_text(env: Mapping[str, str]) -> str | None:
    """Return the operator's credentials file; ``None`` without one or with another sign-in."""
    file = credentials_file(env)
    if file is None or _has_other_way(env):
        return None
    try:
        data = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
    return json.dumps(_without_refresh(data))


def credentials_file(env: Mapping[str, str]) -> Path | None:
    """Return where the operator's credentials file is to be; ``None`` where nothing says it."""
    home = env.get("HOME") or env.get("USERPROFILE")
    directory = env.get("CLAUDE_CONFIG_DIR") or (home and str(Path(home, ".claude")))
    return Path(directory, CREDENTIALS) if directory else None


def _has_other_way(env: Mapping[str, str]) -> bool:
    is_cloud = any(env.get(name, "").strip().lower() not in _OFF for name in _CLOUDS)
    return is_cloud or any(env.get(name) for name in _OTHER_WAYS)


def expiry_note(text: str | None, now_s: float) -> tuple[str, ...]:
    """Return a line when the access token is out of date."""
    login = json.loads(text or "null")
    login = login.get("claudeAiOauth") if isinstance(login, dict) else None
    expires_ms = login.get("expiresAt") if isinstance(login, dict) else None
    if not isinstance(expires_ms, int | float) or expires_ms / 1000 > now_s:
        return ()
    return ("the sign-in of this machine has expired, start claude once to renew it",)


def secrets_in(text: str | None) -> tuple[str, ...]:
    """Return the texts of a credentials file that no record may hold."""
    return tuple(dict.fromkeys(_tokens(json.loads(text or "null"))))


def operator_secrets(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return all that no record may hold of what a run is given of the operator's environment."""
    own = (*secret_values(env), *file_secrets(given(env)))
    return (*own, *secrets_in(credentials_text(env)))


def _without_refresh(data: object) -> object:
    if not isinstance(data, dict):
        return data
    return {name: _without_refresh(value) for name, value in data.items() if name != "refreshToken"}


def _tokens(data: object, key: str = "") -> Iterator[str]:
    if isinstance(data, dict):
        for name, value in data.items():
            yield from _tokens(value, str(name))
    elif isinstance(data, list):
        for value in data:
            yield from _tokens(value, key)
    elif isinstance(data, str) and any(word in key.lower() for word in ("token", "key", "secret")):
        yield data
