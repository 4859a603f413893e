"""The result document. Spec: behaviour-evals, 9."""

from __future__ import annotations

import json
import re

import pytest

from pytest_plugin_eval.reports.document import document, document_text
from pytest_plugin_eval.scoring.aggregate import suite_result
from tests.support.golden import check_golden
from tests.support.results import case, case_info, lost, mixed_suite, run, suite_info, verdict


def test_document_of_a_mixed_suite() -> None:
    text = document_text(mixed_suite(model="haiku", case_filter="*", tag_filters=("smoke",)))

    check_golden("document.json", re.sub(r'("version": )"0[^"]*"', r'\1"<version>"', text))


def test_document_text_is_json_as_the_reference_writes_it() -> None:
    info = case_info("größe")
    reached = verdict("P", explanation="lone \ud800 surrogate")

    text = document_text(
        suite_result(
            suite_info(), [case(info, run("with-1", (reached,), case=info))], partial_reason=None
        )
    )

    assert text.endswith("}\n")
    assert '"name": "größe"' in text
    assert '"score": 1,' in text
    assert "lone \ufffd surrogate" in text
    assert text.encode("utf-8").decode("utf-8") == text


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_number_that_is_not_finite_does_not_cost_the_document(number: float) -> None:
    suite = suite_result(suite_info(duration_s=number, threshold=number), [], partial_reason=None)

    written = json.loads(document_text(suite))

    assert (written["suite"]["threshold"], written["durationSeconds"]) == (None, None)
    assert written["aggregates"]["casesTotal"] == 0


def test_empty_suite_has_zero_aggregates() -> None:
    empty = document(suite_result(suite_info(), [], partial_reason="cost_ceiling"))

    assert empty["partialReason"] == "cost_ceiling"
    assert empty["aggregates"] == {
        "casesTotal": 0,
        "casesPassed": 0,
        "overallScore": 0,
        "overallPassRate": 0,
        "runsTotal": 0,
        "runsMeasured": 0,
    }


def test_lost_run_is_no_zero() -> None:
    suite = suite_result(
        suite_info(), [case(None, run("with-1"), lost("without-1"))], partial_reason=None
    )

    (entry,) = json.loads(document_text(suite))["cases"]

    (gone,) = entry["arms"]["without"]
    assert (gone["score"], gone["measured"], gone["passed"]) == (None, False, False)
    assert gone["error"] == gone["unmeasuredReason"] == "API Error: 529 overloaded"
    assert entry["aggregates"] == {
        "score": 1,
        "passRate": 1,
        "withheld": "asymmetric loss: 1 of 1 without-runs not measured",
    }


def test_verdicts_that_were_not_reached_stand_apart() -> None:
    suite = suite_result(suite_info(), [case(None, run("with-1", "PS"))], partial_reason=None)

    ((entry,),) = (c["arms"]["with"] for c in json.loads(document_text(suite))["cases"])

    assert [grader["name"] for grader in entry["graders"]] == ["g1"]
    assert entry["gradersWithoutVerdict"] == [
        {"name": "g2", "status": "skipped", "explanation": "no x", "scored": False}
    ]
    assert entry["skippedPaidGraders"] is True
