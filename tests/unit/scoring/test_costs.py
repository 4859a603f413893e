"""Sums of costs: what is unknown is never 0."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_plugin_eval.records.model import Ending, RunOutcome
from pytest_plugin_eval.scoring.costs import Cost, costs_of, is_judged, run_cost, runs_cost
from pytest_plugin_eval.scoring.model import RunReport
from tests.support.results import judged, run

PARTLY = replace(
    run("with-1"),
    outcome=RunOutcome(ending=Ending.COMPLETED, cost_usd=None, known_cost_usd=0.5),
    judge_cost_usd=None,
    judge_known_usd=0.25,
)
"""A run of which one attempt and one vote did not tell what they cost."""


@pytest.mark.parametrize(
    ("agent", "judge", "together"),
    [
        (0.5, 0.25, 0.75),
        (0.5, 0.0, 0.5),
        (None, 0.25, None),
        (0.5, None, None),
        (None, None, None),
    ],
)
def test_cost_of_a_run_is_known_when_both_its_parts_are(
    agent: float | None, judge: float | None, together: float | None
) -> None:
    assert run_cost(run("with-1", cost_usd=agent, judge_cost_usd=judge)) == together


@pytest.mark.parametrize(
    ("runs", "cost"),
    [
        ([], Cost()),
        ([run("with-1", cost_usd=0.5), run("with-2", cost_usd=0.25)], Cost(known_usd=0.75)),
        (
            [run("with-1", cost_usd=0.5), run("with-2", cost_usd=None, judge_cost_usd=0.25)],
            Cost(known_usd=0.75, unknown_runs=1),
        ),
        (
            [run("with-1", cost_usd=None, judge_cost_usd=None)],
            Cost(known_usd=0.0, unknown_runs=1),
        ),
        ([PARTLY], Cost(known_usd=0.75, unknown_runs=1)),
    ],
    ids=["none", "known", "agent unknown", "both unknown", "both known in part"],
)
def test_sum_keeps_what_is_known_and_counts_the_rest(runs: list[RunReport], cost: Cost) -> None:
    assert runs_cost(runs) == cost


def test_sum_with_an_unknown_part_has_no_number() -> None:
    assert Cost(known_usd=0.5, unknown_runs=1).usd is None
    assert Cost(known_usd=0.5).usd == 0.5


def test_costs_are_divided_by_arm_and_by_who_was_paid() -> None:
    costs = costs_of(
        [
            run("with-1", cost_usd=0.5, judge_cost_usd=0.25),
            run("with-2", cost_usd=None, judge_cost_usd=0.125),
            run("without-1", cost_usd=1.0, judge_cost_usd=None),
        ]
    )

    assert costs.total == Cost(known_usd=1.875, unknown_runs=2)
    assert costs.with_arm == Cost(known_usd=0.875, unknown_runs=1)
    assert costs.without_arm == Cost(known_usd=1.0, unknown_runs=1)
    assert costs.agent == Cost(known_usd=1.5, unknown_runs=1)
    assert costs.judge == Cost(known_usd=0.375, unknown_runs=1)


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (run("with-1"), False),
        (run("with-1", (judged("P", "PPP"),)), True),
        (run("with-1", judge_cost_usd=None), True),
        (run("with-1", "E", judge_cost_usd=0.25), True),
    ],
    ids=["free", "voted for nothing", "unknown price", "paid without a verdict"],
)
def test_run_is_judged_when_a_judge_voted_or_was_paid(report: RunReport, expected: bool) -> None:
    assert is_judged(report) is expected
