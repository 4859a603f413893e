"""Properties for JUnit XML."""

from __future__ import annotations

from pytest_plugin_eval.reports.junit import run_properties, suite_properties, verdict_properties
from pytest_plugin_eval.scoring.aggregate import suite_result
from tests.support.results import case, lost, run, suite_info


def test_properties_of_a_run() -> None:
    report = run("with-2", "PPF", judge_cost_usd=0.5)

    assert run_properties(report, threshold=1.0) == [
        ("arm", "with"),
        ("run", "2"),
        ("score", "0.6666666666666666"),
        ("threshold", "1"),
        ("cost_usd", "0.51"),
    ]


def test_lost_run_has_no_number() -> None:
    assert ("score", "not measured") in run_properties(lost("with-1"), threshold=1.0)


def test_unknown_cost_is_left_out() -> None:
    names = [name for name, _ in run_properties(run("with-1", cost_usd=None), threshold=1.0)]

    assert "cost_usd" not in names


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
