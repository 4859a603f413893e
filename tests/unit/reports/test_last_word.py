"""The last line: the reason for each exit status."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.reports.last_word import Ended, last_word
from pytest_plugin_eval.scoring.model import CaseResult
from tests.support.results import case, case_info, lost, plan, run


def _case(name: str, *letters: str, without: str = "") -> CaseResult:
    info = case_info(name, runs=plan(len(letters), len(without)))
    runs = [run(f"with-{n}", text, case=info) for n, text in enumerate(letters, 1)]
    runs += [run(f"without-{n}", text, case=info) for n, text in enumerate(without, 1)]
    return case(info, *runs)


GOOD, BAD = _case("good", "P"), _case("bad", "F")
LOST = case(case_info("gone", runs=plan(1, 0)), lost("with-1"))
LOST_DELTA = case(
    case_info("away", runs=plan(1, 1)), lost("with-1"), lost("without-1"), min_delta=0.5
)
DELTA = case(case_info("same", runs=plan(1, 1)), run("with-1"), run("without-1"), min_delta=0.5)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"status": 0, "cases": (GOOD,)}, "0: the one case met its threshold"),
        ({"status": 0, "cases": (GOOD, GOOD)}, "0: each of the 2 cases met its threshold"),
        (
            {"status": 0, "cases": (GOOD,), "min_delta": 0.1},
            "0: the one case met its threshold and the Δ asked for",
        ),
        (
            {"status": 0, "cases": (GOOD, BAD), "report_only": True},
            "0: scores are only reported (--eval-report-only): "
            "1 of 2 cases missed the threshold (bad)",
        ),
        ({"status": 0}, "0: no case got a verdict, since runs that it needs were not selected"),
        (
            {"status": 1, "cases": (GOOD, BAD, _case("worse", "F"))},
            "1: 2 of 3 cases missed the threshold (bad, worse)",
        ),
        ({"status": 1, "cases": (BAD,)}, "1: the one case missed the threshold (bad)"),
        (
            {"status": 1, "cases": (GOOD, DELTA)},
            "1: 1 of 2 cases missed --eval-min-delta (same)",
        ),
        ({"status": 1, "cases": (LOST,)}, "1: 1 of 1 run was not measured (gone)"),
        (
            {"status": 1, "cases": (DELTA, LOST_DELTA)},
            "1: 1 of 2 cases missed --eval-min-delta (same); 2 of 4 runs were not measured (away)",
        ),
        ({"status": 0, "skills": 2}, "0: 2 skills reached the least composite score"),
        (
            {"status": 0, "skills": 1, "cases": (GOOD,)},
            "0: the one case met its threshold; 1 skill reached the least composite score",
        ),
        (
            {"status": 0, "skills": 2, "skills_failed": 1, "report_only": True},
            "0: scores are only reported (--eval-report-only): "
            "1 of 2 skills is below the least composite score",
        ),
        (
            {"status": 1, "skills": 3, "skills_failed": 2},
            "1: 2 of 3 skills are below the least composite score",
        ),
        ({"status": 1, "skills": 1, "skills_lost": 1}, "1: 1 skill could not be scored"),
        ({"status": 1, "cases": (GOOD,), "broken": 2}, "1: 2 cases did not load"),
        ({"status": 1, "cases": (GOOD,), "loose": 1}, "1: 1 problem of an eval directory"),
        ({"status": 1, "cases": (GOOD,), "unwritten": 1}, "1: results could not be written"),
        ({"status": 1, "cases": (GOOD,), "other_failures": 1}, "1: 1 other test failed"),
        (
            {"status": 1, "cases": (GOOD,), "quality": ("demo is below 90",)},
            "1: demo is below 90",
        ),
        (
            {"status": 1, "cases": (GOOD,), "partial_reason": "not_measured"},
            "1: not every run could be made",
        ),
        (
            {"status": 1, "cases": (BAD,), "report_only": True, "other_failures": 2},
            "1: 2 other tests failed",
        ),
        (
            {"status": 1, "cases": (GOOD,)},
            "1: a check of pytest's or of another plugin failed",
        ),
        (
            {"status": 2, "cases": (GOOD,), "partial_reason": "cost_ceiling"},
            "2: the cost ceiling was reached",
        ),
        (
            {"status": 2, "cases": (BAD,), "partial_reason": "auth_failed"},
            "2: the credential was refused; the one case missed the threshold (bad)",
        ),
        ({"status": 2, "partial_reason": "interrupted"}, "2: the session was interrupted"),
        ({"status": 2, "stopped": "1 error during collection"}, "2: 1 error during collection"),
        ({"status": 2}, "2: the session was stopped"),
        ({"status": 130, "partial_reason": "interrupted"}, "130: the session was interrupted"),
        ({"status": 3}, "3: an internal error of pytest or of a plugin, see above"),
        ({"status": 4}, "4: a bad option, argument or configuration, see the message"),
        ({"status": 5}, "5: no case was run"),
        ({"status": 5, "unnamed": 3}, "5: no case was run, since no argument names the evals"),
        ({"status": 1}, "1: no case was run"),
        ({"status": 77, "cases": (GOOD,)}, "77: a check of pytest's or of another plugin failed"),
    ],
)
def test_each_status_has_its_reason(fields: dict[str, object], text: str) -> None:
    assert last_word(Ended(**fields)) == f"exit status {text}"  # type: ignore[arg-type]  # a table


def test_many_cases_are_counted() -> None:
    cases = tuple(_case(f"c{number}", "F") for number in range(8))

    assert last_word(Ended(status=1, cases=cases)).endswith("(c0, c1, c2, c3, c4 and 3 more)")
