"""The static layer of a plugin: the mean over its skills and agents. Spec: 7."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_plugin_eval.quality.model import Layer, LayerResult
from pytest_plugin_eval.quality.parse import PluginSource
from pytest_plugin_eval.quality.static.agent import agent_score
from pytest_plugin_eval.quality.static.skill import DIMENSIONS, static_skill

__all__ = ["EMPTY_PLUGIN", "plugin_layer", "static_plugin"]

EMPTY_PLUGIN = 0.5
"""The score of a plugin without skills and agents."""


def static_plugin(source: PluginSource) -> LayerResult:
    """Return the static layer of a plugin, whose dimensions all have its mean."""
    skills = [static_skill(skill) for skill in source.skills]
    return plugin_layer(source, skills, [agent_score(agent).score for agent in source.agents])


def plugin_layer(
    source: PluginSource, skills: Sequence[LayerResult], agent_scores: Sequence[float]
) -> LayerResult:
    """Return the static layer that the layers of a plugin's skills and its agents' scores make."""
    skill_scores = [skill.score for skill in skills]
    scores = [*skill_scores, *agent_scores]
    mean = sum(scores) / len(scores) if scores else EMPTY_PLUGIN
    return LayerResult(
        layer=Layer.STATIC,
        score=mean,
        sub_scores={"skill_scores": skill_scores, "agent_scores": list(agent_scores)},
        dimensions=dict.fromkeys(DIMENSIONS.values(), mean),
        anti_patterns=tuple(entry for skill in skills for entry in skill.anti_patterns),
        metadata={"plugin_name": source.name},
    )
