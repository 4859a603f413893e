"""The ``llm`` grader: have a judge vote on a text. Spec: behaviour-evals, 4.7."""

from __future__ import annotations

from pytest_plugin_eval.cases.model import LlmSpec
from pytest_plugin_eval.graders.base import Judgement
from pytest_plugin_eval.graders.evidence import evidence
from pytest_plugin_eval.graders.target import Subject
from pytest_plugin_eval.graders.voting import Ballot
from pytest_plugin_eval.judges.prompt import image_poll, text_poll

__all__ = ["ballot"]


def ballot(spec: LlmSpec, subject: Subject) -> Ballot | Judgement:
    """Return what to ask a judge, or what the grader comes to without one."""
    shown = evidence(spec.focus, subject)
    if isinstance(shown, Judgement):
        return shown
    poll = (
        text_poll(spec.name, spec.criteria, shown.label, shown.text)
        if shown.image is None
        else image_poll(spec.name, spec.criteria, shown.label, shown.image)
    )
    return Ballot(poll, shown.text, shown.note)
