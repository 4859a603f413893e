"""Text in terminal columns: widths, padding, wrapping, and a form for terminals without Unicode."""

from __future__ import annotations

import unicodedata

from pytest_plugin_eval.text import decimals, one_line, without_surrogates

__all__ = [
    "INDENT",
    "cell",
    "display_width",
    "hanging",
    "padded",
    "signed",
    "wrapped",
]

INDENT = "    "
"""Before lines that continue another."""

_ASCII = str.maketrans(
    {
        "—": "-",
        "\N{EN DASH}": "-",
        "·": "|",
        "…": "...",
        "✓": "+",
        "✗": "x",
        "Δ": "delta",
        "∞": "inf",
        "≥": ">=",
        "\N{MULTIPLICATION SIGN}": "x",
        "⚠": "!",
        "↳": "->",
    }
)


def cell(text: str, *, ascii_only: bool = False) -> str:
    """Return *text* fit for one line of a terminal: no control characters, no lone surrogates.

    With *ascii_only* other characters than ASCII are spelt out or escaped.
    """
    clean = without_surrogates(one_line(text))
    if not ascii_only:
        return clean
    return clean.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")


def display_width(text: str) -> int:
    """Return how many columns *text* takes: wide characters two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_width, text))


def padded(text: str, width: int) -> str:
    """Return *text* with spaces added up to *width* columns."""
    return text + " " * (width - display_width(text))


def signed(value: float) -> str:
    """Return *value* with two decimals and its sign, without one for zero."""
    text = decimals(value)
    if not text.strip("-0."):
        return "0.00"
    return text if text.startswith("-") else f"+{text}"


def wrapped(text: str, width: int, indent: str) -> list[str]:
    """Return *text* as lines of at most *width* columns, each after *indent*.

    Words stay whole unless one is longer than a line.
    """
    room = max(width - len(indent), 20)
    lines: list[str] = []
    used = room
    for word in text.split():
        taken = display_width(word)
        if lines and used + 1 + taken <= room:
            lines[-1] += f" {word}"
            used += 1 + taken
            continue
        lines += _pieces(word, room)
        used = display_width(lines[-1])
    return [indent + line for line in lines]


def hanging(text: str, width: int, indent: str = INDENT) -> list[str]:
    """Return the lines of a text that is wrapped at *width*, all but the first indented.

    No word is broken: a path that is too long for a line stays fit to be copied.
    """
    lines: list[str] = []
    rest = text.rstrip()
    while len(rest) > width:
        first_word = len(rest) - len(rest.lstrip())
        end = rest.rfind(" ", first_word, width + 1)
        if end == -1:
            end = rest.find(" ", max(width, first_word))
        if end == -1:
            break
        lines.append(rest[:end].rstrip())
        rest = indent + rest[end:].lstrip()
    return [*lines, rest]


def _pieces(word: str, room: int) -> list[str]:
    pieces = [""]
    used = 0
    for character in word:
        width = _width(character)
        if used + width > room:
            pieces.append("")
            used = 0
        pieces[-1] += character
        used += width
    return pieces


def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Me", "Mn", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
