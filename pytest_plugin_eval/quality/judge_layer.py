"""The judge layer: four questions to models about a skill. Spec: quality-score, 8."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_plugin_eval.quality.model import LayerResult

if TYPE_CHECKING:
    from pytest_plugin_eval.quality.asking import Asking
    from pytest_plugin_eval.quality.parse import SkillSource

__all__ = ["judge_layer"]


def judge_layer(
    skill: SkillSource,
    asking: Asking,
    *,
    judges: int = 1,
    chars: int | None = 3000,
    concurrency: int = 4,
) -> LayerResult:
    """Return what models say about *skill*; what they leave open is not measured, never 0.

    *judges*: how often each question is asked, 1 to 5; *chars*: how much of SKILL.md a judge
    sees, ``None`` for all of it; *concurrency*: questions at the same time.
    """
    raise NotImplementedError
