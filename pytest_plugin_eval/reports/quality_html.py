"""Quality scores as a page without script or request. Spec: quality-score, 12.3."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pytest_plugin_eval.quality.model import DimensionScore, Finding, QualityReport
from pytest_plugin_eval.reports.columns import cell
from pytest_plugin_eval.reports.quality_comparison import Comparison
from pytest_plugin_eval.reports.quality_comparison_text import (
    comparison_markdown,
    comparison_rows,
    heading,
    verdict,
)
from pytest_plugin_eval.reports.quality_markdown import (
    ONLY_STATIC,
    place,
    quality_markdown,
)
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
from pytest_plugin_eval.reports.rendering import rendered
from pytest_plugin_eval.text import decimals

__all__ = ["comparison_html", "quality_html"]

NO_STANDINGS: Mapping[str, Sequence[str]] = {}


def quality_html(
    reports: Sequence[QualityReport],
    *,
    explain: bool = True,
    standings: Mapping[str, Sequence[str]] = NO_STANDINGS,
) -> str:
    """Return one page for all reports; *explain* and *standings* as for Markdown."""
    name = reports[0].name or reports[0].path
    return rendered(
        "quality.html.j2",
        heading=cell("Quality scores" if len(reports) > 1 else f"Quality score: {name}"),
        reports=[
            _report(report, explain=explain, standing=standings.get(report.path, ()))
            for report in reports
        ],
        markdown=quality_markdown(reports, explain=explain, standings=standings),
    )


def comparison_html(comparison: Comparison) -> str:
    """Return the page of a comparison."""
    return rendered(
        "quality_comparison.html.j2",
        heading=cell(heading(comparison)),
        verdict=cell(verdict(comparison)),
        sides=[
            {"letter": letter, **_head(report)}
            for letter, report in (("A", comparison.a), ("B", comparison.b))
        ],
        rows=comparison_rows(comparison),
        gained=_findings(comparison.gained),
        lost=_findings(comparison.lost),
        changed=[
            {"a": _finding(change.a), "b": _finding(change.b)} for change in comparison.changed
        ],
        markdown=comparison_markdown(comparison),
    )


def _head(report: QualityReport) -> dict[str, object]:
    composite = report.composite
    flags, more = first_flags(report)
    return {
        "name": cell(report.name or report.path),
        "path": cell(report.path),
        "points": points(composite.score),
        "badge": badge_name(composite.badge),
        "label": composite.confidence_label,
        "anti_patterns": [
            {
                "flag": cell(one.flag),
                "text": cell(one.description),
                "severity": percent(one.severity),
            }
            for one in flags
        ],
        "flag_count": len(flags) + more,
        "more_flags": more_text(more),
    }


def _report(report: QualityReport, *, explain: bool, standing: Sequence[str]) -> dict[str, object]:
    penalty = report.composite.anti_pattern_penalty
    return {
        **_head(report),
        "target": report.target.value,
        "depth": depth_text(report),
        "timestamp": cell(report.timestamp),
        "penalty": penalty_text(penalty) if penalty < 1 else "",
        "note": f"Note: {ONLY_STATIC}." if is_downgraded(report) else "",
        "coverage": coverage_text(report),
        "dimensions": [_dimension(row) for row in report.composite.dimensions],
        "layers": [
            {
                "name": title(layer.layer.value),
                "score": share(layer.score) if layer.has_measured else ABSENT,
                "anti_patterns": len(layer.anti_patterns),
            }
            for layer in report.layers
        ],
        "explained": explain,
        "findings": _findings(report.findings[:MOST_LISTED]),
        "more_findings": more_text(len(report.findings) - MOST_LISTED),
        "skills": [_head(skill) for skill in report.skills] if explain else [],
        "standing": [cell(line) for line in standing],
        "usage": [(cell(model), f"{count:,}") for model, count in report.model_usage.items()],
    }


def _dimension(row: DimensionScore) -> dict[str, object]:
    return {
        "name": title(row.dimension.value),
        "weight": percent(row.weight),
        "score": share(row.score) if row.measured else ABSENT,
        "grade": row.grade,
        "measured": row.measured,
        "width": decimals(min(max(row.score, 0), 1) * 100, 1),
    }


def _findings(findings: Iterable[Finding]) -> list[dict[str, object]]:
    return [_finding(one) for one in findings]


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "points": gain(finding.points),
        "place": cell(place(finding)),
        "rule": cell(finding.rule),
        "text": cell(finding.text),
        "remedy": cell(finding.remedy),
    }
