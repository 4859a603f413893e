"""The result document. Spec: behaviour-evals, 9."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from pytest_plugin_eval.reports.document import document, document_text
from pytest_plugin_eval.scoring.aggregate import suite_result
from pytest_plugin_eval.scoring.model import Verdict
from tests.support.golden import check_golden
from tests.support.results import (
    aborted,
    attempted,
    case,
    case_info,
    judged,
    judged_suite,
    lost,
    mixed_suite,
    run,
    suite_info,
    verdict,
)


def test_document_of_a_mixed_suite() -> None:
    text = document_text(mixed_suite(model="haiku", case_filter="*", tag_filters=("smoke",)))

    check_golden("document.json", re.sub(r'("version": )"0[^"]*"', r'\1"<version>"', text))


def test_document_of_a_judged_suite() -> None:
    text = document_text(judged_suite(judge_model="haiku"))

    check_golden("judged.json", re.sub(r'("version": )"0[^"]*"', r'\1"<version>"', text))


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


def test_aborted_run_is_a_measured_zero() -> None:
    suite = suite_result(
        suite_info(), [case(None, aborted("with-1"), run("without-1"))], partial_reason=None
    )

    (entry,) = json.loads(document_text(suite))["cases"]

    (gone,) = entry["arms"]["with"]
    assert (gone["score"], gone["measured"], gone["passed"]) == (0, True, False)
    assert (gone["error"], gone["ending"], gone["graders"]) == (None, "aborted", [])
    assert gone["aborted"] == {"server": "tracker", "tool": "find", "reason": "x is bad"}
    assert entry["aggregates"]["delta"] == -1


def test_verdicts_that_were_not_reached_stand_apart() -> None:
    suite = suite_result(suite_info(), [case(None, run("with-1", "PS"))], partial_reason=None)

    ((entry,),) = (c["arms"]["with"] for c in json.loads(document_text(suite))["cases"])

    assert [grader["name"] for grader in entry["graders"]] == ["g1"]
    assert entry["gradersWithoutVerdict"] == [
        {"name": "g2", "status": "skipped", "explanation": "no x", "scored": False}
    ]
    assert entry["skippedPaidGraders"] is True


def _with_graders(*graded: Verdict) -> list[dict[str, object]]:
    suite = suite_result(suite_info(), [case(None, run("with-1", graded))], partial_reason=None)
    ((entry,),) = (c["arms"]["with"] for c in json.loads(document_text(suite))["cases"])
    graders: list[dict[str, object]] = entry["graders"]
    return graders


def test_judge_verdict_carries_votes_evidence_and_model() -> None:
    (entry,) = _with_graders(judged("F", "P?F", evidence=""))

    assert entry["judgeVotes"] == [True, False, False]
    assert (entry["evidence"], entry["unreadableVotes"]) == ("", 1)
    assert entry["judgeModel"] == "claude-haiku-4-5"


def test_baseline_verdict_has_votes_and_no_evidence() -> None:
    (entry,) = _with_graders(replace(judged("P", "PPP"), type="baseline"))

    assert entry["judgeVotes"] == [True, True, True]
    assert not {"evidence", "unreadableVotes"} & set(entry)


def test_free_verdict_has_nothing_of_a_judge() -> None:
    (entry,) = _with_graders(verdict("P"))

    assert not {"judgeVotes", "evidence", "unreadableVotes", "judgeModel"} & set(entry)


@pytest.mark.parametrize(
    ("agent", "judge", "part"),
    [(None, 0.25, "agentUsd"), (0.25, None, "judgeUsd")],
    ids=["agent", "judge"],
)
def test_unknown_cost_is_null_wherever_it_is_summed(
    agent: float | None, judge: float | None, part: str
) -> None:
    runs = [
        run("with-1", cost_usd=agent, judge_cost_usd=judge),
        run("without-1", cost_usd=0.25),
    ]
    suite = suite_result(suite_info(), [case(None, *runs)], partial_reason=None)

    written = json.loads(document_text(suite))

    (entry,) = written["cases"]
    assert written["costs"] == entry["costs"]
    assert [entry["costs"][key] for key in ("withUsd", "withoutUsd", part)] == [None, 0.25, None]
    assert (entry["costs"]["knownUsd"], entry["costs"]["unknownRuns"]) == (0.5, 1)
    assert written["costUsd"] is entry["arms"]["with"][0]["costUsd"] is None


def test_sum_of_what_is_known_stands_beside_an_unknown_one() -> None:
    runs = [run("with-1", cost_usd=0.25, judge_cost_usd=None), run("with-2", cost_usd=0.5)]
    suite = suite_result(suite_info(), [case(None, *runs)], partial_reason=None)

    costs = document(suite)["costs"]

    assert costs == {
        "withUsd": None,
        "agentUsd": 0.75,
        "judgeUsd": None,
        "knownUsd": 0.75,
        "unknownRuns": 1,
    }


def test_hints_of_a_case_are_those_of_its_definition_and_of_its_runs() -> None:
    fired = {"name": "fired", "type": "tool_used", "config": {"tool": "Skill"}}
    info = replace(case_info(), graders=(fired,), hints=("no negative case",))
    graded = (verdict("P", "fired", with_only=True, scored=False), judged("F", "FFF"))
    suite = suite_result(
        suite_info(), [case(info, run("with-1", graded, case=info))], partial_reason=None
    )

    (entry,) = json.loads(document_text(suite))["cases"]

    first, second = entry["hints"]
    assert first == "no negative case"
    assert second.startswith("evals/first-case: grader 'tone' failed 1 of 1 run")


def test_run_of_an_earlier_session_is_marked() -> None:
    runs = [replace(run("with-1"), is_taken_over=True), attempted(run("with-2"), 3)]
    suite = suite_result(suite_info(resumed=1), [case(None, *runs)], partial_reason=None)

    written = json.loads(document_text(suite))

    (entries,) = (c["arms"]["with"] for c in written["cases"])
    assert [entry.get("takenOver") for entry in entries] == [True, None]
    assert [entry["attempts"] for entry in entries] == [1, 3]
    assert written["suite"]["runsTakenOver"] == 1
