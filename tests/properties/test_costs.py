"""What holds for every sum of costs, in the document and in words."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_plugin_eval.reports.document import document_text
from pytest_plugin_eval.reports.junit import run_properties, suite_properties
from pytest_plugin_eval.reports.table import table_lines
from pytest_plugin_eval.scoring.aggregate import suite_result
from pytest_plugin_eval.scoring.model import RunReport, SuiteResult
from tests.support.results import case, case_info, judged, run, suite_info

AMOUNT = st.none() | st.floats(min_value=0, max_value=1000)
RUN = st.tuples(st.sampled_from(["with", "without"]), AMOUNT, AMOUNT)
Costs = Sequence[Sequence[tuple[str, float | None, float | None]]]
CASES = st.lists(st.lists(RUN, min_size=1, max_size=5), min_size=1, max_size=4)


def _runs(costs: Sequence[tuple[str, float | None, float | None]]) -> list[RunReport]:
    return [
        run(f"{arm}-{number}", (judged("P", "PPF"),), cost_usd=agent, judge_cost_usd=judge)
        for number, (arm, agent, judge) in enumerate(costs, 1)
    ]


def _suite(costs: Costs) -> SuiteResult:
    cases = [case(case_info(f"case-{n}"), *_runs(one)) for n, one in enumerate(costs)]
    return suite_result(suite_info(), cases, partial_reason=None)


@given(CASES)
def test_what_is_known_adds_up(costs: Costs) -> None:
    written = json.loads(document_text(_suite(costs)))

    sums, parts = written["costs"], [one["costs"] for one in written["cases"]]
    known = pytest.approx(sums["knownUsd"], rel=1e-9)
    assert sum(amount or 0 for one in costs for _, *both in one for amount in both) == known
    assert sum(part["knownUsd"] for part in parts) == known
    assert sum(part["unknownRuns"] for part in parts) == sums["unknownRuns"]


@given(CASES)
def test_sums_of_a_known_cost_are_made_of_arms_and_of_agent_and_judge(costs: Costs) -> None:
    paid = [[(arm, agent or 0.0, judge or 0.0) for arm, agent, judge in one] for one in costs]

    written = json.loads(document_text(_suite(paid)))

    sums, whole = written["costs"], pytest.approx(written["costUsd"], rel=1e-9)
    assert sums["unknownRuns"] == 0
    assert sums["withUsd"] + sums.get("withoutUsd", 0) == whole
    assert sums["agentUsd"] + sums["judgeUsd"] == whole


@given(CASES, st.data())
def test_one_unknown_amount_makes_every_sum_over_it_null(costs: Costs, data: st.DataObject) -> None:
    by_judge, arm = data.draw(st.booleans()), data.draw(st.sampled_from(["with", "without"]))
    unknown = (arm, 1.0, None) if by_judge else (arm, None, 1.0)

    written = json.loads(document_text(_suite([*costs, [unknown]])))

    sums = written["costs"]
    assert written["costUsd"] is sums[f"{arm}Usd"] is None
    assert sums["judgeUsd" if by_judge else "agentUsd"] is None


@given(CASES)
def test_what_is_unknown_is_a_number_nowhere(costs: Costs) -> None:
    suite = _suite(costs)
    is_unknown = any(None in both for one in costs for _, *both in one)

    text = "\n".join(table_lines(suite, width=200))
    properties = dict(suite_properties(suite))

    assert ("unknown" in text) == is_unknown
    assert ("?" in text) == is_unknown
    assert ("plugin_eval_cost_usd" in properties) != is_unknown


@given(AMOUNT, AMOUNT)
def test_run_has_the_costs_that_are_known(agent: float | None, judge: float | None) -> None:
    (report,) = _runs([("with", agent, judge)])

    names = dict(run_properties(report, threshold=1.0)).keys()

    assert ("cost_usd" in names) == (agent is not None and judge is not None)
    assert ("judge_cost_usd" in names) == (judge is not None)
