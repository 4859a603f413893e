"""Signing in by subscription: the operator's credentials file. Spec: decisions, 13."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_plugin_eval.agents.sandbox import CREDENTIALS

__all__ = ["credentials_text", "secrets_in"]

_OTHER_WAYS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
)


def credentials_text(env: Mapping[str, str]) -> str | None:
    """Return the operator's credentials file; ``None`` without one or with another sign-in."""
    if any(env.get(name) for name in _OTHER_WAYS):
        return None
    home = env.get("HOME") or env.get("USERPROFILE")
    directory = env.get("CLAUDE_CONFIG_DIR") or (home and str(Path(home, ".claude")))
    if not directory:
        return None
    try:
        return Path(directory, CREDENTIALS).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def secrets_in(text: str | None) -> tuple[str, ...]:
    """Return the texts of a credentials file that no record may hold."""
    try:
        data = json.loads(text or "null")
    except ValueError:
        return tuple((text or "").split())
    return tuple(dict.fromkeys(_tokens(data)))


def _tokens(data: object, key: str = "") -> Iterator[str]:
    if isinstance(data, dict):
        for name, value in data.items():
            yield from _tokens(value, str(name))
    elif isinstance(data, list):
        for value in data:
            yield from _tokens(value, key)
    elif isinstance(data, str) and any(word in key.lower() for word in ("token", "key", "secret")):
        yield data
