"""A comparison of two results as text, Markdown or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from pytest_plugin_eval.records.model import Arm
from pytest_plugin_eval.reports.columns import cell, display_width, hanging, padded, signed
from pytest_plugin_eval.reports.markdown import escaped, table
from pytest_plugin_eval.results.attribution import ArmMove, Mover, Number
from pytest_plugin_eval.results.difference import CaseMove, Difference, GraderMove, Rate
from pytest_plugin_eval.text import decimals, plural

__all__ = ["json_text", "markdown_lines", "text_lines"]

HEADINGS = ("CASE", "WITH", "W/OUT", "Δ", "MOVED BY")
NOTHING = "—"
UNKNOWN = "unknown"
LONG_NAME = 12
"""Columns that the names of cases are owed before the last column is given up."""
_CLAIMING = frozenset(Mover) - {Mover.NOBODY, Mover.NOT_COMPARABLE, Mover.GRADING}
_ARMS = {Arm.WITH: "with", Arm.WITHOUT: "without"}


def text_lines(found: Difference, *, width: int, ascii_only: bool = False) -> list[str]:
    """Return the comparison for a terminal of *width* columns."""
    clean = [*_head(found)]
    rows = [HEADINGS, *map(_cells, found.cases)]
    is_narrow = _width_of(rows) > width
    listed = _columns([row[:-1] for row in rows] if is_narrow else rows, width)
    for lines, case in zip(listed[1:], found.cases, strict=True):
        if is_narrow and case.mover is not Mover.NOBODY:
            lines.append(f"    moved by: {case.mover.value}")
        lines += [f"    {text}" for text in _below(case)]
    clean += ["", *listed[0], *(line for lines in listed[1:] for line in lines), ""]
    clean += _tail(found)
    return [part for line in clean for part in hanging(cell(line, ascii_only=ascii_only), width)]


def markdown_lines(found: Difference) -> list[str]:
    """Return the comparison as a comment of a pull request."""
    lines = ["### Eval results compared", ""]
    lines += [f"- {escaped(line)}" for line in _head(found)]
    lines += ["", *table(HEADINGS, map(_cells, found.cases))]
    moved = [case for case in found.cases if case.has_moved]
    if moved:
        lines += ["", "<details><summary>By grader</summary>", ""]
        for case in moved:
            lines.append(f"- **{escaped(case.name)}**")
            lines += [f"  - {escaped(text)}" for text in _below(case)]
        lines += ["", "</details>"]
    lines += ["", *(escaped(line) for line in _tail(found))]
    return lines


def json_text(found: Difference) -> str:
    """Return the comparison as JSON, numbers in full."""
    fields = {
        "facts": [{"what": one.what, "old": one.old, "new": one.new} for one in found.facts],
        "cases": [_case_fields(case) for case in found.cases],
        "onlyOld": list(found.only_old),
        "onlyNew": list(found.only_new),
        "notes": list(found.notes),
    }
    return json.dumps(fields, ensure_ascii=False, indent=2) + "\n"


def _head(found: Difference) -> Iterator[str]:
    runs = [sum(len(case.runs) for case in suite.cases) for suite in (found.old, found.new)]
    yield (
        f"old: {found.old.info.started_at or 'unknown time'}, {plural(runs[0], 'run')}; "
        f"new: {found.new.info.started_at or 'unknown time'}, {plural(runs[1], 'run')}"
    )
    for fact in found.facts:
        told = f"{fact.what}: {fact.old or UNKNOWN} -> {fact.new or UNKNOWN}"
        yield f"differs: {told}" if fact.is_known else f"known of one only: {told}"
    if not found.facts:
        yield "same suite, plugin, model, agent and judge, as far as the results tell"
    yield from (f"note: {note}" for note in found.notes)


def _tail(found: Difference) -> Iterator[str]:
    if found.only_old:
        yield "only in the old results: " + ", ".join(found.only_old)
    if found.only_new:
        yield "only in the new results: " + ", ".join(found.only_new)
    counts = {mover: sum(case.mover is mover for case in found.cases) for mover in Mover}
    told = [f"{count} {mover.value}" for mover, count in counts.items() if count]
    yield f"{plural(len(found.cases), 'case')} compared: " + (", ".join(told) or "none")
    flips = [(case, _flip(case)) for case in found.cases]
    for words in ("passes now", "fails now", "not measured now"):
        names = [case.name for case, flip in flips if flip == words]
        if names:
            yield f"{words}: " + ", ".join(names)
    if any(case.mover in _CLAIMING for case in found.cases):
        yield (
            "n is the number of measured runs; the mean of few runs moves by chance as well, and "
            "how likely that is was not computed"
        )


def _flip(case: CaseMove) -> str:
    old, new = case.passed
    if old == new:
        return ""
    if not new and case.unmeasured[1]:
        return "not measured now"
    return "passes now" if new else "fails now"


def _cells(case: CaseMove) -> tuple[str, ...]:
    return (
        case.name,
        _arm(case.with_arm),
        _arm(case.without_arm),
        _pair(_delta(case.old_delta), _delta(case.new_delta)),
        case.mover.value,
    )


def _arm(arm: ArmMove) -> str:
    return _pair(_number(arm.old), _number(arm.new))


def _pair(old: str, new: str) -> str:
    return old if old == new else f"{old} -> {new}"


def _number(number: Number) -> str:
    if number.value is None:
        return NOTHING
    return f"{decimals(number.value)} (n={number.runs})"


def _delta(value: float | None) -> str:
    return NOTHING if value is None else signed(value)


def _below(case: CaseMove) -> Iterator[str]:
    """Yield what stands below a case: why it moved, and its graders."""
    yield from case.reasons
    lost = case.unmeasured
    if any(lost):
        yield f"runs not measured: {lost[0]} -> {lost[1]}"
    yield from map(_grader, case.graders)


def _grader(move: GraderMove) -> str:
    rates = ", ".join(f"{_ARMS[arm]} {_rates(*pair)}" for arm, pair in move.rates.items())
    marks = [mark for mark in (move.changed, None if move.scored else "not scored") if mark]
    return f"{move.grader}: {rates or 'not evaluated'}" + (
        f" ({', '.join(marks)})" if marks else ""
    )


def _rates(old: Rate, new: Rate) -> str:
    return _pair(*(f"{one.passed}/{one.graded}" if one.graded else NOTHING for one in (old, new)))


def _width_of(rows: Sequence[Sequence[str]]) -> int:
    """Return the columns that a table takes when its long names stand above their rows."""
    widths = [max(display_width(cell(row[n])) for row in rows) for n in range(len(HEADINGS))]
    return min(widths[0], LONG_NAME) + sum(widths[1:]) + 2 * (len(widths) - 1)


def _columns(rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """Return the lines of each row; a name too long for its row stands above it."""
    shown = [[cell(text) for text in row] for row in rows]
    widths = [max(display_width(row[n]) for row in shown) for n in range(len(rows[0]))]
    room = width - sum(widths[1:]) - 2 * (len(widths) - 1)
    widths[0] = max(min(widths[0], room), len(HEADINGS[0]))
    listed = []
    for row in shown:
        is_long = display_width(row[0]) > widths[0]
        first = "" if is_long else row[0]
        line = "  ".join(
            padded(text, size) for text, size in zip((first, *row[1:]), widths, strict=True)
        ).rstrip()
        listed.append([row[0], line] if is_long else [line])
    return listed


def _case_fields(case: CaseMove) -> dict[str, object]:
    return {
        "case": case.case,
        "name": case.name,
        "with": _arm_fields(case.with_arm),
        "without": _arm_fields(case.without_arm),
        "delta": {"old": case.old_delta, "new": case.new_delta},
        "movedBy": case.mover.name.lower(),
        "reasons": list(case.reasons),
        "passed": {"old": case.passed[0], "new": case.passed[1]},
        "unmeasured": {"old": case.unmeasured[0], "new": case.unmeasured[1]},
        "graders": [
            {
                "name": move.grader,
                "scored": move.scored,
                "changed": move.changed,
                "arms": {
                    arm.value: {
                        when: {"passed": rate.passed, "graded": rate.graded}
                        for when, rate in zip(("old", "new"), pair, strict=True)
                    }
                    for arm, pair in move.rates.items()
                },
            }
            for move in case.graders
        ],
    }


def _arm_fields(arm: ArmMove) -> dict[str, object]:
    return {
        when: {"score": number.value, "runs": number.runs}
        for when, number in (("old", arm.old), ("new", arm.new))
    }
