"""The values of the options, as the reference reads them. Spec: behaviour-evals, 1."""

from __future__ import annotations

import re

from pytest_plugin_eval.errors import SettingsError
from pytest_plugin_eval.text import shown, tool_words

__all__ = ["amount", "at_once", "runs", "share", "tools"]

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_MOST_AT_ONCE = 8


def runs(text: str) -> int:
    """Return a leading number cut to an integer: ``1.5`` is 1, ``2abc`` is 2."""
    match = _NUMBER.match(text.lstrip())
    value = float(match[0]) if match else 0.0
    if not 1 <= value < float("inf"):
        raise SettingsError(f"expected a whole number above 0, got {shown(text)}")
    return int(value)


def at_once(text: str) -> int:
    """Return how many agents may run at once."""
    value = _number(text)
    if value is None or not value.is_integer() or not 1 <= value <= _MOST_AT_ONCE:
        raise SettingsError(f"expected a whole number from 1 to 8, got {shown(text)}")
    return int(value)


def share(text: str) -> float:
    """Return a number from 0 to 1."""
    value = _number(text)
    if value is None or not 0 <= value <= 1:
        raise SettingsError(f"expected a number from 0 to 1, got {shown(text)}")
    return value


def amount(text: str) -> float:
    """Return a number that is not negative."""
    value = _number(text)
    if value is None or not 0 <= value < float("inf"):
        raise SettingsError(f"expected a number of at least 0, got {shown(text)}")
    return value


def tools(texts: object) -> tuple[str, ...]:
    """Split tools at commas and spaces outside of parentheses: ``Write,Edit`` are two."""
    assert isinstance(texts, tuple)
    return tuple(tool for text in texts for tool in tool_words(text))


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text.strip()) else None
