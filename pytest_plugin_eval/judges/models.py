"""Which model judges: aliases, the default, and where the service is. Spec: behaviour-evals, 4.7.

Aliases and defaults are those of Claude Code 2.1.332.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from urllib.parse import urlsplit

__all__ = [
    "Cloud",
    "agent_model",
    "cloud_of",
    "is_alias",
    "middle_model",
    "resolve_model",
    "variable_of",
]

_IDS = {
    "haiku": "claude-haiku-5-5",
    "sonnet": "claude-sonnet-5-5",
    "opus": "claude-opus-5-5",
}
_AGENT_DEFAULT = "opus"
_SMALL_FAST = "haiku"
_MIDDLE = "sonnet"
_LONG_CONTEXT = "[1m]"
_OWN_HOST = "api.anthropic.com"
_OFF = ("", "0", "false", "no", "off")


class Cloud(StrEnum):
    """A provider with names of its own for models; the value is for people."""

    BEDROCK = "Amazon Bedrock"
    VERTEX = "Google Vertex AI"
    FOUNDRY = "Microsoft Foundry"


_SWITCHES = {
    "CLAUDE_CODE_USE_BEDROCK": Cloud.BEDROCK,
    "CLAUDE_CODE_USE_VERTEX": Cloud.VERTEX,
    "CLAUDE_CODE_USE_FOUNDRY": Cloud.FOUNDRY,
}


def cloud_of(env: Mapping[str, str]) -> Cloud | None:
    """Return the provider that the agent's own variables select, ``None`` for Anthropic's API."""
    for name, cloud in _SWITCHES.items():
        if env.get(name, "").strip().lower() not in _OFF:
            return cloud
    return None


def resolve_model(model: str | None, env: Mapping[str, str]) -> str:
    """Return the id to ask for; ``None`` is the default judge model.

    An alias that the environment maps nowhere stays one where a cloud provider is selected: only
    the agent knows the provider's names.
    """
    name = _default(env) if model is None else model.strip()
    alias = _bare(name).lower()
    if alias not in _IDS:
        return _bare(name)
    if mapped := env.get(variable_of(alias)):
        return _bare(mapped)
    return _IDS[alias] if cloud_of(env) is None else alias


def is_alias(model: str) -> bool:
    """Tell whether a model that was resolved is still an alias."""
    return model in _IDS


def variable_of(alias: str) -> str:
    """Return the variable that maps an alias."""
    return f"ANTHROPIC_DEFAULT_{alias.upper()}_MODEL"


def agent_model(env: Mapping[str, str]) -> str:
    """Return the model, maybe an alias, that the agent takes where none is named."""
    return env.get("ANTHROPIC_MODEL") or _AGENT_DEFAULT


def middle_model(env: Mapping[str, str]) -> str:
    """Return the model, maybe an alias, between the default judge and the agent's."""
    if env.get(variable_of(_MIDDLE)) or not _is_elsewhere(env):
        return _MIDDLE
    return agent_model(env)


def _default(env: Mapping[str, str]) -> str:
    chosen = env.get("ANTHROPIC_SMALL_FAST_MODEL") or env.get(variable_of(_SMALL_FAST))
    if chosen:
        return chosen
    return agent_model(env) if _is_elsewhere(env) else _SMALL_FAST


def _is_elsewhere(env: Mapping[str, str]) -> bool:
    """Tell whether a gateway answers: it may have no other model than that of the agent."""
    return cloud_of(env) is None and _has_gateway(env)


def _has_gateway(env: Mapping[str, str]) -> bool:
    url = env.get("ANTHROPIC_BASE_URL", "")
    try:
        return bool(url) and urlsplit(url).hostname != _OWN_HOST
    except ValueError:
        return True


def _bare(name: str) -> str:
    """Return a model's name without the client's mark of a long context."""
    name = name.strip()
    return name[: -len(_LONG_CONTEXT)] if name.lower().endswith(_LONG_CONTEXT) else name
