"""A comparison of two quality scores as JSON, as Markdown and on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from pytest_plugin_eval.quality.model import Finding, QualityReport
from pytest_plugin_eval.reports.columns import cell, display_width, padded, wrapped
from pytest_plugin_eval.reports.json_text import json_text
from pytest_plugin_eval.reports.markdown import escaped, table
from pytest_plugin_eval.reports.quality_comparison import Change, Comparison, Row
from pytest_plugin_eval.reports.quality_json import JsonContext, finding_fields, quality_fields
from pytest_plugin_eval.reports.quality_markdown import place
from pytest_plugin_eval.reports.quality_numbers import (
    ABSENT,
    badge_name,
    difference,
    gain,
    points,
    title,
)
from pytest_plugin_eval.text import cut, decimals, without_surrogates

__all__ = [
    "comparison_json",
    "comparison_lines",
    "comparison_markdown",
    "comparison_rows",
    "directory_name",
    "heading",
    "verdict",
]

TITLES = ("", "A", "B", "Difference", "Winner")
TEXT_LENGTH = 1000


def comparison_json(comparison: Comparison) -> str:
    """Return both reports and what tells them apart; numbers in full, differences of B to A."""
    context = JsonContext()
    return without_surrogates(
        json_text(
            {
                "a": quality_fields(comparison.a, context),
                "b": quality_fields(comparison.b, context),
                "winner": comparison.composite.winner,
                "difference": comparison.composite.difference,
                "dimensions": [_row_fields(row) for row in comparison.dimensions],
                "findings": {
                    "gained": [finding_fields(one) for one in comparison.gained],
                    "lost": [finding_fields(one) for one in comparison.lost],
                    "changed": [
                        {"a": finding_fields(one.a), "b": finding_fields(one.b)}
                        for one in comparison.changed
                    ],
                },
            }
        )
    )


def comparison_markdown(comparison: Comparison) -> str:
    """Return the table of both and the findings gained, lost and changed."""
    lines = [f"# {escaped(heading(comparison))}", ""]
    for letter, report in (("A", comparison.a), ("B", comparison.b)):
        lines.append(f"- **{letter}:** {escaped(_about(report))}")
    measures = ("Measure", "A:", "B:", "Difference:", "Winner")
    lines += ["", *table(measures, comparison_rows(comparison)), "", escaped(verdict(comparison))]
    for name, findings in (("gained", comparison.gained), ("lost", comparison.lost)):
        if findings:
            rows = [(gain(one.points), place(one), one.text) for one in findings]
            lines += ["", f"## {_findings_title(name)}", ""]
            lines += table(("Points:", "Place", "Found"), rows)
    if comparison.changed:
        lines += ["", f"## {_findings_title('changed')}", ""]
        titles = ("Points in A:", "Points in B:", "In A", "In B")
        lines += table(titles, map(_changed_row, comparison.changed))
    if not (comparison.gained or comparison.lost or comparison.changed):
        lines += ["", "Both have the same findings."]
    return "\n".join(lines) + "\n"


def comparison_lines(comparison: Comparison, *, width: int, ascii_only: bool = False) -> list[str]:
    """Return the comparison for a terminal, no line longer than *width* where words allow."""

    def fit(text: str, indent: str = "") -> list[str]:
        return wrapped(cell(text, ascii_only=ascii_only), width, indent)

    lines = fit(heading(comparison))
    for letter, report in (("A", comparison.a), ("B", comparison.b)):
        lines += fit(f"{letter}: {_about(report)}", "  ")
    rows = [
        tuple(cell(text, ascii_only=ascii_only) for text in row)
        for row in (TITLES, *comparison_rows(comparison))
    ]
    lines += ["", *_columns(rows), "", *fit(verdict(comparison))]
    for name, findings in (("gained", comparison.gained), ("lost", comparison.lost)):
        if findings:
            lines += ["", _findings_title(name)]
        for one in findings:
            lines += fit(f"{gain(one.points)} {_found(one)}", "  ")
    if comparison.changed:
        lines += ["", _findings_title("changed")]
    for change in comparison.changed:
        for letter, one in (("A", change.a), ("B", change.b)):
            lines += fit(f"{letter}: {gain(one.points)} {_found(one)}", "  ")
    return lines


def comparison_rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """Return the cells of the composite and of all dimensions."""
    composite = comparison.composite
    rows = [_row("Overall", composite, [_overall(composite.a), _overall(composite.b)])]
    for row in comparison.dimensions:
        assert row.dimension is not None
        rows.append(_row(title(row.dimension.value), row, [_share(row.a), _share(row.b)]))
    return rows


def heading(comparison: Comparison) -> str:
    """Return the title: the names of both directories."""
    return f"{directory_name(comparison.a)} and {directory_name(comparison.b)}"


def verdict(comparison: Comparison) -> str:
    """Return which one is better, in a sentence, and one for what makes them hard to compare."""
    winner = comparison.composite.winner
    apart = [
        title(row.dimension.value)
        for row in comparison.dimensions
        if row.dimension is not None and (row.a is None) != (row.b is None)
    ]
    caveat = ""
    if apart:
        names = ", ".join(apart)
        caveat = f" {names} not measured in both: the scores are made of other dimensions."
    if winner not in ("A", "B"):
        return f"Tie: both have the same score.{caveat}"
    by = difference(abs(comparison.composite.difference or 0)).removeprefix("+")
    name = directory_name(comparison.a if winner == "A" else comparison.b)
    return f"{winner} ({name}) is ahead by {by} points.{caveat}"


def directory_name(report: QualityReport) -> str:
    """Return the name of the directory that was scored, as far as its path says it."""
    path = PurePath(report.path)
    if path.name == "SKILL.md":
        path = path.parent
    return path.name if path.name not in ("", "..") else report.name or report.path


def _about(report: QualityReport) -> str:
    composite = report.composite
    badge = badge_name(composite.badge)
    return f"{report.path}, {points(composite.score)}, {badge}, {composite.confidence_label}"


def _findings_title(name: str) -> str:
    return {
        "gained": "Findings gained: in B, not in A",
        "lost": "Findings lost: in A, not in B",
        "changed": "Findings changed",
    }[name]


def _changed_row(change: Change) -> tuple[str, ...]:
    return gain(change.a.points), gain(change.b.points), _found(change.a), _found(change.b)


def _found(finding: Finding) -> str:
    return f"{place(finding)} {cut(finding.text, TEXT_LENGTH)}"


def _row(name: str, row: Row, scores: Sequence[str]) -> tuple[str, ...]:
    apart = ABSENT if row.difference is None else difference(row.difference)
    return (name, *scores, apart, row.winner or ABSENT)


def _overall(score: float | None) -> str:
    return ABSENT if score is None else f"{points(score, 0)}/100"


def _share(score: float | None) -> str:
    return ABSENT if score is None else decimals(score)


def _row_fields(row: Row) -> dict[str, object]:
    assert row.dimension is not None
    return {
        "name": row.dimension.value,
        "a": row.a,
        "b": row.b,
        "difference": row.difference,
        "winner": row.winner,
    }


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(display_width, column)) for column in _transposed(rows)]
    for row in rows:
        cells = (padded(text, width) for text, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def _transposed(rows: Sequence[Sequence[str]]) -> Iterable[tuple[str, ...]]:
    return zip(*rows, strict=True)
