"""The comparison itself: what it calls a difference, and what accounts for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.differential import compare
from tests.differential.compare import Comparison, Difference
from tests.differential.suite import Suite
from tests.differential.table import table_lines
from tests.support.reference import ReferenceResult

RESULT = ReferenceResult(exit_code=0, stdout="", stderr="", document=None)
A = {"dir": "a", "arms": {"with": [{"score": 1, "error": None}]}}
B = {"dir": "b", "arms": {"with": [{"score": 0.5, "error": "exit 1"}]}}


def differences(theirs: object, ours: object) -> list[str]:
    pairs = compare._pairs(theirs, ours, "")
    return [path for path, one, other in pairs if not compare._same(path, one, other)]


@pytest.mark.parametrize(
    ("theirs", "ours", "paths"),
    [
        ({"a": 1}, {"a": 1, "own": 2}, []),
        ({"a": 1}, {}, ["a"]),
        ({"a": 1}, {"a": 1.0000000000000002}, []),
        ({"a": 1}, {"a": 1.1}, ["a"]),
        ({"a": 1}, {"a": None}, ["a"]),
        ({"a": True}, {"a": False}, ["a"]),
        ({"a": True}, {"a": 1}, ["a"]),
        ({}, {"partialReason": "x"}, ["partialReason"]),
        ({"cases": [A, B]}, {"cases": [A, B]}, []),
        ({"cases": [A, B]}, {"cases": [B, A]}, ["cases.order"]),
        ({"cases": [A, B]}, {"cases": [A]}, ["cases.b"]),
        ({"cases": [A]}, {"cases": [A, B]}, ["cases.b"]),
        (
            {"cases": [B]},
            {"cases": [{"dir": "b", "arms": {"with": [{"score": 0.25, "error": "other words"}]}}]},
            ["cases.b.arms.with.0.score"],
        ),
        ({"error": "x"}, {"error": None}, ["error"]),
        ({"runs": [1, 2]}, {"runs": [1]}, ["runs.1"]),
        (None, {"cases": []}, [""]),
    ],
)
def test_differences(theirs: object, ours: object, paths: list[str]) -> None:
    assert differences(theirs, ours) == paths


@pytest.mark.parametrize(
    ("deviations", "problems"),
    [
        ({}, ["a.score: reference 0, ours None"]),
        ({"D1": ["a.*"]}, []),
        ({"D1": ["a.score", "?b"]}, []),
        ({"D1": ["a.score", "b"]}, ["D1: nothing differs in b"]),
        ({"D1": ["b*"]}, ["a.score: reference 0, ours None", "D1: nothing differs in b*"]),
    ],
)
def test_unexplained(deviations: dict[str, list[str]], problems: list[str]) -> None:
    comparison = Comparison(
        theirs=RESULT, ours=RESULT, equal=3, differences=(Difference("a.score", 0, None),)
    )

    assert comparison.unexplained(deviations) == problems


def test_places_and_times_do_not_count(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    document = {"root": f"{tmp_path}/x", "startedAt": "now", "cases": [{"durationSeconds": 3}]}

    assert compare._plain(document, suite) == {"root": "<root>/x", "cases": [{}]}


def test_table() -> None:
    rows: list[dict[str, object]] = [
        {"suite": "second", "equal": 20, "rows": {"D1": 2}, "unexplained": 0},
        {"suite": "first", "equal": 3, "rows": {}, "unexplained": 1},
    ]

    assert table_lines(rows) == [
        "SUITE     EQUAL  DEVIATING",
        "first         3  UNEXPLAINED: 1",
        "second       20  D1: 2",
        "2 suites     23  D1: 2",
    ]
