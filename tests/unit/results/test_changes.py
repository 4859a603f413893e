"""An old document and a new result, compared grader by grader."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_plugin_eval.cli.rescore_lines import case_lines, grader_lines, summary_line
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.records.model import Arm, RunKey
from pytest_plugin_eval.reports.document import document_text
from pytest_plugin_eval.results.changes import GraderChange, changes
from pytest_plugin_eval.results.saved_document import SavedDocument, parse_document
from pytest_plugin_eval.scoring.aggregate import suite_result
from pytest_plugin_eval.scoring.model import CaseResult, SuiteResult, Verdict, VerdictStatus
from tests.support.results import case, case_info, mixed_suite, plan, run, suite_info, verdict

INFO = case_info(runs=plan(2, 0))
PASSED, FAILED, ERRORED = VerdictStatus.PASSED, VerdictStatus.FAILED, VerdictStatus.ERRORED


def suite(*cases: CaseResult) -> SuiteResult:
    """Return the result of these cases."""
    return suite_result(suite_info(), cases, partial_reason=None)


def saved(result: SuiteResult) -> SavedDocument:
    """Return a result as it is read back from its document."""
    return parse_document(document_text(result), "old.json")


def one(*graded: tuple[Verdict, ...]) -> SuiteResult:
    """Return a suite of one case with a with-run for each of *graded*."""
    runs = [run(f"with-{n}", verdicts, case=INFO) for n, verdicts in enumerate(graded, 1)]
    return suite(case(INFO, *runs))


def judged(status: str, votes: str) -> Verdict:
    """Return a verdict by votes, `P` or `F` each."""
    words = " ".join("PASS" if vote == "P" else "FAIL" for vote in votes)
    return replace(
        verdict(status, "tone", explanation=f"judge votes: {words}"),
        type="llm",
        votes=tuple(vote == "P" for vote in votes),
    )


def test_same_result_has_no_change() -> None:
    result = mixed_suite()

    found = changes(saved(result), result)

    assert (found.changed, found.lost) == (0, 0)
    assert found.compared == sum(len(r.verdicts) for c in result.cases for r in c.runs)


def test_flipped_verdict_is_told_with_its_votes() -> None:
    old = one((judged("P", "PPP"), verdict("P", "flag")))
    new = one((judged("F", "FFP"), verdict("P", "flag")))

    found = changes(saved(old), new)

    assert found.cases[0].graders == (
        GraderChange(
            key=RunKey(case="evals/first-case", arm=Arm.WITH, number=1),
            grader="tone",
            old=PASSED,
            new=FAILED,
            old_votes=(True, True, True),
            new_votes=(False, False, True),
            explanation="judge votes: FAIL FAIL PASS",
        ),
    )
    assert list(grader_lines(found)) == [
        "first-case with-1 tone: passed -> failed: "
        "judge votes: FAIL FAIL PASS (before: PASS PASS PASS)",
    ]
    assert list(case_lines(found)) == ["first-case: score 1.00 -> 0.50"]
    assert summary_line(found) == "1 of 2 verdicts changed, in 1 of 1 case"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("P", "E", [(PASSED, ERRORED)], id="no-verdict-any-more"),
        pytest.param("E", "P", [(ERRORED, PASSED)], id="a-verdict-at-last"),
        pytest.param("E", "E", [], id="still-none"),
        pytest.param("F", "P", [(FAILED, PASSED)], id="failed-then-passed"),
        pytest.param("F", "F", [], id="failed-still"),
    ],
)
def test_statuses(old: str, new: str, expected: list[tuple[VerdictStatus, VerdictStatus]]) -> None:
    found = changes(saved(one((verdict(old),))), one((verdict(new),)))

    assert [(change.old, change.new) for change in found.cases[0].graders] == expected


def test_graders_that_came_and_went() -> None:
    found = changes(saved(one((verdict("P", "a"),))), one((verdict("P", "b"),)))

    assert list(grader_lines(found)) == [
        "first-case with-1 b: absent -> passed: matched x",
        "first-case with-1 a: passed -> absent: matched x",
    ]


def test_run_that_is_not_measured_any_more() -> None:
    found = changes(saved(one((verdict("P"),))), one((verdict("E", explanation="no judge"),)))

    assert found.lost == 1
    assert list(grader_lines(found))[1] == (
        "first-case with-1: not measured any more: grader 'flag' errored: no judge"
    )
    assert list(case_lines(found)) == ["first-case: score 1.00 -> —"]
    assert summary_line(found).endswith("; 1 run not measured any more")


def test_run_that_never_was_measured_is_not_lost() -> None:
    unmeasured = one((verdict("E"),))

    assert changes(saved(unmeasured), unmeasured).lost == 0


def test_delta_stands_beside_the_score() -> None:
    info = case_info(runs=plan(1, 1))
    old, new = (
        suite(case(info, run("with-1", letters, case=info), run("without-1", "PF", case=info)))
        for letters in ("PP", "FF")
    )

    lines = list(case_lines(changes(saved(old), new)))

    assert lines == ["first-case: score 1.00 -> 0.00, Δ +0.50 -> -0.50"]


def test_cases_are_matched_by_id() -> None:
    first, second = case_info("first", runs=plan(1, 0)), case_info("second", runs=plan(1, 0))
    old = suite(case(first, run("with-1", "P", case=first)))
    new = suite(case(second, run("with-1", "P", case=second)))

    found = changes(saved(old), new)

    assert [(one.case, one.is_new, one.old_score) for one in found.cases] == [
        ("evals/second", True, None)
    ]


def test_runs_without_a_number_are_counted() -> None:
    plain = json.loads(document_text(one((verdict("P"),), (verdict("F"),))))
    del plain["harness"]
    for entry in plain["cases"][0]["arms"]["with"]:
        del entry["run"], entry["measured"]

    read = parse_document(json.dumps(plain), "foreign.json")

    assert list(read.cases[0].runs()) == [(Arm.WITH, 1), (Arm.WITH, 2)]
    assert changes(read, one((verdict("P"),), (verdict("P"),))).changed == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "old.json: is no result document: the file: ", id="empty"),
        pytest.param("[]", "old.json: is no result document: the file: ", id="list"),
        pytest.param("{}", "old.json: is no result document: schemaVersion: ", id="object"),
        pytest.param(
            document_text(one((verdict("P"),))).replace('"passed": true', '"passed": "perhaps"'),
            "old.json: is no result document: cases.0.arms.with.0.passed: ",
            id="bad-value",
        ),
        pytest.param(
            document_text(mixed_suite()).replace('"schemaVersion": 1', '"schemaVersion": 2'),
            "old.json: written by a newer version: schema 2, this version reads up to 1",
            id="newer",
        ),
    ],
)
def test_what_is_no_document_is_refused(text: str, message: str) -> None:
    with pytest.raises(EvalError) as caught:
        parse_document(text, "old.json")

    assert str(caught.value).startswith(message)
