"""What is read of a document: ours, the reference's, and what is neither."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.records.model import Ending
from pytest_plugin_eval.reports.document import document
from pytest_plugin_eval.results.rebuilt import rebuilt_suite
from pytest_plugin_eval.results.saved_document import parse_document, read_document
from tests.support import results

Fields = dict[str, Any]
GRADER = {"name": "flag", "passed": True, "weight": 1, "explanation": "x", "scored": True}


def _ours() -> Fields:
    fields: Fields = json.loads(json.dumps(document(results.mixed_suite())))
    return fields


def _of_the_reference(run: Mapping[str, object]) -> str:
    """Return a document as the reference writes it, with one run."""
    own = {"score": 1, "passed": True, "turns": 2, "costUsd": 0.5, "error": None}
    own |= {"judgeCostUsd": 0, "durationSeconds": 3, "skippedPaidGraders": False}
    arms = {"with": [{**own, "graders": [GRADER], **run}]}
    case = {"name": "one", "dir": "evals/one", "arms": arms, "aggregates": {"score": 1}}
    suite = {"root": "/plugin", "ablation": "none", "threshold": 1, "concurrency": 1, "plugins": []}
    return json.dumps({"schemaVersion": 1, "suite": suite, "cases": [case]})


@pytest.mark.parametrize(
    ("run", "ending", "is_measured"),
    [
        pytest.param({}, Ending.COMPLETED, True, id="normal"),
        pytest.param(
            {"error": "exit 1: Reached maximum number of turns (3)"},
            Ending.TURN_LIMIT,
            True,
            id="turn cap",
        ),
        pytest.param({"error": "timed out after 9s"}, Ending.TIMED_OUT, True, id="time limit"),
        pytest.param(
            {"error": "timed out after 9s", "turns": 0},
            Ending.TIMED_OUT,
            False,
            id="time limit before any turn",
        ),
        pytest.param(
            {"error": "exit 1: API Error: output limit"}, Ending.STOPPED, True, id="output limit"
        ),
        pytest.param(
            {"error": "exit 1: API Error: 529 overloaded", "graders": [], "score": 0},
            Ending.AGENT_ERROR,
            False,
            id="API error",
        ),
        pytest.param(
            {"error": 'case "one": no such file', "graders": [], "score": 0, "turns": 0},
            Ending.AGENT_ERROR,
            False,
            id="set-up failure",
        ),
        pytest.param(
            {"error": "exit 1: Not logged in"}, Ending.CREDENTIAL_REFUSED, False, id="no credential"
        ),
        pytest.param({"error": "interrupted"}, Ending.INTERRUPTED, False, id="interrupted"),
        pytest.param(
            {
                "aborted": {"server": "s", "tool": "t", "reason": "r"},
                "graders": [],
                "score": 0,
                "passed": False,
            },
            Ending.ABORTED,
            True,
            id="mock abort",
        ),
        pytest.param({"skippedPaidGraders": True}, Ending.COMPLETED, False, id="ceiling"),
        pytest.param(
            {"graders": [{**GRADER, "explanation": "grader threw: judge call failed: 529"}]},
            Ending.COMPLETED,
            False,
            id="judge failed",
        ),
        pytest.param({"score": None}, Ending.COMPLETED, False, id="infinite weight"),
    ],
)
def test_run_of_the_reference_is_measured_by_our_rules(
    run: Mapping[str, object], ending: Ending, *, is_measured: bool
) -> None:
    suite = rebuilt_suite(parse_document(_of_the_reference(run), "a document"))

    (found,) = suite.cases[0].runs
    assert (found.outcome.ending, found.measured) == (ending, is_measured)
    assert (found.score is not None) is is_measured
    assert is_measured or found.unmeasured_reason
    assert (suite.partial_reason is None) is is_measured


def _twice(fields: Fields, *path: Any) -> None:
    listed: Any = fields
    for key in path:
        listed = listed[key]
    listed.append(listed[0])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(
            lambda fields: _twice(fields, "cases"),
            "the file: case 'evals/a-very-long-name",
            id="case",
        ),
        pytest.param(
            lambda fields: _twice(fields, "cases", 1, "arms", "with"),
            "cases.1: run with-1 is there twice",
            id="run",
        ),
        pytest.param(
            lambda fields: fields["suite"].update(shard="x/2"), "suite.shard", id="odd shard"
        ),
        pytest.param(
            lambda fields: fields["suite"].update(threshold=float("nan")),
            "suite.threshold",
            id="not a number",
        ),
        pytest.param(
            lambda fields: fields["cases"][0]["plan"].update({"with": 10**12}),
            "cases.0.plan.with",
            id="more runs than can be",
        ),
        pytest.param(
            lambda fields: fields.update(partialReason="bored"), "partialReason", id="odd reason"
        ),
        pytest.param(
            lambda fields: fields.update(schemaVersion=2, cases="elsewhere"),
            "written by a newer version: schema 2, this version reads up to 1",
            id="newer",
        ),
        pytest.param(lambda fields: fields.pop("suite"), "suite: Field required", id="no suite"),
    ],
)
def test_document_that_cannot_be_right_is_refused_in_one_line(
    change: Callable[[Fields], object], said: str
) -> None:
    fields = _ours()
    change(fields)

    with pytest.raises(EvalError, match=r"^a document: ") as caught:
        parse_document(json.dumps(fields), "a document")

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250


def test_document_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(EvalError, match="cannot read the result document: Is a directory"):
        read_document(tmp_path)
