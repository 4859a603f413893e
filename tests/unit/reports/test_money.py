"""Costs in words."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.reports.money import dollars, money, short_money
from pytest_plugin_eval.scoring.costs import Cost


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0.0, "$0.00"),
        (0.42, "$0.42"),
        (0.01, "$0.01"),
        (0.003, "$0.0030"),
        (0.000123, "$0.00012"),
        (12.345, "$12.35"),
        (1234.0, "$1234.00"),
    ],
)
def test_amount_below_a_cent_is_not_shown_as_nothing(amount: float, text: str) -> None:
    assert dollars(amount) == text


@pytest.mark.parametrize(
    ("cost", "long", "short"),
    [
        (Cost(), "$0.00", "$0.00"),
        (Cost(known_usd=0.42), "$0.42", "$0.42"),
        (Cost(known_usd=0.42, unknown_runs=2), "$0.42 + unknown", "$0.42+?"),
        (Cost(unknown_runs=1), "unknown", "$?"),
    ],
)
def test_unknown_cost_is_said(cost: Cost, long: str, short: str) -> None:
    assert (money(cost), short_money(cost)) == (long, short)
