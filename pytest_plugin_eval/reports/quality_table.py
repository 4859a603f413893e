"""A quality score on a terminal: a row and a bar for each dimension, and what costs points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_plugin_eval.quality.model import DimensionScore, Finding, QualityReport
from pytest_plugin_eval.reports.columns import INDENT, cell, display_width, padded, wrapped
from pytest_plugin_eval.reports.quality_markdown import ONLY_STATIC, place
from pytest_plugin_eval.reports.quality_numbers import (
    ABSENT,
    MOST_LISTED,
    badge_name,
    coverage_text,
    depth_text,
    findings_sum,
    gain,
    is_downgraded,
    more_text,
    penalty_text,
    percent,
    points,
    share,
    title,
)
from pytest_plugin_eval.text import cut, plural

__all__ = ["bar", "quality_lines", "quality_overview_lines"]

NAME_WIDTH = 24
NUMBERS_WIDTH = 22
"""Of weight, score and grade with what parts them."""
SHORTEST_BAR = 10
LONGEST_BAR = 40
TEXT_LENGTH = 1000
LISTED = 20
"""Anti-patterns; a page of dead links has one for each."""
OVERVIEW = (("SCORE", 6), ("BADGE", 8), ("CONFIDENCE", 10), ("FLAGS", 5))
NO_STANDINGS: Mapping[str, Sequence[str]] = {}


def quality_lines(
    report: QualityReport,
    *,
    width: int,
    explain: bool = False,
    ascii_only: bool = False,
    standing: Sequence[str] = (),
) -> list[str]:
    """Return the table of a report, no line longer than *width* where words allow.

    *explain* lists the findings, which else are only counted.
    """
    lines = [*wrapped(_text(_heading(report), ascii_only), width, ""), ""]
    lines += wrapped(_text(_verdict(report), ascii_only), width, "  ")
    lines.append("")
    lines += _dimension_lines(report, width, ascii_only)
    lines += wrapped(_text(_made_of(report), ascii_only), width, "")
    if is_downgraded(report):
        lines += wrapped(_text(ONLY_STATIC, ascii_only), width, "")
    lines += _anti_pattern_lines(report, width, explain=explain, ascii_only=ascii_only)
    if report.skills:
        lines += ["", *quality_overview_lines(report.skills, width=width, ascii_only=ascii_only)]
    if standing:
        lines += ["", "Standing in the corpus"]
        for line in standing:
            lines += wrapped(_text(line, ascii_only), width, "  ")
    lines += ["", *_finding_lines(report, width, explain=explain, ascii_only=ascii_only)]
    return lines


def quality_overview_lines(
    reports: Sequence[QualityReport], *, width: int, ascii_only: bool = False
) -> list[str]:
    """Return a table with a row for each report."""
    rows = [(_text(report.path, ascii_only), _overview_cells(report)) for report in reports]
    widths = [
        max(least, *(len(cells[i]) for _, cells in rows)) for i, (_, least) in enumerate(OVERVIEW)
    ]
    room = width - sum(widths) - 2 * len(widths)
    fitting = [display_width(name) for name, _ in rows if display_width(name) <= room]
    name_width = max([4, *fitting])
    titles = [name for name, _ in OVERVIEW]
    lines = [_overview_line("PATH", titles, name_width, widths)]
    for name, cells in rows:
        fits = display_width(name) <= name_width
        if not fits:
            lines += wrapped(name, width, "")
        lines.append(_overview_line(name if fits else "", cells, name_width, widths))
    return lines


def bar(score: float, width: int, *, ascii_only: bool = False) -> str:
    """Return a bar of *width* columns: full only for 1, empty only for 0."""
    filled = int(score * width + 0.5)
    if 0 < score < 1:
        filled = min(max(filled, 1), width - 1)
    filled = min(max(filled, 0), width)
    full, rest = ("#", ".") if ascii_only else ("█", "░")
    return full * filled + rest * (width - filled)


def _heading(report: QualityReport) -> str:
    name = f"{report.name} " if report.name else ""
    return f"{name}({report.target.value}, {depth_text(report)}): {report.path}"


def _verdict(report: QualityReport) -> str:
    composite = report.composite
    badge = badge_name(composite.badge)
    return f"{points(composite.score)} / 100 · {badge} · {composite.confidence_label}"


def _dimension_lines(report: QualityReport, width: int, ascii_only: bool) -> Iterator[str]:
    bar_width = min(max(width - NAME_WIDTH - NUMBERS_WIDTH, SHORTEST_BAR), LONGEST_BAR)
    yield f"{'DIMENSION':{NAME_WIDTH}}{'':{bar_width}}  WEIGHT  SCORE  GRADE"
    for row in report.composite.dimensions:
        yield _dimension_line(row, bar_width, ascii_only).rstrip()


def _dimension_line(row: DimensionScore, width: int, ascii_only: bool) -> str:
    drawn = bar(row.score, width, ascii_only=ascii_only) if row.measured else "not measured"
    score = share(row.score) if row.measured else ABSENT
    name = padded(cell(title(row.dimension.value)), NAME_WIDTH)
    numbers = f"  {percent(row.weight):>6}  {score:>5}  {row.grade}"
    return f"{name}{drawn[:width]:{width}}{_text(numbers, ascii_only)}"


def _made_of(report: QualityReport) -> str:
    layers = ", ".join(
        f"{title(layer.layer.value).lower()} "
        + (share(layer.score) if layer.has_measured else "not measured")
        for layer in report.layers
    )
    return f"{coverage_text(report)}; layers: {layers}"


def _anti_pattern_lines(
    report: QualityReport, width: int, *, explain: bool, ascii_only: bool
) -> list[str]:
    found = [one for layer in report.layers for one in layer.anti_patterns]
    if not found:
        return ["no anti-pattern"]
    penalty = penalty_text(report.composite.anti_pattern_penalty)
    lines = ["", f"{plural(len(found), 'anti-pattern')}, {penalty} of the score"]
    shown = found[: MOST_LISTED if explain else LISTED]
    for one in shown:
        text = f"{one.flag}: {cut(one.description, TEXT_LENGTH)}"
        lines += _item("  ! ", _text(text, ascii_only), width)
    if len(found) > len(shown):
        more = len(found) - len(shown)
        lines.append(
            f"  {more_text(more)}" if explain else f"  and {more} more; --explain lists all"
        )
    return lines


def _finding_lines(
    report: QualityReport, width: int, *, explain: bool, ascii_only: bool
) -> list[str]:
    if not report.findings:
        return ["nothing found that costs points"] if explain else []
    if not explain:
        return wrapped(f"{findings_sum(report)}; --explain lists them and what to do", width, "")
    lines = wrapped(
        f"{findings_sum(report)}, each with the points that mending it alone would win back",
        width,
        "",
    )
    for one in report.findings[:MOST_LISTED]:
        lines += _finding(one, width, ascii_only)
    more = more_text(len(report.findings) - MOST_LISTED)
    return [*lines, more] if more else lines


def _finding(finding: Finding, width: int, ascii_only: bool) -> list[str]:
    head = f"{gain(finding.points):>6}  {place(finding)}  {finding.rule}"
    found = _text(cut(finding.text, TEXT_LENGTH), ascii_only)
    remedy = _text(f"↳ {cut(finding.remedy, TEXT_LENGTH)}", ascii_only)
    return [
        *_item("", _text(head, ascii_only), width, strip=False),
        *wrapped(found, width, " " * 8),
        *wrapped(remedy, width, " " * 8),
    ]


def _item(mark: str, text: str, width: int, *, strip: bool = True) -> list[str]:
    """Return the lines of a text behind a mark, the second and further ones indented."""
    if display_width(mark + text) <= width or not text.split():
        return [mark + text]
    lines = wrapped(text, width, " " * len(mark) if mark else INDENT)
    return [mark + lines[0].strip() if strip else lines[0], *lines[1:]]


def _overview_cells(report: QualityReport) -> tuple[str, ...]:
    composite = report.composite
    flags = sum(len(layer.anti_patterns) for layer in report.layers)
    return (
        points(composite.score),
        badge_name(composite.badge),
        composite.confidence_label,
        str(flags),
    )


def _overview_line(name: str, cells: Sequence[str], name_width: int, widths: Sequence[int]) -> str:
    numbers = "  ".join(padded(text, width) for text, width in zip(cells, widths, strict=True))
    return f"{padded(name, name_width)}  {numbers}".rstrip()


def _text(text: str, ascii_only: bool) -> str:
    return cell(text, ascii_only=ascii_only)
