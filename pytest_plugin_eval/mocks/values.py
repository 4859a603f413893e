"""Values of a call's input, by dotted path and as text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from pytest_plugin_eval.records.jsjson import number, stringify

__all__ = ["MISSING", "Missing", "json_numbers", "scalar_text", "value_at", "value_text"]

VALUE_LENGTH = 80


class Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
        return "(missing)"


MISSING: Final = Missing()
"""What a path leads to that leads nowhere; ``null`` is a value."""


def value_at(data: object, path: str) -> object:
    """Return the value at a dotted path; a number is an index of a list."""
    for step in path.split("."):
        if isinstance(data, Mapping):
            data = data.get(step, MISSING)
        elif isinstance(data, list) and step.isascii() and step.isdigit():
            # Longer numbers are no index of anything, and `int` refuses some of them.
            index = int(step[-10:]) if not step[:-10].strip("0") else len(data)
            data = data[index] if index < len(data) else MISSING
        else:
            return MISSING
    return data


def scalar_text(value: object) -> str | None:
    """Return a string, number or boolean as the text it is compared by, else ``None``."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return _number(value)
        case _:
            return None


def value_text(value: object) -> str:
    """Return a value for a message: compact JSON of at most 80 characters."""
    text = str(value) if isinstance(value, Missing) else stringify(json_numbers(value))
    return text if len(text) <= VALUE_LENGTH else text[: VALUE_LENGTH - 3] + "..."


def json_numbers(value: object) -> object:
    """Return JSON with every number as the float that JavaScript has for it."""
    match value:
        case bool():
            return value
        case int():
            return _float(value)
        case list():
            return [json_numbers(item) for item in value]
        case Mapping():
            return {str(key): json_numbers(item) for key, item in value.items()}
        case _:
            return value


def _number(value: float) -> str:
    value = _float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return number(value)


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)
