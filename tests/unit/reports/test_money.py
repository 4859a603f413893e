"""Costs in words."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.reports.money import money, short_money
from pytest_plugin_eval.scoring.costs import Cost


@pytest.mark.parametrize(
    ("cost", "long", "short"),
    [
        (Cost(), "$0.00", "$0.00"),
        (Cost(known_usd=0.42), "$0.42", "$0.42"),
        (Cost(known_usd=0.42, unknown_runs=2), "$0.42 + unknown", "$0.42+?"),
        (Cost(known_usd=0.0012), "$0.0012", "$0.0012"),
        (Cost(known_usd=0.0012, unknown_runs=1), "$0.0012 + unknown", "$0.0012+?"),
        (Cost(unknown_runs=1), "unknown", "$?"),
    ],
)
def test_unknown_cost_is_said(cost: Cost, long: str, short: str) -> None:
    assert (money(cost), short_money(cost)) == (long, short)
