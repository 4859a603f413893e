"""The Monte Carlo layer: what many runs of a skill have in common. Spec: quality-score, 9.

A run that was not made, for want of money, time or a credential, is neither a failure nor a zero:
the figures are of the runs that were made. Where none was completed, nothing was measured.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_plugin_eval.quality.asking import Asking, Outcome, Question, Said, Unsaid
from pytest_plugin_eval.quality.model import Dimension, Layer, LayerResult
from pytest_plugin_eval.quality.montecarlo_metrics import Metrics, Run, metrics_of
from pytest_plugin_eval.quality.montecarlo_prompts import (
    fixed_prompts,
    prompts_question,
    read_prompts,
    run_question,
)
from pytest_plugin_eval.text import cut, one_line, plural, shown

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pytest_plugin_eval.quality.parse import SkillSource

__all__ = ["monte_carlo_layer", "monte_carlo_questions"]

# Runs that fail alike from the start will go on failing alike (decisions, 12).
ALIKE = 3
REASON_LENGTH = 200
REASONS_SHOWN = 3
_LOOK_S = 0.5
_OWN_WORDS = re.compile(r"\b(?=\w*\d)\w{8,}\b")
"""Of one call alone, in what may be the same reason: ids of requests."""
_NO_SCIPY = (
    "monte_carlo: the interval of the failure rate is left out, it needs scipy:"
    " pip install 'pytest-plugin-eval[stats]'"
)
_NO_TOKENS = "monte_carlo: token efficiency is not measured, the service counted no tokens"


def monte_carlo_layer(
    skill: SkillSource, asking: Asking, *, n: int, concurrency: int = 4
) -> LayerResult:
    """Return what *n* runs of *skill* show, at most *concurrency* being made at a time.

    It ends early when nothing further may be asked, and when the first three runs fail alike.
    """
    (asked,) = asking.ask_all([prompts_question(skill)], concurrency=1)
    prompts = read_prompts(asked.text) if isinstance(asked, Said) else None
    outcomes: list[Outcome] = []
    if isinstance(asked, Said) or not asked.is_final:
        outcomes = _Runs(skill, asking, prompts or fixed_prompts(skill)).make(n, concurrency)
    return _result(outcomes, asked, n=n, is_fixed=prompts is None)


def monte_carlo_questions(skill: SkillSource, *, n: int) -> Iterator[Question]:
    """Yield questions of about the size of those that the layer will ask, to estimate its cost."""
    yield prompts_question(skill)
    prompts = fixed_prompts(skill)
    for number in range(n):
        yield run_question(skill, prompts[number % len(prompts)])


class _Runs:
    """Makes runs until there are enough, or there is a reason to make no more."""

    def __init__(self, skill: SkillSource, asking: Asking, prompts: Sequence[str]) -> None:
        self._skill = skill
        self._asking = asking
        self._prompts = prompts
        self._outcomes: dict[int, Outcome] = {}

    def make(self, n: int, concurrency: int) -> list[Outcome]:
        """Return the outcomes in the order of the runs, those that were never begun left out."""
        from concurrent import futures  # not for scores that ask nothing

        flying: dict[Future[Outcome], int] = {}
        begun = 0
        with futures.ThreadPoolExecutor(concurrency, thread_name_prefix="eval-quality") as pool:
            try:
                while True:
                    # Asked anew each time: one that was in flight may show that they can succeed.
                    while begun < n and len(flying) < concurrency and self._may_go_on():
                        flying[pool.submit(self._made, begun)] = begun
                        begun += 1
                    if not flying:
                        break
                    # With a limit, so that signal handlers get their turn.
                    done, _ = futures.wait(flying, _LOOK_S, futures.FIRST_COMPLETED)
                    self._outcomes |= {flying.pop(each): each.result() for each in done}
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                self._asking.close()
                raise
        return [outcome for _, outcome in sorted(self._outcomes.items())]

    def _made(self, number: int) -> Outcome:
        # Put together here and not before: a hundred copies of a large skill are much memory.
        prompt = self._prompts[number % len(self._prompts)]
        return self._asking.ask(run_question(self._skill, prompt))

    def _may_go_on(self) -> bool:
        outcomes = self._outcomes.values()
        if any(isinstance(each, Unsaid) and not each.has_failed for each in outcomes):
            return False
        return _shared_reason(outcomes) is None


def _shared_reason(outcomes: Iterable[Outcome]) -> str | None:
    """Return why three runs failed while none was completed, ``None`` otherwise."""
    listed = list(outcomes)
    if any(isinstance(each, Said) for each in listed):
        return None
    reasons = Counter(_OWN_WORDS.sub("", each.reason) for each in _failures(listed))
    return next((reason for reason, count in reasons.items() if count >= ALIKE), None)


def _result(outcomes: Sequence[Outcome], asked: Outcome, *, n: int, is_fixed: bool) -> LayerResult:
    runs = [_run(each) for each in outcomes if isinstance(each, Said) or each.has_failed]
    has_measured = any(not run.has_failed for run in runs)
    metrics = metrics_of(runs) if has_measured else None
    problems = [_why_fixed(asked)] if is_fixed and runs else []
    problems += _losses(outcomes, asked, made=len(runs), n=n)
    problems += _gaps(metrics) if metrics else ()
    every = (asked, *outcomes)
    usage = _usage(every)
    return LayerResult(
        layer=Layer.MONTE_CARLO,
        score=metrics.score if metrics else 0.0,
        sub_scores=metrics.sub_scores if metrics else {},
        dimensions=metrics.dimensions if metrics else {},
        metadata={
            "n_runs": len(runs),
            "n_activated": sum(run.is_activated for run in runs),
            "n_errored": sum(run.has_failed for run in runs),
            "n_planned": n,
            "n_not_made": n - len(runs),
            "prompts": "fixed" if is_fixed else "model",
            "model_usage": usage,
        },
        model_usage=usage,
        cost_usd=_cost_usd(every),
        has_measured=has_measured,
        problems=tuple(problems),
    )


def _run(outcome: Outcome) -> Run:
    if isinstance(outcome, Said):
        return Run(text=outcome.text, tokens=outcome.tokens)
    return Run(text=None)


def _losses(outcomes: Sequence[Outcome], asked: Outcome, *, made: int, n: int) -> Iterator[str]:
    """Yield what was not made, what failed, and whether anything is left."""
    failures = list(_failures(outcomes))
    if made < n:
        why = _why_ended(outcomes, asked)
        yield f"monte_carlo: {n - made} of {plural(n, 'run')} not made: {why}"
    if failures:
        reasons = Counter(_brief(each.reason) for each in failures).most_common()
        told = "; ".join(f"{reason} ({count})" for reason, count in reasons[:REASONS_SHOWN])
        more = len(reasons) - REASONS_SHOWN
        rest = f"; {plural(more, 'other reason')}" if more > 0 else ""
        yield f"monte_carlo: {len(failures)} of {plural(made, 'run')} failed: {told}{rest}"
    if made == len(failures):
        yield "monte_carlo: nothing is measured, no run was completed"


def _gaps(metrics: Metrics) -> Iterator[str]:
    if not metrics.has_exact_interval:
        yield _NO_SCIPY
    if Dimension.TOKEN_EFFICIENCY not in metrics.dimensions:
        yield _NO_TOKENS


def _why_ended(outcomes: Sequence[Outcome], asked: Outcome) -> str:
    for each in (asked, *outcomes):
        if isinstance(each, Unsaid) and not each.has_failed:
            return _brief(each.reason)
    return f"the first {ALIKE} failed alike"


def _why_fixed(asked: Outcome) -> str:
    why = (
        _brief(asked.reason)
        if isinstance(asked, Unsaid)
        else f"expected a JSON array of texts, got {shown(asked.text)}"
    )
    return f"monte_carlo: prompts of our own are used, those of the model could not be: {why}"


def _failures(outcomes: Iterable[Outcome]) -> Iterator[Unsaid]:
    return (each for each in outcomes if isinstance(each, Unsaid) and each.has_failed)


def _brief(reason: str) -> str:
    return cut(one_line(reason), REASON_LENGTH)


def _usage(outcomes: Sequence[Outcome]) -> dict[str, int]:
    usage: dict[str, int] = {}
    for each in outcomes:
        if isinstance(each, Said):
            usage[each.model] = usage.get(each.model, 0) + each.tokens
    return usage


def _cost_usd(outcomes: Sequence[Outcome]) -> float | None:
    """Return what all calls cost, ``None`` when that of one is unknown."""
    known = [each.cost_usd for each in outcomes if each.cost_usd is not None]
    return math.fsum(known) if len(known) == len(outcomes) else None
