"""All graders of a case on one record. Spec: behaviour-evals, 4.1 and 5.2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from pytest_plugin_eval.cases.model import (
    PAID_TYPES,
    BaselineSpec,
    Case,
    FileExistsSpec,
    GraderSpec,
    LlmSpec,
    RegexSpec,
    ToolOrderSpec,
    ToolUsedSpec,
)
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.graders import created, javascript, pattern, tool
from pytest_plugin_eval.graders.base import GradingContext, Judgement
from pytest_plugin_eval.graders.javascript import Answer, Question
from pytest_plugin_eval.graders.target import Subject
from pytest_plugin_eval.records.model import Arm, RunRecord
from pytest_plugin_eval.scoring.model import Verdict, VerdictStatus
from pytest_plugin_eval.text import shown

__all__ = ["Graded", "grade", "grade_all", "has_scored_free_grader", "with_only_names"]

LEFT_OUT = "left out by --eval-free-only: it needs a judge"
_KEPT_VERDICTS = 1024


class Graded(NamedTuple):
    """A record to grade, and what decides which graders look at it."""

    case: Case
    record: RunRecord
    two_arms: bool


def grade(
    case: Case, record: RunRecord, *, two_arms: bool, context: GradingContext
) -> tuple[Verdict, ...]:
    """Return a verdict of every grader that concerns the record's arm, in the case's order.

    Raises `EvalError` for a grader that needs a judge, unless ``context.free_only`` leaves it out.
    """
    return grade_all([Graded(case, record, two_arms)], context=context)[0]


def grade_all(runs: Sequence[Graded], *, context: GradingContext) -> list[tuple[Verdict, ...]]:
    """Return what `grade` does for each of several runs, with one call of the engine."""
    subjects = []
    for case, record, two_arms in runs:
        with_only = with_only_names(case.graders, two_arms)
        specs = _specs(case, record.key.arm, with_only)
        if not context.free_only:
            _refuse_paid(case, specs)
        subjects.append((Subject(record, case.name), specs, with_only))
    asked = (
        question
        for subject, specs, _ in subjects
        for spec in specs
        for question in _questions(spec, subject)
    )
    answers = javascript.ask(asked, context.timeout_s)
    return [
        tuple(
            _verdict(
                spec.name,
                spec.type,
                spec.weight,
                _judgement(spec, subject, answers),
                with_only=spec.name in with_only,
            )
            for spec in specs
        )
        for subject, specs, with_only in subjects
    ]


def _specs(case: Case, arm: Arm, with_only: frozenset[str]) -> list[GraderSpec]:
    return [spec for spec in case.graders if arm is Arm.WITH or spec.name not in with_only]


def with_only_names(
    graders: Sequence[GraderSpec], two_arms: bool, *, own_mocks: bool = False
) -> frozenset[str]:
    """Return the names of the graders that are reported in the with-arm and never scored.

    When that would be every grader of the case, it is none. *own_mocks*: servers are mocked, and
    the plugin declares all of them, so that only the with-arm can call one.
    """
    if not two_arms:
        return frozenset()
    names = frozenset(spec.name for spec in graders if _is_with_only(spec, own_mocks))
    return frozenset() if len(names) == len(graders) else names


def has_scored_free_grader(case: Case, two_arms: bool) -> bool:
    """Say whether anything is left to score when graders that need a judge are left out."""
    with_only = with_only_names(case.graders, two_arms)
    return any(spec.type not in PAID_TYPES and spec.name not in with_only for spec in case.graders)


def _is_with_only(spec: GraderSpec, own_mocks: bool) -> bool:
    if spec.arm is not None:
        return spec.arm == "with-only"
    match spec:
        case ToolUsedSpec(tool="Skill"):
            return True
        case RegexSpec(target=target) | LlmSpec(focus=target):
            return own_mocks and target == "mock_calls"
        case _:
            return False


def _refuse_paid(case: Case, specs: Sequence[GraderSpec]) -> None:
    for spec in specs:
        if spec.type in PAID_TYPES:
            raise EvalError(
                f"{case.id}: grader {shown(spec.name)} needs a judge, which this version does not "
                "have; --eval-free-only leaves such graders out"
            )


def _questions(spec: GraderSpec, subject: Subject) -> Iterator[Question]:
    match spec:
        case RegexSpec():
            return pattern.questions(spec, subject)
        case ToolUsedSpec():
            return tool.used_questions(spec, subject)
        case ToolOrderSpec():
            return tool.order_questions(spec, subject)
        case FileExistsSpec() | LlmSpec() | BaselineSpec():
            return iter(())


def _judgement(spec: GraderSpec, subject: Subject, answers: Mapping[Question, Answer]) -> Judgement:
    match spec:
        case RegexSpec():
            return pattern.judge(spec, subject, answers)
        case ToolUsedSpec():
            return tool.judge_used(spec, subject, answers)
        case ToolOrderSpec():
            return tool.judge_order(spec, subject, answers)
        case FileExistsSpec():
            return created.judge(spec, subject)
        case LlmSpec() | BaselineSpec():
            return Judgement(VerdictStatus.SKIPPED, LEFT_OUT)


@lru_cache(maxsize=_KEPT_VERDICTS)
def _verdict(
    grader: str, kind: str, weight: float, judgement: Judgement, *, with_only: bool
) -> Verdict:
    """Return the verdict; the runs of a case mostly end alike, and all of them are kept."""
    return Verdict(
        grader=grader,
        type=kind,
        status=judgement.status,
        weight=weight,
        explanation=judgement.explanation,
        with_only=with_only,
        scored=not with_only and judgement.status is not VerdictStatus.SKIPPED,
    )
