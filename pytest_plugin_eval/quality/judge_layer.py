"""The judge layer: four questions to models about a skill. Spec: quality-score, 8."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_plugin_eval.quality.asking import Outcome, Question, Said
from pytest_plugin_eval.quality.judge_prompts import CHECKS, Check, question
from pytest_plugin_eval.quality.judge_replies import Reading, read_reply
from pytest_plugin_eval.quality.model import Layer, LayerResult
from pytest_plugin_eval.text import one_line

if TYPE_CHECKING:
    from pytest_plugin_eval.quality.asking import Asking
    from pytest_plugin_eval.quality.parse import SkillSource

__all__ = ["judge_layer", "judge_questions", "layer_of"]

_UNMEASURED = "unmeasured"


def judge_questions(
    skill: SkillSource, *, judges: int = 1, chars: int | None = 3000
) -> tuple[Question, ...]:
    """Return everything the judge layer asks, in order."""
    return tuple(question(check, skill, chars) for check in CHECKS for _ in range(judges))


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
    outcomes = asking.ask_all(
        judge_questions(skill, judges=judges, chars=chars), concurrency=concurrency
    )
    return layer_of(outcomes, judges=judges)


def layer_of(outcomes: Sequence[Outcome], *, judges: int = 1) -> LayerResult:
    """Return what the outcomes of all questions say, *judges* of each, in the questions' order."""
    checked = tuple(
        _checked(check, outcomes[number * judges : (number + 1) * judges])
        for number, check in enumerate(CHECKS)
    )
    scores = {one.check.dimension: one.score for one in checked if one.score is not None}
    missing = sorted(one.check.dimension.value for one in checked if one.score is None)
    usage = _usage(outcomes)
    return LayerResult(
        layer=Layer.JUDGE,
        score=_mean(tuple(scores.values())) if scores else 0.0,
        sub_scores={dimension.value: score for dimension, score in scores.items()},
        dimensions=scores,
        metadata={
            **{one.check.key: one.entry() for one in checked},
            _UNMEASURED: missing,
            "model_usage": usage,
        },
        model_usage=usage,
        cost_usd=_cost_usd(outcomes),
        has_measured=bool(scores),
        problems=tuple(_problems(checked)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checked:
    """The replies to one question."""

    check: Check
    entries: tuple[Mapping[str, object], ...]
    """One a reply, as metadata."""
    scores: tuple[float, ...]
    """Of the replies that hold one."""
    errors: tuple[str, ...]
    """Of the others."""

    @property
    def score(self) -> float | None:
        return _mean(self.scores) if self.scores else None

    def entry(self) -> Mapping[str, object]:
        """Return the metadata: the reply itself where there is one judge."""
        if len(self.entries) == 1:
            return self.entries[0]
        entry: dict[str, object] = {"replies": list(self.entries), "measured": len(self.scores)}
        if not self.scores:
            return {_UNMEASURED: True, "error": self.errors[0], **entry}
        spread = {"min": min(self.scores), "max": max(self.scores), "std": _std(self.scores)}
        return {**entry, "spread": spread}


def _checked(check: Check, outcomes: Sequence[Outcome]) -> _Checked:
    entries: list[Mapping[str, object]] = []
    scores: list[float] = []
    errors: list[str] = []
    for outcome in outcomes:
        if not isinstance(outcome, Said):
            errors.append(outcome.reason)
            entries.append({_UNMEASURED: True, "error": outcome.reason})
            continue
        reading = read_reply(outcome.text, check.score_field)
        if isinstance(reading, Reading):
            scores.append(reading.score)
            # A reply has no say in whether it counts as one.
            entries.append({key: reading.reply[key] for key in reading.reply if key != _UNMEASURED})
            continue
        errors.append(one_line(reading.error))
        raw = {"raw": reading.raw} if reading.raw.strip() else {}
        entries.append({_UNMEASURED: True, "error": errors[-1], **raw})
    return _Checked(check=check, entries=tuple(entries), scores=tuple(scores), errors=tuple(errors))


def _problems(checked: Iterable[_Checked]) -> Iterable[str]:
    """Yield a line for each cause, with everything that it spoilt."""
    spoilt: dict[str, list[str]] = {}
    for one in checked:
        count = f" ({len(one.errors)} of {len(one.entries)} replies)" if one.scores else ""
        for error in dict.fromkeys(one.errors):
            spoilt.setdefault(error, []).append(f"{one.check.dimension.value}{count}")
    for error, names in spoilt.items():
        yield f"judge: {', '.join(names)} not measured: {error}"


def _usage(outcomes: Iterable[Outcome]) -> dict[str, int]:
    usage: dict[str, int] = {}
    for outcome in outcomes:
        if isinstance(outcome, Said):
            usage[outcome.model] = usage.get(outcome.model, 0) + outcome.tokens
    return usage


def _cost_usd(outcomes: Iterable[Outcome]) -> float | None:
    costs = [outcome.cost_usd for outcome in outcomes]
    known = [cost for cost in costs if cost is not None]
    return math.fsum(known) if len(known) == len(costs) else None


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _std(values: Sequence[float]) -> float:
    """Return the standard deviation of all there is, not of a sample of it."""
    mean = _mean(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
