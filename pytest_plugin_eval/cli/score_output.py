"""Where reports go: stdout, as UTF-8 in a file or pipe, in what a terminal can show otherwise.

What is spent is spent, and a score is what it is, whoever reads it: a reader that goes away changes
no exit code, and a stdout that cannot be written is an error as any other.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import TextIO

from pytest_plugin_eval.errors import QualityError
from pytest_plugin_eval.text import without_surrogates

__all__ = ["Output", "format_of", "write_lines", "write_text"]

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


def format_of(wanted: Output | None) -> Output:
    """Return the format that is wanted, ``None``: a table on a terminal, else Markdown.

    Raises `QualityError` without a stdout; a command is to learn of it before it spends anything.
    """
    is_terminal = _stdout().isatty()
    return wanted or (Output.TABLE if is_terminal else Output.MARKDOWN)


def write_text(text: str) -> None:
    """Write a document: other programs read it, and expect UTF-8 whatever the locale is."""
    with _writing() as stdout:
        stdout.flush()
        stdout.buffer.write(without_surrogates(text).encode())
        stdout.buffer.flush()


def write_lines(lines: Callable[[int, bool], Iterable[str]]) -> None:
    """Write a table, made for the width of the terminal and for the characters that it has.

    *lines* is given the width and whether only ASCII can be shown.
    """
    import shutil  # with archives of every kind, for this format alone

    encoding = getattr(_stdout(), "encoding", None) or "utf-8"
    width = max(shutil.get_terminal_size(FALLBACK_SIZE).columns, NARROWEST)
    drawn = list(lines(width, not _can(encoding, DRAWN)))
    if not _can(encoding, "".join(drawn)):
        drawn = list(lines(width, True))
    with _writing() as stdout:
        stdout.writelines(f"{line}\n" for line in drawn)
        stdout.flush()


def _stdout() -> TextIO:
    # Python has none where the shell closed it.
    stdout: TextIO | None = sys.stdout
    if stdout is None:
        raise QualityError("stdout is closed, expected somewhere to write to")
    return stdout


@contextlib.contextmanager
def _writing() -> Iterator[TextIO]:
    stdout = _stdout()
    try:
        yield stdout
    except OSError as error:
        # What is left in the buffer goes nowhere, instead of failing once more at the end.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            reason = error.strerror or type(error).__name__
            raise QualityError(f"stdout: cannot be written: {reason}") from error


def _can(encoding: str, text: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
