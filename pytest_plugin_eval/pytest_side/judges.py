"""What asks a model in the runs of this process besides the agent: judges and agent mocks."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from pytest_plugin_eval.execution.mocking import asks_a_model
from pytest_plugin_eval.settings import Mode, Settings

if TYPE_CHECKING:
    from pytest_plugin_eval.execution.planning import PlannedCase
    from pytest_plugin_eval.judges.base import JudgeBackend
    from pytest_plugin_eval.judges.polling import Judge
    from pytest_plugin_eval.mocks.asking import Asker
    from pytest_plugin_eval.quality.asking import Asking
    from pytest_plugin_eval.spending.ledger import Ledger
    from pytest_plugin_eval.spending.limiter import Limiter

__all__ = ["asker_of", "asking_of", "judge_of", "why_no_votes"]


def why_no_votes(
    settings: Settings, *, is_worker: bool, are_asked_for: bool, what: str = "votes"
) -> str | None:
    """Return why no vote, or *what* else, may be paid for, ``None`` when it may.

    A replay that nobody named must not cost anything, and one that was is to say first what it
    costs, which the workers of xdist cannot.
    """
    if settings.mode is not Mode.REPLAY:
        return None
    if is_worker:
        return f"a replay asks for {what} only in a session without xdist (-n 0)"
    if not are_asked_for:
        return f"a replay asks for {what} only of evals that an argument names (--evals)"
    return None


def judge_of(
    planned: Iterable[PlannedCase],
    settings: Settings,
    ledger: Ledger,
    limiter: Limiter,
    *,
    forbidden: str | None,
) -> Judge | None:
    """Return the judge of this process, ``None`` where no grader needs one."""
    if settings.free_only or not any(one.has_paid_graders for one in planned):
        return None
    from pytest_plugin_eval.judges.polling import Judge

    return Judge(
        partial(_found, settings, limiter),
        votes=settings.judge_votes,
        model=settings.judge_model,
        ledger=ledger,
        limiter=limiter,
        forbidden=forbidden,
    )


def asker_of(
    planned: Iterable[PlannedCase], settings: Settings, ledger: Ledger, limiter: Limiter
) -> Asker | None:
    """Return what asks the model behind mocked servers, ``None`` where there are none."""
    if settings.mode is Mode.REPLAY or not any(asks_a_model(one.case) for one in planned):
        return None
    from pytest_plugin_eval.mocks.asking import Asker

    return Asker(
        partial(_found, settings, limiter),
        model=settings.judge_model,
        ledger=ledger,
        limiter=limiter,
    )


def asking_of(settings: Settings, ledger: Ledger, limiter: Limiter) -> Asking:
    """Return what asks models for the quality score; it finds them with its first question."""
    from pytest_plugin_eval.quality.asking import Asking

    return Asking(
        partial(_found, settings, limiter, needed_by="the deeper layers of the quality score"),
        ledger=ledger,
        limiter=limiter,
        env=os.environ,
        judge_model=settings.judge_model,
        model=settings.model,
    )


def _found(
    settings: Settings, limiter: Limiter, *, needed_by: str = "llm and baseline graders"
) -> JudgeBackend:
    from pytest_plugin_eval.execution.judging import find_judge

    return find_judge(
        needed_by=needed_by,
        env=os.environ,
        agent_path=settings.agent_path,
        run_root=settings.run_root,
        slow_down=limiter.slow_down,
    )
