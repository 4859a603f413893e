"""What a grader is given and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pytest_plugin_eval.scoring.model import VerdictStatus

if TYPE_CHECKING:
    from pytest_plugin_eval.cases.case import Case
    from pytest_plugin_eval.judges.polling import Judge
    from pytest_plugin_eval.records.model import RunKey, Vote

__all__ = ["GradingContext", "Judgement", "errored", "failed", "judged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingContext:
    """Limits and choices that hold for every grader of a session."""

    timeout_s: float = 10.0
    """Wall-clock limit of one free grader (deviations, D10)."""
    free_only: bool = False
    """Leave ``llm`` and ``baseline`` out: their verdicts are ``skipped`` and not scored."""
    judge: Judge | None = None
    """Votes on ``llm`` and ``baseline``; not needed where there are none."""
    on_votes: Callable[[Case, RunKey, tuple[Vote, ...]], None] = lambda *_: None
    """Given the votes that were just asked for, to keep them: they were paid for."""


class Judgement(NamedTuple):
    """What a grader came to, before weight and arm make a verdict of it."""

    status: VerdictStatus
    explanation: str


def judged(passed: bool, explanation: str) -> Judgement:
    """Return a pass or a fail."""
    return Judgement(VerdictStatus.PASSED if passed else VerdictStatus.FAILED, explanation)


def failed(explanation: str) -> Judgement:
    """Return a fail."""
    return Judgement(VerdictStatus.FAILED, explanation)


def errored(explanation: str) -> Judgement:
    """Return that the grader could not decide."""
    return Judgement(VerdictStatus.ERRORED, explanation)
