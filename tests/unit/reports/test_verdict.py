"""Why a session ends as it does."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.reports.verdict import Standing, conclusion
from pytest_plugin_eval.scoring.aggregate import suite_result
from pytest_plugin_eval.scoring.model import CaseResult, SuiteResult
from tests.support.results import case, case_info, lost, plan, run, suite_info

ONE = plan(1, 0)


def _case(name: str, letters: str) -> CaseResult:
    about = case_info(name, runs=ONE)
    return case(
        about, run("with-1", letters, case=about) if letters else lost("with-1", case=about)
    )


def _suite(
    letters: str, *, partial: str | None = None, errors: tuple[str, ...] = (), **fields: object
) -> SuiteResult:
    """Return a suite of a case a letter: passed, failed, or ``x`` for lost."""
    cases = [_case(f"c{i}", "" if one == "x" else one) for i, one in enumerate(letters, 1)]
    return suite_result(suite_info(**fields), cases, partial_reason=partial, load_errors=errors)


@pytest.mark.parametrize(
    ("suite", "status", "standing", "text"),
    [
        (_suite("PP"), 0, "passed", "each of the 2 cases met its threshold"),
        (_suite("P"), 0, "passed", "the one case met its threshold"),
        (
            _suite("P", min_delta=0.25),
            0,
            "passed",
            "the one case met its threshold and the Δ asked for",
        ),
        (_suite("PF"), 1, "failed", "1 of 2 cases missed the threshold (c2)"),
        (
            _suite("FFFFFFF"),
            1,
            "failed",
            "7 of 7 cases missed the threshold (c1, c2, c3, c4, c5 and 2 more)",
        ),
        (
            _suite("Px", partial="not_measured"),
            1,
            "failed",
            "1 of 2 runs was not measured (c2)",
        ),
        (_suite("P", partial="not_measured"), 1, "failed", "not every run could be made"),
        (_suite("P", errors=("x: bad",)), 1, "failed", "1 case did not load"),
        (
            _suite("PF", partial="cost_ceiling"),
            2,
            "incomplete",
            "the cost ceiling was reached; 1 of 2 cases missed the threshold (c2)",
        ),
        (_suite("P", partial="interrupted"), 2, "incomplete", "the session was interrupted"),
        (_suite("P", partial="auth_failed"), 2, "incomplete", "the credential was refused"),
        (_suite(""), 5, "incomplete", "no case was run"),
    ],
)
def test_conclusion(suite: SuiteResult, status: int, standing: str, text: str) -> None:
    found = conclusion(suite)

    assert (found.status, found.standing, found.text) == (status, Standing(standing), text)


def test_further_reason_fails() -> None:
    found = conclusion(_suite("P"), further=["composite 50 is below 60"])

    assert (found.status, found.text) == (1, "composite 50 is below 60")


def test_scores_that_are_only_reported_fail_nothing() -> None:
    found = conclusion(_suite("PF"), report_only=True)

    assert found.status == 0
    assert found.text == (
        "scores are only reported (--eval-report-only): 1 of 2 cases missed the threshold (c2)"
    )


def test_lost_runs_fail_also_where_scores_are_only_reported() -> None:
    found = conclusion(_suite("PxF", partial="not_measured"), report_only=True)

    assert (found.status, found.text) == (1, "1 of 3 runs was not measured (c2)")
