"""The result document that a path names: the file itself, or the one in a results directory."""

from __future__ import annotations

from pathlib import Path

from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.results.saved_document import SavedDocument, read_document
from pytest_plugin_eval.text import plural

__all__ = ["DOCUMENT", "REPORT", "RUNS", "found_document"]

DOCUMENT = "aggregate-result.json"
REPORT = "report.html"
RUNS = "runs"
_BELOW = ("*/", "results/*/", "evals/results/*/")


def found_document(path: Path) -> tuple[SavedDocument, Path]:
    """Return the document at *path*, and where it lies.

    Raises `EvalError` for a path without one; it names the newest of those that lie below.
    """
    file = path / DOCUMENT if path.is_dir() else path
    if file.is_file():
        return read_document(file), file
    if not path.exists():
        raise EvalError(f"{path}: no such file or directory, expected a results directory")
    below = sorted(found for place in _BELOW for found in path.glob(place + DOCUMENT))
    if not below:
        raise EvalError(f"{path}: holds no {DOCUMENT}, expected a results directory")
    newest = max(below, key=lambda found: (found.parent.name, str(found)))
    raise EvalError(
        f"{path}: holds {plural(len(below), 'result')}, expected one of them, did you mean the "
        f"newest, {str(newest.parent)!r}?"
    )
