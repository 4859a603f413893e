"""The static layer: what a text says of a skill or a plugin by itself. Spec: quality-score, 3-7."""

from __future__ import annotations

from pytest_plugin_eval.quality.static.plugin import static_plugin
from pytest_plugin_eval.quality.static.skill import static_skill, sub_scores

__all__ = ["static_plugin", "static_skill", "sub_scores"]
