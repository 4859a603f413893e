"""Whose records `plugin-eval report` shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_plugin_eval.cli.main import main
from pytest_plugin_eval.reports.document import document_text
from pytest_plugin_eval.scoring.aggregate import case_result, suite_result
from pytest_plugin_eval.storage.record_files import write_record
from tests.support import results
from tests.support.records import record, said

CASE = results.case_info("first", runs=results.plan(1, 0))
RUN = results.run("with-1", "PP", case=CASE)
SAID = "Bonjour to all of you"
LATER = "2027-01-01T00:00:00.000Z"


def _write(directory: Path, eval_dir: Path) -> str:
    """Write the document of a session with one run, and return its directory."""
    suite = suite_result(
        results.suite_info(eval_dir=str(eval_dir)),
        [case_result(CASE, [RUN], threshold=1.0)],
        partial_reason=None,
    )
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "aggregate-result.json").write_text(document_text(suite), "utf-8")
    return str(directory)


@pytest.mark.parametrize(
    ("results_dir", "records"),
    [
        pytest.param("evals/results/r1", "evals/results/r1/runs", id="session"),
        pytest.param("evals/results/r1", "evals/recordings", id="replay"),
        pytest.param("evals/results/r1/rescored/r2", "evals/results/r1/runs", id="rescored"),
    ],
)
@pytest.mark.parametrize(
    ("started", "is_shown"),
    [
        pytest.param(RUN.outcome.started_at, True, id="its own"),
        pytest.param(LATER, False, id="another run's"),
    ],
)
def test_records_of_the_run_are_shown_and_no_others(
    results_dir: str, records: str, started: str, *, is_shown: bool, tmp_path: Path
) -> None:
    made = replace(record(said(SAID)), key=RUN.key)
    made = replace(made, outcome=replace(made.outcome, started_at=started))
    write_record(tmp_path / records, made)
    place = _write(tmp_path / results_dir, tmp_path / "evals")

    assert main(["report", place]) == 0

    page = Path(place, "report.html").read_text("utf-8")
    assert (SAID in page) is is_shown
    assert ("is the record of another run" in page) is not is_shown
