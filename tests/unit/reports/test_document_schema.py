"""The schema of the result document describes what is written, and refuses what is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pytest_plugin_eval.quality.score import ScoreOptions, score_target
from pytest_plugin_eval.reports.document import document_text
from pytest_plugin_eval.reports.document_schema import document_schema
from pytest_plugin_eval.scoring.aggregate import suite_result
from pytest_plugin_eval.scoring.model import NotStarted, SuiteResult
from tests.support.golden import DIRECTORY
from tests.support.results import (
    aborted,
    attempted,
    case,
    judged_suite,
    lost,
    mixed_suite,
    run,
    suite_info,
)
from tests.support.schemas import check_document, complaints, undescribed

Json = dict[str, Any]
EXAMPLE = Path(__file__).parents[3] / "example_plugin"
GOLDEN = [
    path
    for path in sorted(DIRECTORY.glob("*.json"))
    if "schemaVersion" in path.read_text(encoding="utf-8")
]
EVERY_OPTION = {
    "plugin_id": "demo@market",
    "model": "haiku",
    "judge_model": "sonnet",
    "case_filter": "*",
    "tag_filters": ("smoke",),
    "min_delta": 0.1,
    "ceiling_usd": 2.0,
    "not_started": ("evals/x",),
    "runs_not_started": (NotStarted(case="evals/x", runs=("with-1",), reason="ceiling"),),
    "resumed": 3,
    "recorded": "2026-01-31 with Claude Code 2.1.332",
}
SUITES: dict[str, SuiteResult] = {
    "mixed": mixed_suite(**EVERY_OPTION),
    "judged": judged_suite(judge_model="haiku"),
    "empty": suite_result(suite_info(), [], partial_reason="interrupted"),
    "aborted": suite_result(
        suite_info(), [case(None, aborted("with-1"), lost("without-1"))], partial_reason=None
    ),
    "repeated": suite_result(
        suite_info(),
        [case(None, attempted(run("with-1", "PS", cost_usd=None), 2))],
        partial_reason=None,
    ),
}


def test_schema_is_one_of_the_dialect() -> None:
    schema = document_schema()

    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == "urn:pytest-plugin-eval:schema:result"


def test_every_field_has_title_and_description() -> None:
    schema: Json = document_schema()

    bare = [
        f"{part['title']}.{name}"
        for part in (schema, *schema["$defs"].values())
        for name, field in part.get("properties", {}).items()
        if not (field.get("title") and field.get("description"))
    ]

    assert bare == []


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_document_is_described(path: Path) -> None:
    check_document(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", SUITES)
def test_document_is_described(name: str) -> None:
    check_document(json.loads(document_text(SUITES[name])))


def test_document_with_quality_scores_is_described() -> None:
    report = score_target(str(EXAMPLE), ScoreOptions())
    reports = (report, replace(report, problems=("a file could not be read",)))

    document = json.loads(document_text(SUITES["mixed"], quality=reports))

    assert document["composite"]["skills"]
    assert len(document["composites"]) == len(reports)
    check_document(document)


def test_document_of_a_plugin_that_could_not_be_scored_is_described() -> None:
    document = json.loads(document_text(SUITES["mixed"], quality=()))

    assert document["composite"] is None
    check_document(document)


def test_field_of_a_later_version_is_none_of_its_business() -> None:
    document = _golden()
    document["suite"]["weather"] = "fine"

    assert complaints("result", document) == []
    assert undescribed(document) == ["$.suite.weather"]


WRONG: dict[str, Callable[[Json], object]] = {
    "no-cases": lambda document: document.pop("cases"),
    "no-arms": lambda document: document["cases"][0].pop("arms"),
    "version": lambda document: document.update(schemaVersion=2),
    "cost-text": lambda document: document.update(costUsd="0.01"),
    "cost-negative": lambda document: document.update(costUsd=-1),
    "reason": lambda document: document.update(partialReason="bored"),
    "reason-null": lambda document: document.update(partialReason=None),
    "score-percent": lambda document: _run(document).update(score=75),
    "passed-null": lambda document: _run(document).update(passed=None),
    "ending": lambda document: _run(document).update(ending="well"),
    "votes": lambda document: _run(document)["graders"][0].update(judgeVotes=["PASS"]),
    "source": lambda document: document["cases"][0].update(source="yaml"),
    "model-null": lambda document: document["cases"][0].update(model=None),
    "composite-text": lambda document: document.update(composite="gold"),
    "composite-list": lambda document: document.update(composites=[{"plugin": "demo"}]),
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_wrong_document_is_refused(change: Callable[[Json], object]) -> None:
    document = _golden()
    assert complaints("result", document) == []

    change(document)

    assert complaints("result", document)


def _golden() -> Json:
    document: Json = json.loads((DIRECTORY / "document.json").read_text(encoding="utf-8"))
    return document


def _run(document: Json) -> Json:
    run_of_case: Json = document["cases"][0]["arms"]["with"][0]
    return run_of_case
