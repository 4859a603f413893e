"""The JSON in a model's reply, its score, or why there is none.

Spec: quality-score, 8, 9 and 17 (A13).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import NamedTuple

from pytest_plugin_eval.text import cut, printable, shown, without_surrogates

__all__ = ["Reading", "Unreadable", "read_object", "read_reply", "read_value"]

RAW_LENGTH = 10_000
"""Of what is kept of a reply that cannot be read."""
LONGEST = 200_000
"""A reply beyond that is no answer to any of the questions."""
DEEPEST = 20
"""Levels of lists and objects; the replies that are asked for have three."""

_FENCE = "```"
_LABEL = "json"


class Reading(NamedTuple):
    """A reply that holds a score."""

    score: float
    reply: Mapping[str, object]


class Unreadable(NamedTuple):
    """A reply that holds none."""

    error: str
    raw: str
    """The reply, cut."""


class _ReplyError(ValueError):
    """What is wrong with a reply."""


def read_reply(text: str, score_field: str) -> Reading | Unreadable:
    """Return the object in *text* with the number, 0 to 1, in its *score_field*."""
    try:
        reply = _object(text)
        return Reading(_score(reply, score_field), reply)
    except _ReplyError as error:
        return _unreadable(error, text)


def read_object(text: str) -> Mapping[str, object] | Unreadable:
    """Return the object in *text*, which may be fenced."""
    try:
        return _object(text)
    except _ReplyError as error:
        return _unreadable(error, text)


def read_value(text: str) -> object | Unreadable:
    """Return the JSON in *text*, which may be fenced."""
    try:
        return _value(text)
    except _ReplyError as error:
        return _unreadable(error, text)


def _unreadable(error: _ReplyError, text: str) -> Unreadable:
    return Unreadable(str(error), cut(printable(without_surrogates(text)), RAW_LENGTH))


def _object(text: str) -> Mapping[str, object]:
    if not text.strip():
        raise _ReplyError("the reply is empty, expected a JSON object")
    value = _value(text)
    if not isinstance(value, dict):
        raise _ReplyError(f"the reply is {shown(value)}, expected a JSON object")
    return value


def _value(text: str) -> object:
    if len(text) > LONGEST:
        raise _ReplyError(f"the reply has {len(text)} characters, expected at most {LONGEST}")
    try:
        # An object that quotes a fenced block has none of its own.
        return _parsed(text)
    except _ReplyError:
        block = _first_block(text)
        if block is None:
            raise
    return _parsed(block)


def _first_block(text: str) -> str | None:
    """Return the inside of the first fenced block, without its label."""
    _, opening, rest = text.partition(_FENCE)
    inside, closing, _ = rest.partition(_FENCE)
    if not (opening and closing):
        return None
    is_labelled = inside[: len(_LABEL)].lower() == _LABEL
    return inside[len(_LABEL) :] if is_labelled else inside


def _parsed(text: str) -> object:
    try:
        value = json.loads(text, parse_constant=str, parse_float=_number)
        return _clean(value, DEEPEST)
    except json.JSONDecodeError as error:
        raise _ReplyError(
            f"the reply is no JSON ({error.msg} at line {error.lineno}): {shown(text)}"
        ) from error
    except RecursionError as error:
        raise _ReplyError("the reply is nested too deeply to be read") from error
    except _ReplyError:
        raise
    except ValueError as error:  # a number with thousands of digits
        raise _ReplyError(f"the reply holds a number that is too long: {shown(text)}") from error


def _number(text: str) -> float | str:
    """Return a number that JSON can hold, else its text."""
    number = float(text)
    return number if math.isfinite(number) else text


def _clean(value: object, levels: int) -> object:
    """Return *value* without what no report could hold: lone surrogates, endless nesting."""
    if isinstance(value, str):
        return without_surrogates(value)
    if not isinstance(value, dict | list):
        return value
    if not levels:
        raise _ReplyError(f"the reply is nested more than {DEEPEST} levels deep")
    if isinstance(value, list):
        return [_clean(item, levels - 1) for item in value]
    return {without_surrogates(key): _clean(item, levels - 1) for key, item in value.items()}


def _score(reply: Mapping[str, object], field: str) -> float:
    if field not in reply:
        raise _ReplyError(f"{field} is missing, expected a number from 0 to 1")
    score = reply[field]
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
        raise _ReplyError(f"{field} must be a number from 0 to 1, got {shown(score)}")
    return float(score)
