"""The ``file_exists`` grader: look for a created file. Spec: behaviour-evals, 4.6."""

from __future__ import annotations

from functools import lru_cache

from pytest_plugin_eval.cases.model import FileExistsSpec
from pytest_plugin_eval.graders.base import Judgement, judged
from pytest_plugin_eval.graders.glob import Glob
from pytest_plugin_eval.graders.target import Subject

__all__ = ["judge"]

_glob = lru_cache(maxsize=256)(Glob)


def judge(spec: FileExistsSpec, subject: Subject) -> Judgement:
    """Return whether a created file of that name is there, or absent, as the grader expects."""
    # By lines, as in the reference: a name with a newline is two of them.
    lines = "\n".join(subject.created).split("\n") if subject.created else ()
    there = any(map(_glob(spec.path).matches, lines))
    if there:
        outcome = "exists as expected" if spec.exists else "exists (expected absent)"
    else:
        outcome = "missing (expected present)" if spec.exists else "absent as expected"
    return judged(there == spec.exists, f"{spec.path} {outcome}")
