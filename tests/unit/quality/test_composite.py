"""Blending, steps and labels."""

from __future__ import annotations

import math

import pytest

from pytest_plugin_eval.quality.composite import (
    BLEND,
    LABELS,
    WEIGHTS,
    badge,
    composite,
    grade,
    is_below,
    penalty,
)
from pytest_plugin_eval.quality.model import AntiPattern, Dimension, Layer, LayerResult
from pytest_plugin_eval.settings import Depth

ENTRY = AntiPattern(flag="MISSING_TRIGGER", description="x", severity=0.15)


def layer(
    kind: Layer = Layer.STATIC,
    scores: dict[Dimension, float] | None = None,
    *,
    entries: int = 0,
    has_measured: bool = True,
) -> LayerResult:
    return LayerResult(
        layer=kind,
        score=0.0,
        sub_scores={},
        dimensions=scores or {},
        anti_patterns=(ENTRY,) * entries,
        has_measured=has_measured,
    )


def test_weights_are_one_together() -> None:
    assert math.fsum(WEIGHTS.values()) == pytest.approx(1.0)
    assert tuple(WEIGHTS) == tuple(Dimension) == tuple(BLEND)


@pytest.mark.parametrize(
    ("kinds", "weight"),
    [
        ((Layer.STATIC,), 0.66),
        ((Layer.STATIC, Layer.JUDGE), 0.93),
        ((Layer.STATIC, Layer.JUDGE, Layer.MONTE_CARLO), 0.98),
    ],
)
def test_weight_of_what_layers_can_measure(kinds: tuple[Layer, ...], weight: float) -> None:
    measurable = [each for each in Dimension if any(kind in BLEND[each] for kind in kinds)]

    assert math.fsum(WEIGHTS[each] for each in measurable) == pytest.approx(weight)


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (100.0, "platinum"), (90.0, "platinum"), (89.99999999999999, "platinum"), (89.99, "gold"),
        (80.0, "gold"), (79.9999999999, "gold"), (79.999999, "silver"), (70.0, "silver"),
        (69.9, "bronze"), (60.0, "bronze"), (59.999, "no_badge"), (0.0, "no_badge"),
    ],
)  # fmt: skip
def test_badge_by_composite(score: float, expected: str) -> None:
    assert badge(score) == expected


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (1.0, "A+"), (0.97, "A+"), (0.9699, "A"), (0.93, "A"), (0.9299, "A-"), (0.90, "A-"),
        (0.89, "B+"), (0.87, "B+"), (0.86, "B"), (0.83, "B"), (0.82, "B-"), (0.80, "B-"),
        (0.79, "C+"), (0.77, "C+"), (0.76, "C"), (0.73, "C"), (0.72, "C-"), (0.70, "C-"),
        (0.69, "D+"), (0.67, "D+"), (0.66, "D"), (0.63, "D"), (0.62, "D-"), (0.60, "D-"),
        (0.59, "F"), (0.0, "F"), (0.7 * 0.1 / 0.1, "C-"), (0.8999999999999999, "A-"),
    ],
)  # fmt: skip
def test_grade_by_score(score: float, expected: str) -> None:
    assert grade(score) == expected


@pytest.mark.parametrize(
    ("entries", "factor"), [(0, 1.0), (1, 0.95), (7, 0.65), (9, 0.55), (10, 0.5), (100_000, 0.5)]
)
def test_penalty_by_entries(entries: int, factor: float) -> None:
    assert penalty(entries) == pytest.approx(factor, abs=1e-12)


@pytest.mark.parametrize(
    ("score", "limit", "below"),
    [
        (60.0, 60.0, False),
        (59.99999999999999, 60.0, False),
        (59.9999999, 60.0, True),
        (0.0, 0.0, False),
        (100.0, 100.0, False),
        pytest.param(64.92049319727892, 64.92049319727892, False, id="as it was printed"),
    ],
)
def test_limits_are_held_as_badges_are(score: float, limit: float, *, below: bool) -> None:
    assert is_below(score, limit) == below


def test_entries_of_other_layers_cost_nothing() -> None:
    scores = {Dimension.TRIGGERING_ACCURACY: 0.8}

    whole = composite(
        [layer(Layer.STATIC, scores, entries=2), layer(Layer.JUDGE, scores, entries=5)],
        depth_asked=Depth.STANDARD,
    )

    assert whole.anti_pattern_penalty == pytest.approx(0.9)
    assert whole.score == pytest.approx(72.0)


def test_unmeasured_dimensions_take_no_part() -> None:
    whole = composite([layer(scores={Dimension.ROBUSTNESS: 0.4})], depth_asked=Depth.QUICK)

    assert whole.score == pytest.approx(40.0)
    measured = [each.dimension for each in whole.dimensions if each.measured]
    assert measured == [Dimension.ROBUSTNESS]
    assert {each.grade for each in whole.dimensions if not each.measured} == {"—"}
    assert [each.weight for each in whole.dimensions] == list(WEIGHTS.values())


def test_dimension_without_weights_is_the_plain_mean() -> None:
    scores = (0.2, 0.6)
    layers = [
        layer(kind, {Dimension.CODE_TEMPLATE_QUALITY: score})
        for kind, score in zip((Layer.STATIC, Layer.JUDGE), scores, strict=True)
    ]

    whole = composite(layers, depth_asked=Depth.STANDARD)

    assert whole.score == pytest.approx(40.0)


def test_nothing_measured_is_zero() -> None:
    whole = composite([], depth_asked=Depth.QUICK)

    assert (whole.score, whole.badge, whole.confidence_label) == (0.0, "no_badge", "Estimated")
    assert len(whole.dimensions) == len(Dimension)


@pytest.mark.parametrize(
    ("measured", "depth", "label"),
    [
        ((Layer.STATIC,), Depth.QUICK, "Estimated"),
        ((Layer.STATIC,), Depth.STANDARD, "Estimated"),
        ((Layer.STATIC,), Depth.THOROUGH, "Estimated"),
        ((Layer.STATIC, Layer.JUDGE), Depth.STANDARD, "Assessed"),
        ((Layer.STATIC, Layer.JUDGE), Depth.DEEP, "Assessed"),
        ((Layer.STATIC, Layer.JUDGE, Layer.MONTE_CARLO), Depth.DEEP, "Certified"),
        ((Layer.STATIC, Layer.JUDGE, Layer.MONTE_CARLO), Depth.THOROUGH, "Certified+"),
        ((Layer.STATIC, Layer.MONTE_CARLO), Depth.THOROUGH, "Certified+"),
    ],
)
def test_label_names_the_deepest_layer_that_measured(
    measured: tuple[Layer, ...], depth: Depth, label: str
) -> None:
    layers = [layer(kind, has_measured=kind in measured) for kind in Layer]

    assert composite(layers, depth_asked=depth).confidence_label == label


def test_every_layer_has_a_label() -> None:
    assert set(LABELS) == set(Layer)
