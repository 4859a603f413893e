"""A quality score as JSON. Spec: quality-score, 12.1."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from pytest_plugin_eval.quality.model import (
    CompositeScore,
    DimensionScore,
    Finding,
    LayerResult,
    QualityReport,
)
from pytest_plugin_eval.reports.json_text import json_text
from pytest_plugin_eval.text import without_surrogates

__all__ = ["JsonContext", "composite_fields", "finding_fields", "quality_fields", "quality_json"]

DEEPEST = 40
"""Levels of a model's reply or of a field's value: what is nested deeper is left out."""
MOST_VALUES = 20_000
"""Values in the metadata of a layer: an alias in YAML can stand for billions."""
LEFT_OUT = "…"


class JsonContext(NamedTuple):
    """What the document says of the command that made it."""

    output_format: str = "json"
    verbose: bool = False
    corpus_path: str | None = None
    explain: bool = False
    """Add the findings, and the skills of a plugin, behind the keys of the contract."""
    standings: Mapping[str, object] = MappingProxyType({})
    """By path: where each stands in the corpus, behind the keys of the contract."""


def quality_json(
    reports: Sequence[QualityReport], context: JsonContext, *, as_list: bool = False
) -> str:
    """Return the one report as an object, or all as a list in their order."""
    documents = [quality_fields(report, context) for report in reports]
    text = json_text(documents if as_list else documents[0])
    return without_surrogates(text)


def quality_fields(report: QualityReport, context: JsonContext) -> dict[str, object]:
    """Return the document of a report, its keys in the order of the contract."""
    fields: dict[str, object] = {
        "plugin_path": report.path,
        "timestamp": report.timestamp,
        "config": {
            "depth": report.depth.value,
            "concurrency": report.concurrency,
            "output_format": context.output_format,
            "verbose": context.verbose,
            "corpus_path": context.corpus_path,
            "judges": report.judges,
            "monte_carlo_n": report.monte_carlo_n,
        },
        "layers": [_layer_fields(layer) for layer in report.layers],
        "composite": composite_fields(report.composite),
        "elo": None,
        "model_usage": report.model_usage,
        "total_duration_ms": None,
    }
    if report.path in context.standings:
        fields["standing"] = context.standings[report.path]
    if context.explain:
        fields["findings"] = [finding_fields(one) for one in report.findings]
        if report.skills:
            fields["skills"] = [quality_fields(skill, context) for skill in report.skills]
    return fields


def composite_fields(composite: CompositeScore) -> dict[str, object]:
    """Return the composite as every document has it."""
    return {
        "score": composite.score,
        "ci_lower": None,
        "ci_upper": None,
        "anti_pattern_penalty": composite.anti_pattern_penalty,
        "dimensions": [_dimension_fields(row) for row in composite.dimensions],
        "badge": composite.badge,
        "confidence_label": composite.confidence_label,
    }


def finding_fields(finding: Finding) -> dict[str, object]:
    """Return a finding."""
    return {
        "file": finding.file,
        "line": finding.line,
        "rule": finding.rule,
        "text": finding.text,
        "points": finding.points,
        "remedy": finding.remedy,
    }


def _layer_fields(layer: LayerResult) -> dict[str, object]:
    return {
        "layer": layer.layer.value,
        "score": layer.score,
        "sub_scores": _Plain().of(layer.sub_scores),
        "anti_patterns": [
            {"flag": one.flag, "description": one.description, "severity": one.severity}
            for one in layer.anti_patterns
        ],
        "metadata": _Plain().of(layer.metadata),
    }


def _dimension_fields(row: DimensionScore) -> dict[str, object]:
    return {
        "name": row.dimension.value,
        "weight": row.weight,
        "score": row.score,
        "ci_lower": None,
        "ci_upper": None,
        "grade": row.grade,
        "evidence": list(row.evidence),
        "weighted_score": row.weight * row.score,
    }


class _Plain:
    """Makes JSON of what comes from a model or from YAML, whatever it is and however much."""

    def __init__(self) -> None:
        self._left = MOST_VALUES

    def of(self, value: object, depth: int = 0) -> object:
        """Return *value* as what JSON knows: no loop, no NaN, no other type."""
        self._left -= 1
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if depth == DEEPEST or self._left <= 0:
            return LEFT_OUT
        if isinstance(value, Mapping):
            found: dict[str, object] = {}
            for key, one in value.items():
                if self._left <= 0:
                    break
                found[key if isinstance(key, str) else _text(key)] = self.of(one, depth + 1)
            return found
        if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes):
            items: list[object] = []
            for one in value:
                if self._left <= 0:
                    break
                items.append(self.of(one, depth + 1))
            return items
        return _text(value)


def _text(value: object) -> str:
    """Return a value of YAML that JSON has no form for, such as a date, or a key."""
    if value is None or isinstance(value, bool):
        return json_text(value)
    return repr(value) if isinstance(value, tuple) else str(value)
