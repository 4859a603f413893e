"""`plugin-eval merge`: results of several machines, joined into one directory."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pytest_plugin_eval.cli.output import (
    copy_out,
    is_ascii,
    say,
    say_all,
    terminal_width,
    write_out,
    write_page,
)
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.records.layout import record_path
from pytest_plugin_eval.records.model import RunKey
from pytest_plugin_eval.reports.document import document_chunks
from pytest_plugin_eval.reports.html_records import RecordFiles
from pytest_plugin_eval.reports.table import table_lines
from pytest_plugin_eval.reports.verdict import Conclusion, conclusion
from pytest_plugin_eval.results.finding import DOCUMENT, REPORT, RUNS, found_document
from pytest_plugin_eval.results.merging import Merged, Part, merged
from pytest_plugin_eval.results.rebuilt_quality import joined_quality
from pytest_plugin_eval.scoring.model import RunReport, SuiteResult
from pytest_plugin_eval.storage.results_dir import new_results_directory
from pytest_plugin_eval.text import plural

__all__ = ["merge"]

SHOWN = 10
"""Missing or doubled runs that are named."""


def merge(sources: Sequence[Path], *, output: Path | None = None, json: Path | None = None) -> int:
    """Merge results, print the table, write what came of it, and return the exit status.

    *output* must be empty or not there; by default a directory named after the time is made beside
    the first of the *sources*. Raises `EvalError`.
    """
    parts = [_part(source) for source in sources]
    _check_distinct(parts)
    found = merged(parts)
    directory = _directory(parts, output)
    try:
        suite = _written(found, parts, directory, json)
    except BaseException:  # also Ctrl-C: half of a result would be taken for one
        _empty(directory, is_ours=output is None)
        raise
    say_all(table_lines(suite, width=terminal_width(), ascii_only=is_ascii()))
    _tell(found)
    say(f"results: {directory / DOCUMENT}")
    say(f"report: {directory / REPORT}")
    verdict = _verdict(suite, found)
    say(f"exit status {verdict.status}: {verdict.text}")
    return verdict.status


def _written(
    found: Merged, parts: Sequence[Part], directory: Path, json: Path | None
) -> SuiteResult:
    """Write records, page and document, the document last, and return what it says."""
    suite = _with_records(found, parts, directory)
    quality = joined_quality(part.document for part in parts)
    records = RecordFiles(Path.cwd())
    verdict = _verdict(suite, found)
    write_page(directory / REPORT, suite, quality or (), records, verdict=verdict)
    for path in (json, directory / DOCUMENT):
        if path is not None:
            write_out(path, document_chunks(suite, quality=quality))
    return suite


def _verdict(suite: SuiteResult, found: Merged) -> Conclusion:
    return conclusion(suite, further=["the results are incomplete"] * (not found.is_complete))


def _empty(directory: Path, *, is_ours: bool) -> None:
    """Remove what was written into a directory that was empty, and a directory that we named."""
    for path in directory.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    if is_ours:
        with contextlib.suppress(OSError):
            directory.rmdir()


def _part(source: Path) -> Part:
    document, path = found_document(source)
    if document.harness is None:
        raise EvalError(
            f"{path}: was written by claude plugin eval, expected results of pytest or "
            "plugin-eval run"
        )
    return Part(name=str(source), document=document, results_dir=str(path.parent))


def _check_distinct(parts: Sequence[Part]) -> None:
    seen: dict[Path, str] = {}
    for part in parts:
        place = Path(part.results_dir).resolve()
        if place in seen:
            raise EvalError(f"{part.name}: is named twice, as {seen[place]} before")
        seen[place] = part.name


def _directory(parts: Sequence[Part], output: Path | None) -> Path:
    place = output or Path(parts[0].results_dir).parent
    try:
        if output is None:
            return new_results_directory(place, datetime.now(UTC))
        output.mkdir(parents=True, exist_ok=True)
        is_empty = next(output.iterdir(), None) is None
    except OSError as error:
        option = "" if output is not None else ", expected a place to write to by --output-dir"
        reason = error.strerror or type(error).__name__
        raise EvalError(f"{place}: no results can be written there: {reason}{option}") from error
    if not is_empty:
        raise EvalError(f"{output}: is not empty, expected a new directory for the merged results")
    return output


def _with_records(found: Merged, parts: Sequence[Part], directory: Path) -> SuiteResult:
    """Copy the records that there are, and return the suite with their new places."""
    cases = []
    for case in found.suite.cases:
        runs = {
            run.key: _with_record(run, parts[found.sources[run.key]], directory)
            for run in case.runs
        }
        cases.append(
            replace(
                case,
                with_runs=tuple(runs[run.key] for run in case.with_runs),
                without_runs=tuple(runs[run.key] for run in case.without_runs),
            )
        )
    return replace(found.suite, cases=tuple(cases))


def _with_record(run: RunReport, part: Part, directory: Path) -> RunReport:
    source = record_path(Path(part.results_dir, RUNS), run.key)
    if not source.is_file():
        return replace(run, results_dir=str(directory))
    target = record_path(directory / RUNS, run.key)
    copy_out(source, target)
    return replace(run, record_path=str(target), results_dir=str(directory))


def _tell(found: Merged) -> None:
    lines = []
    if found.missing_shards:
        shards = plural(len(found.missing_shards), "shard")
        lines.append(f"missing: {shards}, {_few(found.missing_shards)}")
    if found.missing:
        runs = plural(len(found.missing), "planned run")
        lines.append(f"missing: {runs}, {_runs(found.missing)}")
    if found.doubled:
        runs = plural(len(found.doubled), "run")
        same = "in several of them, the same and counted once"
        lines.append(f"{same}: {runs}, {_runs(found.doubled)}")
    say_all(lines, width=terminal_width())


def _runs(keys: Sequence[RunKey]) -> str:
    return _few([f"{key.case} {key.arm.value}-{key.number}" for key in keys])


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
