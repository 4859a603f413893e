"""A directory of saved results: its records, its document, and the suite that it belongs to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pytest_plugin_eval.cases.discovery import EvalDirectory, eval_directory_of, nearest_plugin
from pytest_plugin_eval.cases.plugin_roots import DEFAULT_EVAL_DIR
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.records.layout import recorded_keys
from pytest_plugin_eval.records.model import RunKey
from pytest_plugin_eval.results.finding import DOCUMENT, RUNS
from pytest_plugin_eval.results.saved_document import SavedDocument, read_document
from pytest_plugin_eval.settings import Mode

__all__ = ["SavedResults", "SuitePlace", "saved_results", "suite_place"]

RECORDINGS = "recordings"
_ABOVE = ("*/", "results/*/", "*/results/*/")
"""Where results lie below their common directory, an eval directory and a plugin."""
_EXPECTED = "expected a results directory such as evals/results/2026-01-31T12-00-00-000Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedResults:
    """What a session left behind, or a directory of recordings."""

    directory: Path
    """As the user named it."""
    records: Path
    """Holds ``<case id>/<arm>-<n>.jsonl``."""
    keys: tuple[RunKey, ...]
    """Of all records; at least one."""
    document: SavedDocument | None
    """``None`` for recordings, and for a session that was killed before it wrote one."""

    @property
    def is_recordings(self) -> bool:
        """Whether these are records alone, and no results of a session."""
        return self.records == self.directory and self.document is None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuitePlace:
    """Where the cases of saved results are now."""

    root: Path
    eval_dir: str | None
    """What the eval directory is called, where neither convention nor manifest says so."""

    def case(self, case: str) -> tuple[Path, EvalDirectory] | None:
        """Return directory and eval directory of a case, or ``None`` when it has gone."""
        directory = self.root.joinpath(*case.split("/"))
        place = eval_directory_of(directory, eval_dir=self.eval_dir, root=self.root)
        if place is None or directory not in place.cases:
            return None
        return directory, place


def saved_results(directory: Path) -> SavedResults:
    """Return the results in a directory.

    Raises `EvalError` when there are no records in it.
    """
    if not directory.exists():
        raise EvalError(f"{directory}: no such directory, {_EXPECTED}")
    if not directory.is_dir():
        raise EvalError(f"{directory}: is a file, {_EXPECTED}")
    records = directory / RUNS if (directory / RUNS).is_dir() else directory
    path = directory / DOCUMENT
    document = read_document(path) if path.is_file() else None
    if document is not None and document.harness is None:
        raise EvalError(
            f"{path}: was written by claude plugin eval, which keeps no records of its runs; "
            "expected results of pytest or plugin-eval run"
        )
    inner = _results_below(directory) if records == directory and document is None else []
    if inner:
        raise EvalError(
            f"{directory}: holds the results of several sessions or plugins, expected one of them, "
            f"such as {inner[0]}"
        )
    keys = recorded_keys(records)
    if not keys and document is not None and document.mode == Mode.REPLAY.value:
        raise EvalError(
            f"{directory}: holds the document of a replay and no record of a run, expected the "
            "directory that was replayed"
        )
    if not keys:
        raise EvalError(
            f"{directory}: holds no record of a run, expected {RUNS}/<case>/<arm>-<n>.jsonl in it"
        )
    return SavedResults(directory=directory, records=records, keys=keys, document=document)


def suite_place(
    saved: SavedResults, *, root: Path | None = None, eval_dir: str | None = None
) -> SuitePlace:
    """Return where the suite of saved results is: *root* and *eval_dir* where they are given.

    Else it is where the document says, and where that is not on this machine, or there is no
    document, the plugin or eval directory that the results lie in. Raises `EvalError` when there is
    neither.
    """
    written = saved.document.suite if saved.document is not None else None
    if eval_dir is None and written is not None and written.eval_dir is not None:
        name = os.path.relpath(written.eval_dir, written.root).replace(os.sep, "/")
        if name.rpartition("/")[2] != DEFAULT_EVAL_DIR:
            eval_dir = name
    if root is None:
        named = Path(written.root) if written is not None else None
        root = named if named is not None and named.is_dir() else _around(saved.directory, eval_dir)
    if root is None:
        raise EvalError(
            f"{saved.directory}: the suite that these results belong to is not on this machine"
            + (f", it was in {written.root}" if written is not None else "")
            + "; name the plugin's directory with --root"
        )
    return SuitePlace(root=Path(os.path.abspath(root)), eval_dir=eval_dir)  # noqa: PTH100 -- `resolve` would follow links


def _results_below(directory: Path) -> list[Path]:
    """Return what can be graded in a directory: results, the newest first, else recordings."""
    # By the document: `runs` may be the name of a case in a directory of recordings.
    documents = (path for above in _ABOVE for path in directory.glob(f"{above}{DOCUMENT}"))
    # A replay leaves a document without records.
    results = sorted(
        (path.parent for path in documents if (path.parent / RUNS).is_dir()), reverse=True
    )
    recordings = (path for path in (directory / RECORDINGS,) if path.is_dir())
    return results or list(recordings)


def _around(directory: Path, eval_dir: str | None) -> Path | None:
    directory = Path(os.path.abspath(directory))  # noqa: PTH100 -- as above
    place = eval_directory_of(directory, eval_dir=eval_dir)
    if place is not None:
        return place.root
    plugin = nearest_plugin(directory)
    return plugin.path if plugin is not None else None
