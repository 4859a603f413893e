"""Where records lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.records.layout import record_path, recorded_keys
from pytest_plugin_eval.records.model import Arm, RunKey


def test_path_is_case_then_arm_and_number() -> None:
    key = RunKey(case="evals/group/first", arm=Arm.WITHOUT, number=12)

    assert record_path(Path("runs"), key) == Path("runs/evals/group/first/without-12.jsonl")


@pytest.mark.parametrize(
    "case", ["", ".", "..", "/etc", "a/../../b", "a//b", "a/", "a/./b", "a\0b"]
)
def test_path_refuses_a_case_id_that_is_no_plain_path(case: str) -> None:
    with pytest.raises(RecordError, match="case id must be a relative path"):
        record_path(Path("runs"), RunKey(case=case, arm=Arm.WITH, number=1))


def test_keys_are_those_of_the_written_files_sorted(tmp_path: Path) -> None:
    keys = (
        RunKey(case="evals/a b", arm=Arm.WITH, number=2),
        RunKey(case="evals/a b", arm=Arm.WITH, number=10),
        RunKey(case="evals/a b", arm=Arm.WITHOUT, number=1),
        RunKey(case="evals/é/x", arm=Arm.WITH, number=1),
    )
    for key in reversed(keys):
        path = record_path(tmp_path, key)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    assert recorded_keys(tmp_path) == keys


@pytest.mark.parametrize(
    "name",
    ["with-1.jsonl", "c/with-0.jsonl", "c/with-01.jsonl", "c/both-1.jsonl", "c/with-1.jsonl.tmp"],
)
def test_other_files_are_no_records(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.touch()

    assert recorded_keys(tmp_path) == ()


def test_a_directory_that_is_not_there_holds_no_records(tmp_path: Path) -> None:
    assert recorded_keys(tmp_path / "absent") == ()
