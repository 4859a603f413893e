"""The ``baseline`` grader: compare a run's trace with a reference trace.

Spec: behaviour-evals, 4.8.
"""

from __future__ import annotations

from pathlib import Path

from pytest_plugin_eval.cases.model import BaselineSpec
from pytest_plugin_eval.graders.base import Judgement, errored, failed
from pytest_plugin_eval.graders.evidence import cut_events
from pytest_plugin_eval.graders.target import Subject
from pytest_plugin_eval.graders.voting import Ballot
from pytest_plugin_eval.judges.prompt import baseline_poll
from pytest_plugin_eval.records.jsjson import parse, stringify
from pytest_plugin_eval.text import shown

__all__ = ["ballot"]


def ballot(spec: BaselineSpec, subject: Subject, directory: Path) -> Ballot | Judgement:
    """Return what to ask a judge, or what the grader comes to without one.

    *directory* is the case's. That the file is there, inside it and readable was found while
    loading (deviations, D5); what has changed since then is found here.
    """
    try:
        text = (directory / spec.baseline_file).read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        return errored(f"failed to read baseline: {spec.baseline_file}: {error.strerror}")
    events = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                events.append(stringify(parse(line)))
            except ValueError:
                place = f"{spec.baseline_file}:{number}"
                return failed(f"failed to read baseline: {place}: no JSON, got {shown(line)}")
    new = cut_events(subject.record.trace.lines)
    return Ballot(baseline_poll(spec.name, spec.criteria, cut_events(events), new))
