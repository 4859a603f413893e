"""A document, read back into a suite, gives the same document again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_plugin_eval.records.model import Arm, Ending
from pytest_plugin_eval.reports.document import document, document_text
from pytest_plugin_eval.results.rebuilt import rebuilt_suite
from pytest_plugin_eval.results.saved_document import parse_document
from pytest_plugin_eval.scoring.aggregate import case_result, suite_result
from pytest_plugin_eval.scoring.model import CaseResult, NotStarted, RunReport, SuiteResult
from tests.support import results


def _one_case(*runs: RunReport) -> SuiteResult:
    """Return a suite of one case, of which no other run was selected."""
    made = sum(run.key.arm is Arm.WITH for run in runs)
    selected = results.plan(made, len(runs) - made)
    info = runs[0].case
    case = case_result(info, runs, threshold=1.0, expected=selected)
    return suite_result(results.suite_info(), [case], partial_reason=None)


def _partly_selected() -> SuiteResult:
    info = results.case_info("picked", runs=results.plan(3, 3))
    runs = [results.run("with-2", "PF", case=info)]
    owed = (NotStarted(case=info.id, runs=("without-1",), reason="cost ceiling $1 reached"),)
    return suite_result(
        results.suite_info(runs_not_started=owed),
        [case_result(info, runs, threshold=0.4, expected=results.plan(1, 1))],
        partial_reason="cost_ceiling",
    )


SUITES: dict[str, Callable[[], SuiteResult]] = {
    "mixed": results.mixed_suite,
    "judged": results.judged_suite,
    "smallest Δ asked for": lambda: results.mixed_suite(min_delta=0.5),
    "partly selected": _partly_selected,
    "aborted": lambda: _one_case(results.aborted("with-1"), results.run("without-1")),
    "cost unknown": lambda: _one_case(
        replace(results.run("with-1", cost_usd=None), judge_known_usd=0.25, judge_cost_usd=None),
        results.attempted(results.run("without-1"), 3),
    ),
    "errored verdict": lambda: _one_case(results.run("with-1", "PE"), results.run("without-1")),
    "turn cap": lambda: _one_case(
        results.run("with-1", "PF", ending=Ending.TURN_LIMIT, error="turn cap of 10 reached"),
        results.lost("without-1"),
    ),
    "nothing": lambda: suite_result(results.suite_info(), [], partial_reason="interrupted"),
}


@pytest.mark.parametrize("name", SUITES)
def test_document_of_a_rebuilt_suite_is_the_same(name: str) -> None:
    text = document_text(SUITES[name]())

    rebuilt = rebuilt_suite(parse_document(text, name))

    assert document_text(rebuilt) == text


@pytest.mark.parametrize("name", SUITES)
def test_cases_of_a_rebuilt_suite_pass_as_they_did(name: str) -> None:
    suite = SUITES[name]()

    rebuilt = rebuilt_suite(parse_document(document_text(suite), name))

    assert [case.passed for case in rebuilt.cases] == [case.passed for case in suite.cases]
    assert rebuilt.partial_reason == suite.partial_reason


def test_run_of_the_reference_that_was_lost_is_no_zero() -> None:
    fields = document(_one_case(results.run("with-1"), results.lost("with-2")))
    runs = fields["cases"][0]["arms"]["with"]  # type: ignore[index]  # plain JSON
    for run in runs:
        for name in ("measured", "unmeasuredReason", "ending", "agentCostUsd", "attempts", "run"):
            run.pop(name, None)
    runs[1]["score"] = 0
    del fields["harness"]

    rebuilt = rebuilt_suite(parse_document(json.dumps(fields), "a document"))

    case: CaseResult = rebuilt.cases[0]
    assert [run.score for run in case.with_runs] == [1.0, None]
    assert case.score == 1.0
    assert case.with_runs[0].outcome.cost_usd == 0.01
