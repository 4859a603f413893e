"""Where reports go: stdout, as UTF-8 in a file or pipe, in what a terminal can show otherwise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from enum import StrEnum

import click

from pytest_plugin_eval.text import without_surrogates

__all__ = ["Output", "is_terminal", "write_lines", "write_text"]

DRAWN = "█░—·↳"
"""What a table needs besides ASCII."""
FALLBACK_SIZE = (80, 24)
NARROWEST = 60


class Output(StrEnum):
    """The format of a report."""

    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"
    TABLE = "table"


def is_terminal() -> bool:
    """Return whether somebody looks at stdout."""
    return sys.stdout.isatty()


def write_text(text: str) -> None:
    """Write a document: other programs read it, and expect UTF-8 whatever the locale is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(without_surrogates(text).encode())
    sys.stdout.buffer.flush()


def write_lines(lines: Callable[[int, bool], Iterable[str]]) -> None:
    """Write a table, made for the width of the terminal and for the characters that it has.

    *lines* is given the width and whether only ASCII can be shown.
    """
    import shutil  # with archives of every kind, for this format alone

    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    width = max(shutil.get_terminal_size(FALLBACK_SIZE).columns, NARROWEST)
    drawn = list(lines(width, not _can(encoding, DRAWN)))
    if not _can(encoding, "".join(drawn)):
        drawn = list(lines(width, True))
    for line in drawn:
        click.echo(line)


def _can(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
