"""What a grader is given and what it returns."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GradingContext"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingContext:
    """Limits and choices that hold for every grader of a session."""

    timeout_s: float = 10.0
    """Wall-clock limit of one free grader (deviations, D10)."""
    free_only: bool = False
    """Leave ``llm`` and ``baseline`` out: their verdicts are ``skipped`` and not scored."""
