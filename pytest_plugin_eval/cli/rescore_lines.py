"""What `plugin-eval rescore` prints of what changed."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_plugin_eval.records.model import RunKey
from pytest_plugin_eval.reports.columns import signed
from pytest_plugin_eval.reports.run_lines import EXPLANATION_LENGTH
from pytest_plugin_eval.results.changes import Changes, GraderChange
from pytest_plugin_eval.text import cut, decimals, plural

__all__ = ["case_lines", "grader_lines", "summary_line"]

ABSENT = "—"


def grader_lines(changes: Changes) -> Iterator[str]:
    """Yield each grader that came to something else, and each run that lost its score."""
    for case in changes.cases:
        yield from (f"{case.name} {_grader(change)}" for change in case.graders)
        for key, why in case.lost:
            yield f"{case.name} {_run(key)}: not measured any more: {why}"


def case_lines(changes: Changes) -> Iterator[str]:
    """Yield the numbers of each case before and after."""
    for case in changes.cases:
        text = f"{case.name}: score {_score(case.old_score)} -> {_score(case.new_score)}"
        if case.old_delta is not None or case.new_delta is not None:
            text += f", Δ {_delta(case.old_delta)} -> {_delta(case.new_delta)}"
        yield text + (" (not in the old document)" if case.is_new else "")


def summary_line(changes: Changes) -> str:
    """Return how much changed, in one line."""
    moved = sum(bool(case.graders) for case in changes.cases)
    text = (
        f"{changes.changed} of {plural(changes.compared, 'verdict')} changed, in {moved} of "
        f"{plural(len(changes.cases), 'case')}"
    )
    if changes.lost:
        text += f"; {plural(changes.lost, 'run')} not measured any more"
    return text


def _grader(change: GraderChange) -> str:
    old = change.old.value if change.old is not None else "absent"
    new = change.new.value if change.new is not None else "absent"
    line = f"{_run(change.key)} {change.grader}: {old} -> {new}"
    if change.explanation:
        line += f": {cut(change.explanation, EXPLANATION_LENGTH)}"
    if change.old_votes is not None:
        words = " ".join("PASS" if passed else "FAIL" for passed in change.old_votes)
        line += f" (before: {words})"
    return line


def _run(key: RunKey) -> str:
    return f"{key.arm.value}-{key.number}"


def _score(score: float | None) -> str:
    return ABSENT if score is None else decimals(score)


def _delta(delta: float | None) -> str:
    return ABSENT if delta is None else signed(delta)
