"""The ``tool_used`` and ``tool_order`` graders. Spec: behaviour-evals, 4.4 and 4.5."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_plugin_eval.cases.model import ToolOrderSpec, ToolPattern, ToolUsedSpec
from pytest_plugin_eval.graders.base import Judgement, errored, failed, judged
from pytest_plugin_eval.graders.javascript import Answer, Failure, Question
from pytest_plugin_eval.graders.target import Subject

__all__ = ["judge_order", "judge_used", "order_questions", "used_questions"]

Answers = Mapping[Question, Answer]


def used_questions(spec: ToolUsedSpec, subject: Subject) -> Iterator[Question]:
    """Yield the questions about calls of the tool; none without an ``input_match``."""
    yield from _questions(_used_pattern(spec), subject)


def judge_used(spec: ToolUsedSpec, subject: Subject, answers: Answers) -> Judgement:
    """Count the matching calls: at least ``min``, which is 1 when absent, at most ``max``."""
    indexes = _matching(_used_pattern(spec), subject, answers)
    if isinstance(indexes, Judgement):
        return indexes
    count = len(indexes)
    least = 1 if spec.min is None else spec.min
    most = "∞" if spec.max is None else str(spec.max)
    return judged(
        least <= count and (spec.max is None or count <= spec.max),
        f"{spec.tool} called {count}x (expected {least}..{most})",
    )


def order_questions(spec: ToolOrderSpec, subject: Subject) -> Iterator[Question]:
    """Yield the questions about calls of both tools."""
    yield from _questions(_side(spec.before), subject)
    yield from _questions(_side(spec.after), subject)


def judge_order(spec: ToolOrderSpec, subject: Subject, answers: Answers) -> Judgement:
    """Compare the first matching call of each side."""
    before, after = _side(spec.before), _side(spec.after)
    first = _matching(before, subject, answers, only_first=True)
    second = _matching(after, subject, answers, only_first=True)
    if isinstance(first, Judgement):
        return first
    if isinstance(second, Judgement):
        return second
    if not first:
        return failed(f'"before" tool {before.tool} never called')
    if not second:
        return failed(f'"after" tool {after.tool} never called')
    precedes = first[0] < second[0]
    relation = "precedes" if precedes else "does NOT precede"
    return judged(precedes, f"{before.tool}@{first[0]} {relation} {after.tool}@{second[0]}")


def _used_pattern(spec: ToolUsedSpec) -> ToolPattern:
    return ToolPattern(tool=spec.tool, input_match=spec.input_match)


def _side(side: str | ToolPattern) -> ToolPattern:
    return ToolPattern(tool=side) if isinstance(side, str) else side


def _questions(pattern: ToolPattern, subject: Subject) -> Iterator[Question]:
    if pattern.input_match is not None:
        for call in subject.record.trace.tool_calls:
            if call.tool == pattern.tool:
                yield Question(pattern.input_match, "", call.input_json)


def _matching(
    pattern: ToolPattern, subject: Subject, answers: Answers, *, only_first: bool = False
) -> list[int] | Judgement:
    """Return the places of the matching calls among all calls, counted from 0."""
    found = []
    for index, call in enumerate(subject.record.trace.tool_calls):
        if call.tool != pattern.tool:
            continue
        if pattern.input_match is not None:
            answer = answers[Question(pattern.input_match, "", call.input_json)]
            if isinstance(answer, Failure):
                return errored(f"input_match {pattern.input_match}: {answer.reason}")
            if not answer:
                continue
        found.append(index)
        if only_first:
            break
    return found
