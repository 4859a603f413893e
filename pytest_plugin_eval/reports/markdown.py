"""Markdown of which nothing acts: text as text, and tables.

What stands in a comment of a pull request is written by models and authors: none of it may become
markup, a link, or a word to somebody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pytest_plugin_eval.reports.columns import cell

__all__ = ["escaped", "table"]

_NOTHING = "&#8203;"
"""A space of no width. GitHub looks for names, issues, addresses and emoji in the rendered text,
where a backslash is gone, so that only something between their signs keeps them from acting."""

# What would end a cell, be taken for markup or for a formula, or load something in a viewer.
_MARKUP = re.compile(r"[\\`*\[\]|~<&$]")
# Between letters it is a letter: OVER_CONSTRAINED.
_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
# At the start of a line, which a cell never is, but an item of a list may be.
_BLOCK = re.compile(r"\d{1,9}(?=[.)](?:\s|$))|(?=[#>=])|(?=[-+](?:[\s-]|$))")
_ACTING = re.compile(
    r"(?<=@)(?=\w)"  # @name
    r"|(?<=[#!])(?=\d)|(?<=[Gg][Hh]-)(?=\d)"  # an issue's number
    r"|(?<=:)(?=//)|(?<=[Ww][Ww][Ww])(?=\.)|(?<=[Mm][Aa][Ii][Ll][Tt][Oo]:)|(?<=[Xx][Mm][Pp][Pp]:)"
    r"|(?<=:)(?=[a-z+-][\w+-]*:)"  # :emoji:
)


def escaped(text: str) -> str:
    """Return *text* as one line that Markdown shows as it is, in a cell too (17, B8).

    No markup, no HTML, no formula; no address becomes a link, no person is mentioned and no issue.
    """
    line = cell(text).strip()
    block = _BLOCK.match(line)
    end = block.end() if block else 0
    parts = _ACTING.split(line[end:])
    plain = _NOTHING.join(_without_markup(part) for part in parts)
    return f"{line[:end]}\\{plain}" if block else plain


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table, all but its first column to the right where their titles end in a colon."""
    marks = ["---:" if name.endswith(":") else "---" for name in titles]
    lines = [_row([name.removesuffix(":") for name in titles]), f"|{'|'.join(marks)}|"]
    return [*lines, *(_row([escaped(one) for one in row]) for row in rows)]


def _without_markup(text: str) -> str:
    marked = _MARKUP.sub(lambda found: f"\\{found[0]}", text)
    return _UNDERSCORE.sub(r"\\_", marked)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
