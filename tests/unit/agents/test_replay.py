"""When a record is stale."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.agents.replay import changed_since
from pytest_plugin_eval.cases.fingerprint import scaffold_hash
from pytest_plugin_eval.records.model import Arm, Ending, RunKey, RunOutcome, RunRecord
from pytest_plugin_eval.records.trace import Trace
from tests.support.agents import make_case, write_files


@pytest.mark.parametrize(
    ("was_run", "later", "changed"),
    [
        (True, "one", []),
        (True, "two", ["the scaffold script"]),
        (False, "two", []),
    ],
    ids=["same", "changed", "never-run"],
)
def test_record_is_stale_when_the_script_that_was_run_has_changed(
    tmp_path: Path, was_run: bool, later: str, changed: list[str]
) -> None:
    root = write_files(tmp_path, {"evals/hello/s.sh": "one"})
    case = make_case(root, scaffold_script="s.sh")
    record = RunRecord(
        key=RunKey(case=case.id, arm=Arm.WITH, number=1),
        outcome=RunOutcome(ending=Ending.COMPLETED),
        trace=Trace(),
        provenance={"scaffold": scaffold_hash(case)} if was_run else {},
    )

    write_files(tmp_path, {"evals/hello/s.sh": later})

    assert changed_since(case, record) == changed
