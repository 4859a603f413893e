"""Quality scores made again from a result document: what it says of them, without the layers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pytest_plugin_eval.quality.model import (
    AntiPattern,
    CompositeScore,
    DimensionScore,
    Layer,
    LayerResult,
    QualityReport,
    Target,
)
from pytest_plugin_eval.results.saved_document import SavedComposite, SavedDocument

__all__ = ["joined_quality", "rebuilt_quality"]

UNMEASURED = "—"
"""The grade of a dimension that nothing measured."""


def rebuilt_quality(document: SavedDocument) -> tuple[QualityReport, ...] | None:
    """Return the scores of the plugins under test, the main one first.

    ``None`` where the document says nothing of them.
    """
    if "composite" not in document.model_fields_set:
        return None
    only = () if document.composite is None else (document.composite,)
    reports = [_report(one, document.started_at) for one in document.composites or only]
    if not reports:
        return ()
    # The document tells the sum alone.
    cost_usd = document.costs.quality_usd
    rest = (_with_cost(report, 0.0) for report in reports[1:])
    return (_with_cost(reports[0], cost_usd), *rest)


def joined_quality(documents: Iterable[SavedDocument]) -> tuple[QualityReport, ...] | None:
    """Return the scores of several sessions' plugins, each plugin once, and what all of them cost.

    Sessions with the same files of a plugin found the same score by its text.
    """
    found = [quality for one in documents if (quality := rebuilt_quality(one)) is not None]
    if not found:
        return None
    by_name: dict[str, QualityReport] = {}
    for report in (report for quality in found for report in quality):
        by_name.setdefault(report.name, report)
    costs = [report.cost_usd for quality in found for report in quality]
    cost_usd = None if None in costs else sum(filter(None, costs))
    first, *rest = by_name.values() or (None,)
    if first is None:
        return ()
    return (_with_cost(first, cost_usd), *(_with_cost(report, 0.0) for report in rest))


def _with_cost(report: QualityReport, cost_usd: float | None) -> QualityReport:
    return replace(report, cost_usd=cost_usd)


def _report(saved: SavedComposite, timestamp: str) -> QualityReport:
    notes = tuple(note.removeprefix(f"{saved.plugin or saved.skill}: ") for note in saved.notes)
    static = LayerResult(
        layer=Layer.STATIC,
        score=saved.score / 100,
        sub_scores={},
        dimensions={},
        anti_patterns=tuple(
            AntiPattern(flag=flag, description="", severity=0.0) for flag in saved.flags
        ),
    )
    return QualityReport(
        path=saved.path,
        target=Target.SKILL if saved.plugin is None else Target.PLUGIN,
        name=saved.plugin or saved.skill or "",
        depth=saved.depth,
        effective_depth=saved.depth,
        layers=(static,),
        composite=CompositeScore(
            score=saved.score,
            anti_pattern_penalty=saved.penalty,
            dimensions=tuple(
                DimensionScore(
                    dimension=one.name,
                    weight=one.weight,
                    score=one.score,
                    grade=one.grade,
                    measured=one.grade != UNMEASURED,
                    evidence=one.evidence,
                )
                for one in saved.dimensions
            ),
            badge=saved.badge,
            confidence_label=saved.confidence_label,
        ),
        timestamp=timestamp,
        skills=tuple(_report(one, timestamp) for one in saved.skills),
        problems=notes,
    )
