"""Properties for JUnit XML."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_plugin_eval.reports.junit import run_properties, suite_properties, verdict_properties
from pytest_plugin_eval.scoring.aggregate import suite_result
from tests.support.results import case, judged, judged_suite, lost, run, suite_info


def test_properties_of_a_run() -> None:
    report = run("with-2", "PPF", cost_usd=0.25)

    assert run_properties(report, threshold=1.0) == [
        ("arm", "with"),
        ("run", "2"),
        ("score", "0.6666666666666666"),
        ("threshold", "1"),
        ("cost_usd", "0.25"),
    ]


def test_judged_run_has_the_price_of_its_votes_and_repeated_one_its_attempts() -> None:
    report = run("with-2", (judged("P", "PPF"),), cost_usd=0.25, judge_cost_usd=0.5)
    again = replace(report, outcome=replace(report.outcome, attempts=2))

    properties = dict(run_properties(again, threshold=1.0))

    assert properties["cost_usd"] == "0.75"
    assert properties["judge_cost_usd"] == "0.5"
    assert properties["attempts"] == "2"


def test_lost_run_has_no_number() -> None:
    assert ("score", "not measured") in run_properties(lost("with-1"), threshold=1.0)


@pytest.mark.parametrize(
    ("agent", "judge", "absent", "present"),
    [
        (None, 0.25, {"cost_usd"}, {"judge_cost_usd"}),
        (0.25, None, {"cost_usd", "judge_cost_usd"}, set()),
    ],
    ids=["agent", "judge"],
)
def test_unknown_cost_is_left_out_of_all_properties(
    agent: float | None, judge: float | None, absent: set[str], present: set[str]
) -> None:
    report = run("with-1", (judged("P", "PPP"),), cost_usd=agent, judge_cost_usd=judge)
    result = case(None, report, run("with-2"))
    suite = suite_result(suite_info(), [result], partial_reason=None)

    found = [
        dict(run_properties(report, threshold=1.0)).keys(),
        dict(verdict_properties(result, threshold=1.0)).keys(),
        {name.removeprefix("plugin_eval_") for name, _ in suite_properties(suite)},
    ]

    assert [names & absent for names in found] == [set()] * 3
    assert [names & present for names in found] == [present] * 3


def test_properties_of_a_verdict() -> None:
    result = case(None, run("with-1"), run("without-1", "PF"))

    assert verdict_properties(result, threshold=0.5) == [
        ("with", "1"),
        ("without", "0.5"),
        ("delta", "0.5"),
        ("runs_measured", "2"),
        ("runs", "2"),
        ("threshold", "0.5"),
        ("cost_usd", "0.02"),
    ]


def test_withheld_delta_says_why() -> None:
    properties = dict(verdict_properties(case(None, lost("with-1"), run("without-1")), threshold=1))

    assert properties["with"] == "not measured"
    assert properties["withheld"] == "asymmetric loss: 1 of 1 with-runs not measured"
    assert not {"delta", "without"} & set(properties)


def test_properties_of_a_suite_carry_a_prefix_and_are_xml() -> None:
    info = suite_info(root="/p\x00\ud800\ufffe", mode="replay", recorded="in January")

    properties = suite_properties(
        suite_result(info, [case(None, run("with-1"))], partial_reason=None)
    )

    assert all(name.startswith("plugin_eval_") for name, _ in properties)
    values = dict(properties)
    assert values["plugin_eval_root"] == "/p\ufffd\ufffd\ufffd"
    assert values["plugin_eval_partial"] == "false"
    assert values["plugin_eval_overall_score"] == "1"
    assert "plugin_eval_mean_delta" not in values


def test_properties_of_a_judged_suite() -> None:
    values = dict(suite_properties(judged_suite(ceiling_usd=None)))

    assert values["plugin_eval_judge_models"] == "claude-haiku-4-5, local-1"
    assert values["plugin_eval_unreadable_votes"] == "4"
    assert values["plugin_eval_runs_not_started"] == "6"
    assert values["plugin_eval_runs_taken_over"] == "4"
    assert values["plugin_eval_partial_reason"] == "cost_ceiling"
    assert "plugin_eval_cost_usd" not in values
    assert "plugin_eval_judge_cost_usd" not in values
