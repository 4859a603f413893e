"""The JUnit file: a testcase a run and one a verdict, with their numbers as properties."""

from __future__ import annotations

from collections.abc import Mapping
from xml.etree.ElementTree import Element, fromstring

import pytest

from pytest_plugin_eval.records.model import Ending
from tests.pytester.conftest import HELLO, Suite


def _junit(suite: Suite, *arguments: str) -> Element:
    suite.replay("evals", "--junitxml=report.xml", *arguments)
    return fromstring((suite.root / "report.xml").read_text(encoding="utf-8"))  # noqa: S314 -- ours


def _properties(element: Element | None) -> Mapping[str, str]:
    assert element is not None
    return {one.get("name", ""): one.get("value", "") for one in element.iterfind("properties/*")}


def _case(junit: Element, name: str) -> Element:
    (found,) = (one for one in junit.iter("testcase") if one.get("name") == name)
    return found


@pytest.mark.parametrize("workers", ["0", "2"])
def test_runs_and_verdict_have_their_properties(suite: Suite, workers: str) -> None:
    suite.case("first")
    suite.records("first", "hg", "gg")

    junit = _junit(suite, "-n", workers)

    assert _properties(_case(junit, "run[with-2]")) == {
        "arm": "with",
        "run": "2",
        "score": "0",
        "threshold": "1",
        "cost_usd": "0.25",
    }
    verdict = _properties(_case(junit, "score"))
    assert (
        verdict.items()
        >= {
            "with": "0.5",
            "without": "0",
            "delta": "0.5",
            "threshold": "1",
            "cost_usd": "1",
        }.items()
    )
    assert _case(junit, "score").get("classname") == "evals.first"


def test_counts_and_failure_texts_agree_with_the_terminal(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "hg", "gg")

    junit = _junit(suite)

    (testsuite,) = junit.iter("testsuite")
    assert (testsuite.get("tests"), testsuite.get("failures")) == ("5", "2")
    failure = _case(junit, "score").find("failure")
    assert failure is not None
    assert "WITH 0.50 is below the threshold 1.00" in (failure.text or "")


def test_suite_holds_the_aggregates(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "hh", "gg")

    properties = _properties(_junit(suite).find("testsuite"))

    assert properties["plugin_eval_mean_delta"] == "1"
    assert properties["plugin_eval_overall_score"] == "1"
    assert properties["plugin_eval_mode"] == "replay"


def test_run_not_measured_is_an_error_without_a_score(suite: Suite) -> None:
    suite.case("first")
    suite.record("first", "with", 1, ending=Ending.NO_RESULT, error="killed")

    case = _case(_junit(suite), "run[with-1]")

    assert case.find("error") is not None
    assert case.find("failure") is None
    assert _properties(case)["score"] == "not measured"


def test_incomplete_verdict_is_skipped(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "h", "g")

    case = _case(_junit(suite, "-k", "without"), "score")

    skipped = case.find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "no run with the plugin was selected"


def test_hostile_output_leaves_valid_xml(suite: Suite) -> None:
    hostile = "\x1b[2J\x00]]><script>\x07 \ufffe \U0001f600 & <a>"
    suite.case("first", graders={"never": HELLO.replace("hello", "zzz")})
    suite.record("first", "with", 1, hostile)

    junit = _junit(suite)

    assert _case(junit, "run[with-1]").find("failure") is not None


def test_stepwise_and_xml_of_html_plugin_count_the_verdict(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "hg", "g")

    suite.replay("evals", "--html=page.html", "--self-contained-html")

    page = (suite.root / "page.html").read_text(encoding="utf-8")
    assert "evals/first::score" in page
