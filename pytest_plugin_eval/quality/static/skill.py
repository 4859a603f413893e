"""The static layer of a skill: its seven sub-scores and what they weigh. Spec: 6."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pytest_plugin_eval.quality.composite import penalty
from pytest_plugin_eval.quality.model import AntiPattern, Dimension, Layer, LayerResult
from pytest_plugin_eval.quality.parse import SkillSource
from pytest_plugin_eval.quality.static.anti_patterns import anti_patterns
from pytest_plugin_eval.quality.static.coherence import ecosystem_coherence
from pytest_plugin_eval.quality.static.disclosure import progressive_disclosure
from pytest_plugin_eval.quality.static.frontmatter import frontmatter_quality
from pytest_plugin_eval.quality.static.parts import SubScore
from pytest_plugin_eval.quality.static.portability import harness_portability
from pytest_plugin_eval.quality.static.structure import structural_completeness
from pytest_plugin_eval.quality.static.tokens import token_efficiency
from pytest_plugin_eval.quality.static.wiring import orchestration_wiring

__all__ = ["DIMENSIONS", "WEIGHTS", "skill_layer", "static_skill", "sub_scores"]

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "frontmatter_quality": 0.32,
        "orchestration_wiring": 0.23,
        "progressive_disclosure": 0.14,
        "structural_completeness": 0.10,
        "token_efficiency": 0.09,
        "ecosystem_coherence": 0.06,
        "harness_portability": 0.06,
    }
)
"""What each sub-score weighs in the layer's own score, in the order of the reports."""

DIMENSIONS: Mapping[str, Dimension] = MappingProxyType(
    {
        "frontmatter_quality": Dimension.TRIGGERING_ACCURACY,
        "orchestration_wiring": Dimension.ORCHESTRATION_FITNESS,
        "progressive_disclosure": Dimension.PROGRESSIVE_DISCLOSURE,
        "structural_completeness": Dimension.STRUCTURAL_COMPLETENESS,
        "token_efficiency": Dimension.TOKEN_EFFICIENCY,
        "ecosystem_coherence": Dimension.ECOSYSTEM_COHERENCE,
    }
)
"""The dimension that each sub-score enters; ``harness_portability`` enters none."""


def sub_scores(source: SkillSource) -> dict[str, SubScore]:
    """Return the seven sub-scores with their parts, in the order of the reports."""
    lowered = source.content.lower()
    found = (
        frontmatter_quality(source),
        orchestration_wiring(lowered, source.counts.fence_count),
        progressive_disclosure(source),
        structural_completeness(source, lowered),
        token_efficiency(source.content, source.counts),
        ecosystem_coherence(lowered, len(source.counts.cross_references)),
        harness_portability(source.content, has_references=source.has_references),
    )
    return {each.name: each for each in found}


def static_skill(source: SkillSource) -> LayerResult:
    """Return the static layer of a skill; its own score bears the penalty already."""
    return skill_layer(source, sub_scores(source), anti_patterns(source))


def skill_layer(
    source: SkillSource, found: Mapping[str, SubScore], entries: tuple[AntiPattern, ...]
) -> LayerResult:
    """Return the static layer that some sub-scores and anti-patterns of a skill make."""
    raw = sum(WEIGHTS[name] * each.score for name, each in found.items())
    return LayerResult(
        layer=Layer.STATIC,
        score=min(1.0, max(0.0, raw * penalty(len(entries)))),
        sub_scores={name: each.score for name, each in found.items()},
        dimensions={dimension: found[name].score for name, dimension in DIMENSIONS.items()},
        anti_patterns=entries,
        metadata={"skill_name": source.name, "line_count": source.line_count},
    )
