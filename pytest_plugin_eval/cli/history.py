"""`plugin-eval history`: many results, over time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_plugin_eval.cli.output import is_ascii, say, say_all, terminal_width, write_out
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.reports.history import history_lines
from pytest_plugin_eval.reports.history_html import history_html
from pytest_plugin_eval.results.finding import DOCUMENT
from pytest_plugin_eval.results.rebuilt import rebuilt_suite
from pytest_plugin_eval.results.saved_document import SavedDocument, read_document
from pytest_plugin_eval.scoring.trend import trends

__all__ = ["history"]

_RESCORED = "rescored"


def history(directory: Path, *, page: Path | None, with_replays: bool = False) -> int:
    """Print the trend of all results below a directory, write the page, and return the exit code.

    A document that cannot be read is named on standard error, and the others are shown. Raises
    `EvalError` when there is none.
    """
    if not directory.is_dir():
        raise EvalError(f"{directory}: no such directory, expected one that holds results")
    unreadable: list[Path] = []
    documents = _documents(directory, unreadable, with_replays=with_replays)
    found = trends(
        (
            (rebuilt_suite(one), one.composite.score if one.composite is not None else None)
            for one in documents
        ),
        with_replays=with_replays,
    )
    if not found:
        kind = f"{DOCUMENT} that can be read" if unreadable else DOCUMENT
        raise EvalError(f"{directory}: no {kind} in it or below, expected results of sessions")
    for number, trend in enumerate(found):
        if number:
            say("")
        say_all(history_lines(trend, width=terminal_width(), ascii_only=is_ascii()))
    if page is not None:
        write_out(page, [history_html(found)])
        say(f"page: {page}")
    if any(trend.sessions for trend in found):
        return 0
    hint = "" if with_replays else "; --replays counts those that were graded again, too"
    say(f"no session of these results counts{hint}", err=True)
    return 1


def _documents(
    directory: Path, unreadable: list[Path], *, with_replays: bool
) -> Iterator[SavedDocument]:
    for path in sorted(directory.rglob(DOCUMENT)):
        if not with_replays and _RESCORED in path.relative_to(directory).parts:
            continue
        try:
            yield read_document(path)
        except EvalError as error:
            unreadable.append(path)
            say(f"Error: {error}", err=True)
