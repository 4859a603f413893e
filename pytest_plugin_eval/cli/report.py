"""`plugin-eval report`: the page and the table of saved results, rendered again."""

from __future__ import annotations

from pathlib import Path

from pytest_plugin_eval.cli.output import (
    is_ascii,
    say,
    say_all,
    terminal_width,
    write_page,
)
from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.records.codec import read_record
from pytest_plugin_eval.records.layout import record_path
from pytest_plugin_eval.records.model import RunRecord
from pytest_plugin_eval.reports.results_markdown import results_markdown
from pytest_plugin_eval.reports.table import table_lines
from pytest_plugin_eval.results.finding import REPORT, RUNS, found_document
from pytest_plugin_eval.results.rebuilt import rebuilt_suite
from pytest_plugin_eval.results.rebuilt_quality import rebuilt_quality
from pytest_plugin_eval.scoring.model import RunReport
from pytest_plugin_eval.text import plural

__all__ = ["SavedRecords", "report"]

RECORDINGS = "recordings"
RESCORED = "rescored"


class SavedRecords:
    """Records of saved results, which may have moved since they were written."""

    def __init__(self, results: Path, eval_dir: str) -> None:
        """*results* is the directory of the document, *eval_dir* what the document says."""
        # A replay leaves no records of its own: it read those of the suite.
        self._bases = (
            results / RUNS,
            # Results of a rescoring lie below those of the session, whose records they are of.
            *([results.parent.parent / RUNS] if results.parent.name == RESCORED else []),
            Path(eval_dir) / RECORDINGS if eval_dir else results.parent.parent / RECORDINGS,
            results.parent.parent / RECORDINGS,
        )

    def size(self, run: RunReport) -> int:
        """Return the size of the file, 0 when there is none."""
        path = self._path(run)
        return path.stat().st_size if path is not None else 0

    def read(self, run: RunReport) -> RunRecord:
        """Return what is in the file; raises `RecordError`."""
        path = self._path(run)
        if path is None:
            where = f"; the session wrote it to {run.record_path}" if run.record_path else ""
            raise RecordError(f"the record of this run is not beside the results{where}")
        record = read_record(path)
        made, told = record.outcome.started_at, run.outcome.started_at
        if made and told and made != told:
            # Recordings were renewed since, or the directory is another session's.
            raise RecordError(f"{path}: is the record of another run, started {made}, not {told}")
        return record

    def _path(self, run: RunReport) -> Path | None:
        places = [record_path(base, run.key) for base in self._bases]
        if run.record_path:
            places.append(Path(run.record_path))
        return next((place for place in places if place.is_file()), None)


def report(results: Path, *, output: Path | None = None, markdown: bool = False) -> int:
    """Print the table of saved results, write their page, and return the exit code.

    *output* is the page's path, by default ``report.html`` beside the document; with *markdown* the
    table is Markdown, and there is no page by default. Raises `EvalError`.
    """
    document, path = found_document(results)
    suite = rebuilt_suite(document, results_dir=str(path.parent))
    quality = rebuilt_quality(document) or ()
    records = SavedRecords(path.parent, suite.info.eval_dir)
    page = output if markdown else output or path.parent / REPORT
    if page is not None:
        write_page(page, suite, quality, records)
    if markdown:
        say_all(results_markdown(suite, quality))
    else:
        say_all(table_lines(suite, width=terminal_width(), ascii_only=is_ascii()))
    if page is not None:
        missing = sum(records.size(run) == 0 for case in suite.cases for run in case.runs)
        _tell(page, missing, err=markdown)
    return 0


def _tell(page: Path, missing: int, *, err: bool) -> None:
    if missing:
        runs = plural(missing, "run")
        say(f"note: no record of {runs} was found: the page is without them", err=err)
    say(f"report: {page}", err=err)
