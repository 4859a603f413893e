"""Numbers and words in texts."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.text import decimals, dollars


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.125, "0.13"), (0.375, "0.38"), (0.005, "0.01"), (0.015, "0.01"), (-0.125, "-0.13")],
)
def test_halves_are_rounded_away_from_zero(value: float, text: str) -> None:
    assert decimals(value) == text


def test_small_number_is_written_without_an_exponent() -> None:
    assert decimals(1e-7, 8) == "0.00000010"
    assert dollars(1e-7) == "$0.00000010"


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
