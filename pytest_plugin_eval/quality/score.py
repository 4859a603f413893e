"""Scores of skills and plugins: which layers run, and what comes of them.

Spec: quality-score, 1, 7, 11 and 17; decisions, 27.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pytest_plugin_eval.quality.model import QualityReport
from pytest_plugin_eval.settings import Depth

if TYPE_CHECKING:
    from pytest_plugin_eval.quality.asking import Asking
    from pytest_plugin_eval.quality.parse import PluginSource, SkillSource

__all__ = ["ScoreOptions", "estimate_usd", "score_target"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreOptions:
    """How a target is scored."""

    depth: Depth = Depth.QUICK
    concurrency: int = 4
    """Calls at the same time."""
    judges: int = 1
    """How often each question of the judge layer is asked, 1 to 5."""
    judge_chars: int | None = 3000
    """How much of SKILL.md a judge sees; ``None`` for all of it."""
    monte_carlo_n: int | None = None
    """Runs of the Monte Carlo layer; ``None`` or 0: as many as the depth says."""
    explain: bool = True
    """Say what costs points, and how to win them back."""
    each_skill: bool = False
    """Score each skill of a plugin at the depth; the plugin's own composite stays static."""


def score_target(
    path: str,
    options: ScoreOptions,
    *,
    asking: Asking | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> QualityReport:
    """Return the score of the skill or plugin at *path*; *asking* is needed above ``quick``.

    Raises `QualityError` when there is nothing that could be scored.
    """
    raise NotImplementedError


def estimate_usd(
    source: SkillSource | PluginSource, options: ScoreOptions, asking: Asking
) -> float | None:
    """Return about what the calls would cost; ``None`` when it is unknown."""
    raise NotImplementedError
