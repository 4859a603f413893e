"""The page on the quality score has the numbers of the code."""

from __future__ import annotations

import re

import pytest

from pytest_plugin_eval.quality.composite import BADGES, BLEND, WEIGHTS
from pytest_plugin_eval.quality.model import Dimension, Layer
from pytest_plugin_eval.quality.static.anti_patterns import SEVERITIES
from tests.example.markdown import ROOT

PAGE = (ROOT / "docs" / "explanation" / "quality-score.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ")
]
BY_NAME = {cells[0].strip("`"): cells[1:] for cells in ROWS}


@pytest.mark.parametrize("dimension", Dimension)
def test_row_of_a_dimension_has_its_weights(dimension: Dimension) -> None:
    weight, *layers = BY_NAME[dimension.value]

    told = [float(found[1]) if (found := re.search(r"\(([\d.]+)\)$", c)) else None for c in layers]

    assert float(weight) == WEIGHTS[dimension]
    assert told == [BLEND[dimension].get(layer) for layer in Layer]


@pytest.mark.parametrize(
    ("layers", "share"),
    [
        ({Layer.STATIC}, "0.66"),
        ({Layer.STATIC, Layer.JUDGE}, "0.93"),
        (set(Layer), "0.98"),
    ],
)
def test_share_that_is_measured_is_what_the_page_says(layers: set[Layer], share: str) -> None:
    measured = sum(WEIGHTS[name] for name in Dimension if layers & set(BLEND[name]))

    assert f"{measured:.2f}" == share
    assert share in PAGE


def test_badges_are_those_of_the_code() -> None:
    assert all(f"{name} from {least:.0f}" in PAGE for least, name in BADGES)


def test_flags_are_those_of_the_code() -> None:
    assert [name for name in BY_NAME if re.fullmatch(r"[A-Z_]+", name)] == list(SEVERITIES)
