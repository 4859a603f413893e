"""A quality score as Markdown. Spec: quality-score, 12.2."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pytest_plugin_eval.quality.model import Finding, QualityReport
from pytest_plugin_eval.reports.markdown import escaped, table
from pytest_plugin_eval.reports.quality_numbers import (
    ABSENT,
    MOST_LISTED,
    badge_name,
    coverage_text,
    depth_text,
    first_flags,
    gain,
    is_downgraded,
    more_text,
    penalty_text,
    percent,
    points,
    share,
    title,
)

__all__ = ["ONLY_STATIC", "finding_rows", "place", "quality_markdown"]

ONLY_STATIC = "only the static layer runs on a plugin; the deeper ones score a skill at a time"
NO_STANDINGS: Mapping[str, Sequence[str]] = {}


def quality_markdown(
    reports: Sequence[QualityReport],
    *,
    explain: bool = False,
    standings: Mapping[str, Sequence[str]] = NO_STANDINGS,
) -> str:
    """Return the reports one after another, several after a table of them all.

    *explain* adds what costs points, and the skills of a plugin; *standings* has lines by path.
    """
    parts = [_overview(reports)] if len(reports) > 1 else []
    parts += [
        _section(report, explain=explain, standing=standings.get(report.path, ()))
        for report in reports
    ]
    return "\n\n".join(parts) + "\n"


def place(finding: Finding) -> str:
    """Return ``SKILL.md:3``, or the file alone."""
    return finding.file if finding.line is None else f"{finding.file}:{finding.line}"


def finding_rows(findings: Iterable[Finding]) -> list[tuple[str, str, str, str]]:
    """Return the cells of findings: points, place, what was found, what to do."""
    return [(gain(one.points), place(one), one.text, one.remedy) for one in findings]


def _overview(reports: Sequence[QualityReport]) -> str:
    rows = [
        (
            report.path,
            points(report.composite.score),
            badge_name(report.composite.badge),
            report.composite.confidence_label,
            str(sum(len(layer.anti_patterns) for layer in report.layers)),
        )
        for report in reports
    ]
    titles = ("Path", "Score:", "Badge", "Confidence", "Anti-patterns:")
    return "\n".join(["# Quality scores", "", *table(titles, rows)])


def _section(report: QualityReport, *, explain: bool, standing: Sequence[str]) -> str:
    lines = [
        f"# Quality score: {escaped(report.name) or escaped(report.path)}",
        "",
        f"**Path:** {escaped(report.path)}  ",
        f"**Timestamp:** {escaped(report.timestamp)}  ",
        f"**Depth:** {depth_text(report)}",
        "",
    ]
    if is_downgraded(report):
        lines += [f"> Note: {ONLY_STATIC}.", ""]
    lines += ["## Overall Score", "", *_overall(report), ""]
    lines += ["## Layer Breakdown", "", *_layers(report), ""]
    lines += ["## Dimension Scores", "", *_dimensions(report), ""]
    lines += [f"The score is made of what was measured: {coverage_text(report)}.", ""]
    lines += ["## Anti-Patterns Detected", "", *_anti_patterns(report), ""]
    if explain:
        lines += ["## Findings", "", *_findings(report), ""]
        if report.skills:
            lines += ["## Skills", "", *_skills(report), ""]
    if standing:
        lines += ["## Standing", "", *(f"- {escaped(line)}" for line in standing), ""]
    lines += ["## Model Usage", "", *_usage(report)]
    return "\n".join(lines)


def _overall(report: QualityReport) -> list[str]:
    composite = report.composite
    rows = [
        ("Score", f"{points(composite.score)}/100"),
        ("Confidence", composite.confidence_label),
        ("Badge", badge_name(composite.badge)),
    ]
    if composite.anti_pattern_penalty < 1:
        rows.append(("Anti-pattern penalty", penalty_text(composite.anti_pattern_penalty)))
    return table(("Metric", "Value"), rows)


def _layers(report: QualityReport) -> list[str]:
    rows = [
        (
            title(layer.layer.value),
            share(layer.score) if layer.has_measured else ABSENT,
            str(len(layer.anti_patterns)),
        )
        for layer in report.layers
    ]
    return table(("Layer", "Score:", "Anti-patterns:"), rows)


def _dimensions(report: QualityReport) -> list[str]:
    rows = [
        (
            title(row.dimension.value),
            percent(row.weight),
            share(row.score) if row.measured else ABSENT,
            row.grade,
        )
        for row in report.composite.dimensions
    ]
    return table(("Dimension", "Weight:", "Score:", "Grade"), rows)


def _anti_patterns(report: QualityReport) -> list[str]:
    listed, more = first_flags(report)
    if not listed:
        return ["None was found."]
    rows = [(one.flag, one.description, percent(one.severity)) for one in listed]
    return [*table(("Flag", "Description", "Severity:"), rows), *_more(more)]


def _more(count: int) -> list[str]:
    return ["", more_text(count)] if count > 0 else []


def _findings(report: QualityReport) -> list[str]:
    if not report.findings:
        return ["Nothing costs points."]
    titles = ("Points:", "Place", "Found", "What to do")
    return [
        "Points of the composite that mending each alone would win back.",
        "",
        *table(titles, finding_rows(report.findings[:MOST_LISTED])),
        *_more(len(report.findings) - MOST_LISTED),
    ]


def _skills(report: QualityReport) -> list[str]:
    rows = [
        (skill.name, points(skill.composite.score), badge_name(skill.composite.badge))
        for skill in report.skills
    ]
    return table(("Skill", "Score:", "Badge"), rows)


def _usage(report: QualityReport) -> list[str]:
    usage = report.model_usage
    if not usage:
        return ["No model was asked."]
    return table(("Model", "Tokens:"), ((name, f"{count:,}") for name, count in usage.items()))
