"""The composite score of a session's plugins: lines, fields of the document, JUnit properties."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from pytest_plugin_eval.quality.composite import settled
from pytest_plugin_eval.quality.model import Finding, Layer, QualityReport, Target
from pytest_plugin_eval.reports.columns import INDENT, cell, display_width, hanging, padded, wrapped
from pytest_plugin_eval.reports.quality_json import composite_fields
from pytest_plugin_eval.reports.quality_numbers import gain, percent, points
from pytest_plugin_eval.reports.run_lines import below
from pytest_plugin_eval.text import plural

__all__ = [
    "SkillRow",
    "composite_document",
    "composite_lines",
    "composite_properties",
    "known_quality_cost",
    "missed_line",
    "quality_cost",
    "quality_notes",
    "skill_failure_text",
    "skill_row",
    "skill_table",
]

MOST_ROWS = 20
"""Of a table; the lowest are shown. The document has all."""
MOST_FINDINGS = 30
"""Of a failure text; the dearest."""
TITLES = ("COMPOSITE", "BADGE")
NO_BADGE = "no_badge"


class SkillRow(NamedTuple):
    """What the table says of one skill."""

    name: str
    score: float
    badge: str
    label: str
    flags: tuple[str, ...]


def skill_row(report: QualityReport) -> SkillRow:
    """Return the row of a skill that was scored."""
    composite = report.composite
    label, flags = composite.confidence_label, _flags(report)
    return SkillRow(_name(report), composite.score, composite.badge, label, flags)


def missed_line(report: QualityReport, limit: float, option: str) -> str:
    """Return in words that a plugin is below *limit*, which *option* set."""
    score, asked = below(report.composite.score, limit)
    return f"composite {score} of {_name(report)} is below {option} {asked}"


def composite_lines(
    reports: Iterable[QualityReport], *, width: int, ascii_only: bool = False
) -> list[str]:
    """Return a line for each plugin under test and a table of its skills."""
    lines: list[str] = []
    for report in reports:
        flags = _flags(report)
        text = f"composite {_standing(report)}: {_name(report)}{_penalty(report)}"
        if report.target is Target.SKILL and flags:
            text += f": {_flag_text(flags)}"
        lines += hanging(cell(text, ascii_only=ascii_only), width)
        rows = [skill_row(skill) for skill in report.skills]
        lines += skill_table(rows, width=width, ascii_only=ascii_only)
    return lines


def skill_failure_text(
    report: QualityReport, *, limit: float, whose: str, ascii_only: bool = False
) -> str:
    """Return why a skill fails: score, badge and limit, then what costs points, dearest first.

    *whose* says in words where the limit comes from; `QualityReport.path` is put before the files.
    """
    score, asked = below(report.composite.score, limit)
    badge = report.composite.badge.replace("_", " ")
    label = report.composite.confidence_label
    lines = [f"{_name(report)}: composite {score}, {badge} ({label}), below {whose} {asked}"]
    lines += report.problems
    lines += (_finding_line(report.path, finding) for finding in report.findings[:MOST_FINDINGS])
    if len(report.findings) > MOST_FINDINGS:
        more = plural(len(report.findings) - MOST_FINDINGS, "finding")
        lines.append(f"and {more} of fewer points")
    return "\n".join(cell(line, ascii_only=ascii_only) for line in lines)


def skill_table(rows: Sequence[SkillRow], *, width: int, ascii_only: bool = False) -> list[str]:
    """Return a table of skills: composite, badge, and the flags that cost points.

    Labels are shown where one says more than that the static layer ran.
    """
    if not rows:
        return []
    lowest = set(sorted(range(len(rows)), key=lambda at: rows[at].score)[:MOST_ROWS])
    listed = [row for at, row in enumerate(rows) if at in lowest]
    labelled = len({"Estimated", *(row.label for row in rows)}) > 1
    names = [cell(row.name, ascii_only=ascii_only) for row in listed]
    badges = [_badge(row, labelled=labelled) for row in listed]
    badge_width = max(map(len, (TITLES[1], *badges)))
    room = width - len(TITLES[0]) - badge_width - 3
    fitting = [size for name in names if (size := display_width(name)) <= room]
    name_width = max(len("SKILL"), *fitting, 0)
    lines = [_line("SKILL", TITLES[0], TITLES[1], name_width, badge_width) + " FLAGS"]
    for row, name, badge in zip(listed, names, badges, strict=True):
        fits = display_width(name) <= name_width
        if not fits:
            lines += wrapped(name, width, "")
        line = _line(name if fits else "", points(row.score), badge, name_width, badge_width)
        flags = cell(_flag_text(row.flags), ascii_only=ascii_only)
        if display_width(line) + 1 + display_width(flags) <= width:
            lines.append(f"{line} {flags}".rstrip())
        else:
            lines += [line.rstrip(), *wrapped(flags, width, INDENT)]
    if len(rows) > len(listed):
        more = plural(len(rows) - len(listed), "skill")
        lines.append(f"and {more} with higher scores")
    return lines


def quality_notes(report: QualityReport) -> Iterator[str]:
    """Yield what could not be read or measured, each once, with the name of what it is about."""
    known: list[str] = []
    for one in (report, *report.skills):
        layers = (text for layer in one.layers for text in layer.problems)
        for text in dict.fromkeys((*one.problems, *layers)):
            if not any(text in other for other in known):
                known.append(text)
                yield f"{_name(one)}: {text}"


def quality_cost(reports: Iterable[QualityReport]) -> float | None:
    """Return what the calls for these scores cost; ``None`` when that of one is unknown."""
    costs = [report.cost_usd for report in reports]
    return None if None in costs else sum(filter(None, costs))


def known_quality_cost(reports: Iterable[QualityReport]) -> float:
    """Return what the calls for these scores cost, as far as it is known."""
    # That of a plugin is the sum of its skills', and unknown with the first of them.
    parts = (one for report in reports for one in (report.skills or (report,)))
    return sum(one.cost_usd or 0.0 for one in parts)


def composite_document(report: QualityReport) -> dict[str, object]:
    """Return ``composite`` of the result document: that of the JSON report, and whose it is.

    ``notes`` stands only where something could not be read or measured.
    """
    fields: dict[str, object] = {"plugin": report.name, **_own_fields(report)}
    fields["skills"] = [{"skill": one.name, **_own_fields(one)} for one in report.skills]
    notes = list(quality_notes(report))
    return fields | ({"notes": notes} if notes else {})


def composite_properties(reports: Sequence[QualityReport]) -> Mapping[str, object]:
    """Return ``composite composite_badge composite_label`` of the first plugin under test."""
    if not reports:
        return {}
    composite = reports[0].composite
    return {
        "composite": composite.score,
        "composite_badge": composite.badge,
        "composite_label": composite.confidence_label,
    }


def _finding_line(directory: str, finding: Finding) -> str:
    place = str(PurePath(directory, finding.file))
    if finding.line is not None:
        place = f"{place}:{finding.line}"
    return f"{place}: {finding.text}, {gain(finding.points)} points: {finding.remedy}"


def _name(report: QualityReport) -> str:
    """Return the name, or that of the directory where the skill's own is empty."""
    return report.name or PurePath(report.path).name or report.path


def _own_fields(report: QualityReport) -> dict[str, object]:
    return {
        "path": report.path,
        "depth": report.depth.value,
        **composite_fields(report.composite),
        "flags": _flag_names(report),
    }


def _standing(report: QualityReport) -> str:
    composite = report.composite
    badge = composite.badge.replace("_", " ")
    return f"{points(composite.score)} {badge} ({composite.confidence_label})"


def _penalty(report: QualityReport) -> str:
    count = len(_flag_names(report))
    if not count:
        return ""
    share = percent(settled(1 - report.composite.anti_pattern_penalty))
    takes = "takes" if count == 1 else "take"
    return f"; {plural(count, 'flag')} {takes} {share}"


def _flag_names(report: QualityReport) -> list[str]:
    """Return the entries of the penalty, which are the static layer's, in order."""
    static = (layer for layer in report.layers if layer.layer is Layer.STATIC)
    return [entry.flag for layer in static for entry in layer.anti_patterns]


def _flags(report: QualityReport) -> tuple[str, ...]:
    counts = Counter(_flag_names(report))
    return tuple(f"{flag} ×{n}" if n > 1 else flag for flag, n in counts.items())  # noqa: RUF001


def _flag_text(flags: Iterable[str]) -> str:
    return ", ".join(flags)


def _badge(row: SkillRow, *, labelled: bool) -> str:
    badge = row.badge.replace("_", " ")
    return f"{badge} ({row.label})" if labelled else badge


def _line(name: str, score: str, badge: str, name_width: int, badge_width: int) -> str:
    numbers = f"{padded(score, len(TITLES[0]))} {padded(badge, badge_width)}"
    return f"{padded(name, name_width)}  {numbers}"
