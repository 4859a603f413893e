"""The layers blended into one number, with its badge, grades and label. Spec: 10 and 11."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pytest_plugin_eval.quality.model import (
    CompositeScore,
    Dimension,
    DimensionScore,
    Layer,
    LayerResult,
)
from pytest_plugin_eval.settings import Depth

__all__ = [
    "BADGES",
    "BLEND",
    "GRADES",
    "LABELS",
    "NO_BADGE",
    "STEP_DECIMALS",
    "UNMEASURED",
    "WEIGHTS",
    "badge",
    "composite",
    "composite_score",
    "grade",
    "is_below",
    "penalty",
    "settled",
]

WEIGHTS: Mapping[Dimension, float] = MappingProxyType(
    {
        Dimension.TRIGGERING_ACCURACY: 0.25,
        Dimension.ORCHESTRATION_FITNESS: 0.20,
        Dimension.OUTPUT_QUALITY: 0.15,
        Dimension.SCOPE_CALIBRATION: 0.12,
        Dimension.PROGRESSIVE_DISCLOSURE: 0.10,
        Dimension.TOKEN_EFFICIENCY: 0.06,
        Dimension.ROBUSTNESS: 0.05,
        Dimension.STRUCTURAL_COMPLETENESS: 0.03,
        Dimension.CODE_TEMPLATE_QUALITY: 0.02,
        Dimension.ECOSYSTEM_COHERENCE: 0.02,
    }
)
"""What each dimension weighs in the composite; 1 together."""

BLEND: Mapping[Dimension, Mapping[Layer, float]] = MappingProxyType(
    {
        Dimension.TRIGGERING_ACCURACY: {
            Layer.STATIC: 0.15,
            Layer.JUDGE: 0.25,
            Layer.MONTE_CARLO: 0.60,
        },
        Dimension.ORCHESTRATION_FITNESS: {Layer.STATIC: 0.10, Layer.JUDGE: 0.70},
        Dimension.OUTPUT_QUALITY: {Layer.JUDGE: 0.40, Layer.MONTE_CARLO: 0.60},
        Dimension.SCOPE_CALIBRATION: {Layer.JUDGE: 0.55},
        Dimension.PROGRESSIVE_DISCLOSURE: {Layer.STATIC: 0.80},
        Dimension.TOKEN_EFFICIENCY: {Layer.STATIC: 0.40, Layer.MONTE_CARLO: 0.50},
        Dimension.ROBUSTNESS: {Layer.MONTE_CARLO: 0.80},
        Dimension.STRUCTURAL_COMPLETENESS: {Layer.STATIC: 0.90},
        Dimension.CODE_TEMPLATE_QUALITY: {},
        Dimension.ECOSYSTEM_COHERENCE: {Layer.STATIC: 0.85},
    }
)
"""What each layer's score weighs within a dimension."""

BADGES = ((90.0, "platinum"), (80.0, "gold"), (70.0, "silver"), (60.0, "bronze"))
"""The least composite of each, best first."""
NO_BADGE = "no_badge"
GRADES = (
    (97.0, "A+"), (93.0, "A"), (90.0, "A-"),
    (87.0, "B+"), (83.0, "B"), (80.0, "B-"),
    (77.0, "C+"), (73.0, "C"), (70.0, "C-"),
    (67.0, "D+"), (63.0, "D"), (60.0, "D-"),
)  # fmt: skip
"""The least score times 100 of each, best first."""
WORST_GRADE = "F"
UNMEASURED = "\N{EM DASH}"
"""Instead of a grade."""
LABELS: Mapping[Layer, str] = MappingProxyType(
    {Layer.STATIC: "Estimated", Layer.JUDGE: "Assessed", Layer.MONTE_CARLO: "Certified"}
)
"""By the deepest layer that measured something."""
THOROUGH_LABEL = "Certified+"

ENTRY_COSTS = 0.05
LEAST_PENALTY = 0.5
STEP_DECIMALS = 9


def settled(value: float) -> float:
    """Return *value* as it is held against a step: 89.99999999999999 is 90. Spec: 17, B1."""
    return round(value, STEP_DECIMALS)


def is_below(score: float, limit: float) -> bool:
    """Return whether a composite misses a limit, both 0 to 100; a score is not below itself."""
    return settled(score) < settled(limit)


def penalty(entries: int) -> float:
    """Return the factor that so many anti-patterns cost: max(0.5, 1 - 0.05 n). Spec: 5."""
    return max(LEAST_PENALTY, 1.0 - ENTRY_COSTS * entries)


def badge(score: float) -> str:
    """Return the badge of a composite of 0 to 100."""
    return _step(score, BADGES, NO_BADGE)


def grade(score: float) -> str:
    """Return the letter of a measured dimension's score of 0 to 1."""
    return _step(score * 100, GRADES, WORST_GRADE)


def composite(layers: Sequence[LayerResult], *, depth_asked: Depth) -> CompositeScore:
    """Return what the layers make together.

    A dimension is the mean of its layers' scores by `BLEND`, the composite that of the measured
    dimensions by `WEIGHTS`, times 100 and the penalty for the static layer's anti-patterns.
    *depth_asked* tells ``Certified`` from ``Certified+`` where runs measured something.
    """
    scores = _blended(layers)
    factor = _penalty(layers)
    score = _total(scores, factor)
    return CompositeScore(
        score=score,
        anti_pattern_penalty=factor,
        dimensions=tuple(_dimension(dimension, scores.get(dimension)) for dimension in Dimension),
        badge=badge(score),
        confidence_label=_label(layers, depth_asked),
    )


def composite_score(layers: Sequence[LayerResult]) -> float:
    """Return the score of `composite` alone, which costs a fraction of the whole."""
    return _total(_blended(layers), _penalty(layers))


def _blended(layers: Sequence[LayerResult]) -> dict[Dimension, float]:
    """Return the scores of the measured dimensions, in order."""
    scores: dict[Dimension, float] = {}
    for dimension, weights in BLEND.items():
        found = [
            (weights.get(layer.layer, 0.0), layer.dimensions[dimension])
            for layer in layers
            if dimension in layer.dimensions
        ]
        if found:
            scores[dimension] = _mean(found)
    return scores


def _total(scores: Mapping[Dimension, float], factor: float) -> float:
    weight = sum(WEIGHTS[dimension] for dimension in scores)
    mean = sum(WEIGHTS[name] * score for name, score in scores.items()) / weight if scores else 0.0
    return min(100.0, max(0.0, mean * 100.0 * factor))


def _penalty(layers: Sequence[LayerResult]) -> float:
    return penalty(sum(len(each.anti_patterns) for each in layers if each.layer is Layer.STATIC))


def _dimension(dimension: Dimension, score: float | None) -> DimensionScore:
    return DimensionScore(
        dimension=dimension,
        weight=WEIGHTS[dimension],
        score=0.0 if score is None else score,
        grade=UNMEASURED if score is None else grade(score),
        measured=score is not None,
    )


def _mean(found: Sequence[tuple[float, float]]) -> float:
    """Return the mean of scores by their weights; the plain one where these are all 0."""
    weight = sum(each for each, _ in found)
    if weight == 0:
        return sum(score for _, score in found) / len(found)
    return sum(each * score for each, score in found) / weight


def _label(layers: Sequence[LayerResult], depth_asked: Depth) -> str:
    measured = {each.layer for each in layers if each.has_measured}
    deepest = next((layer for layer in reversed(Layer) if layer in measured), Layer.STATIC)
    if deepest is Layer.MONTE_CARLO and depth_asked is Depth.THOROUGH:
        return THOROUGH_LABEL
    return LABELS[deepest]


def _step(value: float, steps: Sequence[tuple[float, str]], below: str) -> str:
    held = settled(value)
    return next((name for least, name in steps if held >= least), below)
