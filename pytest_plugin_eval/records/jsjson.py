"""JSON as JavaScript writes it: ``JSON.stringify(JSON.parse(text))`` for parsed values."""

from __future__ import annotations

import json
import math
import re
from json.encoder import encode_basestring

__all__ = ["number", "parse", "stringify"]

# Keys that are array indexes come first, in numeric order (ECMA-262, OrdinaryOwnPropertyKeys).
_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_INDEX_END = 2**32 - 1
_SURROGATE = re.compile("[\ud800-\udfff]")
_EXACT = 2**53
_DECIMAL_POINT_MAX = 21
_DECIMAL_POINT_MIN = -6


def parse(text: str) -> object:
    """Return the value of a JSON text, numbers as floats; `ValueError` when it is none.

    Every number becomes a double, as in JavaScript, so that 2**53 + 1 reads as 2**53.
    """
    try:
        return _decoder.decode(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def stringify(value: object) -> str:
    """Return the compact JSON that JavaScript writes for a value of `parse`."""
    match value:
        case str():
            return _string(value)
        case dict():
            return "{" + ",".join(f"{_string(k)}:{stringify(v)}" for k, v in _ordered(value)) + "}"
        case list():
            return "[" + ",".join(map(stringify, value)) + "]"
        case True:
            return "true"
        case False:
            return "false"
        case float():
            return number(value)
        case _:
            return "null"


def number(value: float) -> str:
    """Return a double as JavaScript writes it in JSON. Spec: ECMA-262, Number::toString."""
    if not math.isfinite(value):
        return "null"
    if value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    return sign + _placed(digits.rstrip("0"), point)


def _placed(digits: str, point: int) -> str:
    """Return 0.DIGITS times ten to the *point* in the notation JavaScript chooses."""
    if len(digits) <= point <= _DECIMAL_POINT_MAX:
        return digits.ljust(point, "0")
    if 0 < point <= _DECIMAL_POINT_MAX:
        return f"{digits[:point]}.{digits[point:]}"
    if _DECIMAL_POINT_MIN < point <= 0:
        return "0." + "0" * -point + digits
    mantissa = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{point - 1:+d}"


def _ordered(mapping: dict[str, object]) -> list[tuple[str, object]]:
    items = list(mapping.items())
    if not any(key[:1].isdigit() for key in mapping):
        return items
    indexes = [item for item in items if _is_index(item[0])]
    if not indexes:
        return items
    indexes.sort(key=lambda item: int(item[0]))
    return indexes + [item for item in items if not _is_index(item[0])]


def _is_index(key: str) -> bool:
    return _INDEX.fullmatch(key) is not None and int(key) < _INDEX_END


def _string(text: str) -> str:
    quoted: str = encode_basestring(text)
    if quoted.isascii():
        return quoted
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")


# One for all calls: `json.loads` with these options makes a decoder each time.
_decoder = json.JSONDecoder(parse_int=float, parse_constant=_refuse)
