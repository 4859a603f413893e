"""What commands print and write: lines for people, documents and pages.

A reader of the lines that goes away (``| head``) changes neither what a command writes nor how it
ends; a stream that cannot be written for another reason ends it.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_plugin_eval.cli.streams import let_go
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.reports.columns import cell, hanging
from pytest_plugin_eval.storage.atomic_write import write_chunks, write_text

if TYPE_CHECKING:
    from pytest_plugin_eval.quality.model import QualityReport
    from pytest_plugin_eval.reports.html_records import Records
    from pytest_plugin_eval.reports.verdict import Conclusion
    from pytest_plugin_eval.scoring.model import SuiteResult

__all__ = ["copy_out", "is_ascii", "say", "say_all", "terminal_width", "write_out", "write_page"]

WIDEST = 120


def say(line: str, *, err: bool = False) -> None:
    """Print a line, with what the stream cannot show in ASCII, and no control characters."""
    stream = sys.stderr if err else sys.stdout
    try:
        click.echo(_fit(line, stream), err=err)
    except BrokenPipeError:
        let_go(stream)


def say_all(lines: Iterable[str], *, width: int | None = None) -> None:
    """Print lines, wrapped at *width* where one is given."""
    for line in lines:
        for part in [line] if width is None else hanging(line, width):
            say(part)


def is_ascii() -> bool:
    """Return whether standard output shows ASCII alone."""
    return _fit("Δ", sys.stdout) != "Δ"


def terminal_width() -> int:
    """Return the columns to print to: those of the terminal, 80 in a pipe, never very many."""
    return min(shutil.get_terminal_size((80, 24)).columns, WIDEST)


def write_out(path: Path, chunks: Iterable[str]) -> None:
    """Write a file whole or not at all; raises `EvalError`, naming it."""
    try:
        write_text(path, chunks)
    except OSError as error:
        raise EvalError(f"{path}: cannot be written: {error.strerror}") from error


def copy_out(source: Path, target: Path) -> None:
    """Copy a file whole or not at all; raises `EvalError`, naming it."""
    try:
        with source.open("rb") as stream:
            write_chunks(target, iter(lambda: stream.read(1 << 20), b""))
    except OSError as error:
        raise EvalError(f"{source}: cannot be copied to {target}: {error.strerror}") from error


def write_page(
    path: Path,
    suite: SuiteResult,
    quality: Sequence[QualityReport],
    records: Records,
    *,
    verdict: Conclusion | None = None,
) -> None:
    """Write the HTML report; raises `EvalError`, naming the file."""
    from pytest_plugin_eval.reports.html import HtmlReport, write_report

    report = HtmlReport(suite, records=records, quality=quality, verdict=verdict)
    try:
        write_report(report, path, write_text)
    except OSError as error:
        raise EvalError(f"{error.filename or path}: cannot be written: {error.strerror}") from error


def _fit(line: str, stream: object) -> str:
    encoding = getattr(stream, "encoding", None) or "utf-8"
    clean = cell(line)
    try:
        clean.encode(encoding)
    except UnicodeEncodeError:
        return cell(line, ascii_only=True)
    return clean
