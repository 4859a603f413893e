"""The ``regex`` grader: search a text. Spec: behaviour-evals, 4.2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_plugin_eval.cases.model import RegexSpec
from pytest_plugin_eval.graders.base import Judgement, errored, judged
from pytest_plugin_eval.graders.javascript import Answer, Failure, Question
from pytest_plugin_eval.graders.target import Subject, target_label

__all__ = ["judge", "questions"]

_COUNT = "count:"


def questions(spec: RegexSpec, subject: Subject) -> Iterator[Question]:
    """Yield what the engine is to be asked: one question, or none without a text."""
    text = subject.text(spec.target, spec.match)
    if isinstance(text, str):
        yield _question(spec, text)


def judge(spec: RegexSpec, subject: Subject, answers: Mapping[Question, Answer]) -> Judgement:
    """Return the judgement that the answers lead to."""
    text = subject.text(spec.target, spec.match)
    if isinstance(text, Judgement):
        return text
    found = answers[_question(spec, text)]
    if isinstance(found, Failure):
        return errored(f"pattern {spec.pattern} on {target_label(spec.target)}: {found.reason}")
    if spec.match == "not_contains":
        absent = "pattern found (expected absent)" if found else "pattern absent as expected"
        return judged(not found, absent)
    if spec.match.startswith(_COUNT):
        expected = int(spec.match.removeprefix(_COUNT))
        return judged(found == expected, f"found {found} matches (expected {expected})")
    if found:
        return judged(True, f"matched {spec.pattern}")
    return judged(False, f"pattern not found in {target_label(spec.target)}")


def _question(spec: RegexSpec, text: str) -> Question:
    return Question(spec.pattern, spec.flags, text, spec.match.startswith(_COUNT))
