"""What `plugin-eval rescore` prints of what changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_plugin_eval.records.model import RunKey
from pytest_plugin_eval.reports.columns import signed
from pytest_plugin_eval.reports.run_lines import EXPLANATION_LENGTH
from pytest_plugin_eval.results.changes import Changes, GraderChange
from pytest_plugin_eval.scoring.model import VerdictStatus
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.text import cut, decimals, dollars, plural

__all__ = ["case_lines", "grader_lines", "spent_line", "summary_line"]

ABSENT = "—"


def grader_lines(changes: Changes) -> Iterator[str]:
    """Yield each grader that came to something else, and each run that lost its score."""
    for case in changes.cases:
        skipped: dict[str, list[GraderChange]] = {}
        for change in case.graders:
            if change.new is VerdictStatus.SKIPPED:
                skipped.setdefault(change.explanation, []).append(change)
            else:
                yield f"{case.name} {_grader(change)}"
        for why, left_out in skipped.items():
            yield f"{case.name}{_skipped(left_out, why)}"
        lost: dict[str, list[RunKey]] = {}
        for key, why in case.lost:
            lost.setdefault(why, []).append(key)
        for why, keys in lost.items():
            runs = f" {_run(keys[0])}:" if len(keys) == 1 else f": {len(keys)} runs"
            yield f"{case.name}{runs} not measured any more: {why}"


def case_lines(changes: Changes) -> Iterator[str]:
    """Yield the numbers before and after of each case of which anything changed."""
    for case in filter(lambda one: one.is_changed, changes.cases):
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


def spent_line(ledger: Ledger) -> str:
    """Return what the judge was paid, beside the ceiling if there is one."""
    spent, ceiling = ledger.spent_usd, ledger.ceiling_usd
    text = f"spent: {dollars(spent)}"
    if ledger.unknown:
        text += f" and {plural(ledger.unknown, 'call')} of unknown cost"
    if ceiling is not None:
        text += f", the ceiling was {dollars(ceiling)}"
        if spent > ceiling:
            text += ": the rest was in flight when it was reached"
    return text


def _skipped(changes: Sequence[GraderChange], why: str) -> str:
    """Return what is told of verdicts that were left out for one reason: there may be hundreds."""
    if len(changes) == 1:
        return f" {_grader(changes[0])}"
    passed = sum(change.old is VerdictStatus.PASSED for change in changes)
    return f": {len(changes)} verdicts -> skipped, of which {passed} had passed: {why}"


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
