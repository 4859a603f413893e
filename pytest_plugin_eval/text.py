"""Cutting, cleaning and formatting of text, shared by every layer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

__all__ = [
    "cut",
    "decimals",
    "did_you_mean",
    "dollars",
    "name_pattern",
    "one_line",
    "plural",
    "printable",
    "shown",
    "tool_words",
    "without_surrogates",
]

SHOWN_LENGTH = 80
CENT = 0.01
MOST_DIGITS = 8

# C0 without tab and newline, DEL, C1, and the bidirectional controls that reorder a terminal line.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_TOOL = re.compile(r"(?:[^\s,(]|\([^)]*\)?)+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def cut(text: str, length: int) -> str:
    """Return *text*, or its first *length* characters and how many were left out."""
    if len(text) <= length:
        return text
    return f"{text[:length]}… [+{len(text) - length} chars]"


def shown(value: object) -> str:
    """Return the ``repr`` of a value for a message, cut at 80 characters."""
    text = repr(value)
    return text if len(text) <= SHOWN_LENGTH else text[: SHOWN_LENGTH - 1] + "…"


def decimals(value: float, digits: int = 2) -> str:
    """Return *value* with that many decimals, halves away from zero.

    Eighths are common scores; `format` would round 0.125 down and 0.375 up.
    """
    from decimal import ROUND_HALF_UP, Decimal  # not for sessions that show no number

    # Not `str`, which writes 1E-7 for a small number.
    return f"{Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):f}"


def dollars(amount_usd: float) -> str:
    """Return ``$0.42``; an amount below a cent has two digits after its zeros, ``$0.0030``."""
    digits = 2
    if 0 < amount_usd < CENT:
        digits = min(1 - math.floor(math.log10(amount_usd)), MOST_DIGITS)
    return f"${decimals(amount_usd, digits)}"


def name_pattern(glob: str) -> re.Pattern[str]:
    """Return what a ``--case`` glob matches: ``*`` any run of characters, ``?`` one, no others."""
    special: dict[str, str] = {"*": ".*", "?": "."}
    return re.compile("".join(special.get(char, re.escape(char)) for char in glob), re.DOTALL)


def one_line(text: str) -> str:
    """Return *text* with newlines, tabs and terminal control characters as spaces."""
    return _CONTROL.sub(" ", text).replace("\n", " ").replace("\t", " ")


def printable(text: str) -> str:
    """Return *text* without terminal control characters; newlines and tabs stay."""
    return _CONTROL.sub("\ufffd", text)


def without_surrogates(text: str) -> str:
    """Return *text* with lone surrogates replaced by U+FFFD, so that it encodes as UTF-8."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``, did you mean 'x'?`` for the nearest known word, or an empty string."""
    import difflib  # only where something is misspelt

    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f", did you mean {near[0]!r}?" if near else ""


def tool_words(text: str) -> list[str]:
    """Split a list of tools at commas and spaces outside of parentheses: ``Write,Edit`` are two."""
    return _TOOL.findall(text)


def plural(count: int, noun: str) -> str:
    """Return ``1 case`` or ``3 cases``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
