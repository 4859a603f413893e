"""Layers, dimensions and the composite: what a skill or a plugin was found to be worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pytest_plugin_eval.settings import Depth

__all__ = [
    "AntiPattern",
    "CompositeScore",
    "Dimension",
    "DimensionScore",
    "Finding",
    "Layer",
    "LayerResult",
    "QualityReport",
    "Target",
]


class Layer(StrEnum):
    """A way of measuring; the value is the reports' name for it."""

    STATIC = "static"
    JUDGE = "judge"
    MONTE_CARLO = "monte_carlo"


class Dimension(StrEnum):
    """What is measured, in the order of every report."""

    TRIGGERING_ACCURACY = "triggering_accuracy"
    ORCHESTRATION_FITNESS = "orchestration_fitness"
    OUTPUT_QUALITY = "output_quality"
    SCOPE_CALIBRATION = "scope_calibration"
    PROGRESSIVE_DISCLOSURE = "progressive_disclosure"
    TOKEN_EFFICIENCY = "token_efficiency"  # noqa: S105 -- of a language model
    ROBUSTNESS = "robustness"
    STRUCTURAL_COMPLETENESS = "structural_completeness"
    CODE_TEMPLATE_QUALITY = "code_template_quality"
    ECOSYSTEM_COHERENCE = "ecosystem_coherence"


class Target(StrEnum):
    """What a path turned out to hold."""

    SKILL = "skill"
    PLUGIN = "plugin"


@dataclass(frozen=True, slots=True, kw_only=True)
class AntiPattern:
    """One entry of the penalty; each costs the same, whatever its severity. Spec: 5."""

    flag: str
    description: str
    severity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that costs points, where it stands, and what would win them back."""

    file: str
    """Relative to the target's directory, with slashes: ``SKILL.md``, ``skills/x/SKILL.md``."""
    line: int | None
    """From 1; ``None`` where it is about the whole file."""
    rule: str
    """The sub-score, dimension or flag that it belongs to."""
    text: str
    """What was found, with the number or words found, and the limit."""
    points: float
    """Points of the composite, 0 to 100, that mending this alone would win back."""
    remedy: str
    """What to write or change, as an instruction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerResult:
    """What one layer measured."""

    layer: Layer
    score: float
    """0 to 1; shown, and averaged in a plugin; no part of a skill's composite."""
    sub_scores: Mapping[str, object]
    """As in the JSON report, in its order. Spec: 12.1."""
    dimensions: Mapping[Dimension, float]
    """What enters the composite; a dimension that was not measured is absent."""
    anti_patterns: tuple[AntiPattern, ...] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)
    model_usage: Mapping[str, int] = field(default_factory=dict)
    """Tokens by model."""
    cost_usd: float | None = 0.0
    """What the calls cost; ``None`` when that of one is unknown."""
    has_measured: bool = True
    """Whether anything was measured: the label names the deepest layer that did (17, B2)."""
    problems: tuple[str, ...] = ()
    """For stderr: what could not be measured, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DimensionScore:
    """One row of the composite."""

    dimension: Dimension
    weight: float
    score: float
    """0 to 1; 0 where nothing measured it, which `measured` tells apart."""
    grade: str
    """A letter, or an em dash where nothing measured it."""
    measured: bool
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositeScore:
    """The layers blended into one number. Spec: 10 and 11."""

    score: float
    """0 to 100."""
    anti_pattern_penalty: float
    """0.5 to 1, a factor."""
    dimensions: tuple[DimensionScore, ...]
    """All ten, in order."""
    badge: str
    """``platinum``, ``gold``, ``silver``, ``bronze`` or ``no_badge``."""
    confidence_label: str
    """Of the deepest layer that measured something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityReport:
    """A skill or a plugin, scored."""

    path: str
    """As it was given."""
    target: Target
    name: str
    depth: Depth
    """As it was asked for."""
    effective_depth: Depth
    """The deepest whose layers ran; ``quick`` for a plugin."""
    layers: tuple[LayerResult, ...]
    composite: CompositeScore
    timestamp: str
    """ISO 8601, UTC, with offset."""
    judges: int = 1
    concurrency: int = 4
    monte_carlo_n: int | None = None
    findings: tuple[Finding, ...] = ()
    """Dearest first."""
    skills: tuple[QualityReport, ...] = ()
    """Of a plugin: each of its skills, scored for itself, by path."""
    problems: tuple[str, ...] = ()
    """For stderr: files that could not be read, values that were ignored, layers that failed."""
    cost_usd: float | None = 0.0

    @property
    def model_usage(self) -> dict[str, int]:
        """Return the tokens by model, summed over the layers."""
        usage: dict[str, int] = {}
        for layer in self.layers:
            for model, tokens in layer.model_usage.items():
                usage[model] = usage.get(model, 0) + tokens
        return usage
