"""Every number that the reference printed for a corpus of skills and plugins."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pytest_plugin_eval.quality.composite import composite
from pytest_plugin_eval.quality.model import CompositeScore, LayerResult
from pytest_plugin_eval.quality.parse import PluginSource, read_target
from pytest_plugin_eval.quality.static import static_plugin, static_skill
from pytest_plugin_eval.settings import Depth
from tests.support.corpus import CORPUS, expected, needs_corpus

SECTIONS = {
    "skills": ("skills/{}", 40),
    "plugins": ("plugins/{}", 6),
    "plugin_skills": ("plugins/{}/skills/{}", 8),
    "crafted": ("crafted/{}", 165),
    "crafted_plugins": ("crafted-plugins/{}", 2),
}
"""Where the entries of each section lie, and how many there are."""
# Git keeps no empty directories.
EMPTY_REFERENCES = ("crafted/lines/emptyrefs-801", "crafted/refs/empty-dir")


def _place(section: str, name: str) -> str:
    pattern, _ = SECTIONS[section]
    return pattern.format(*(name.split("/") if pattern.count("{") > 1 else [name]))


ENTRIES = {name: entries for name, entries in expected().items() if name in SECTIONS}
ROWS = [
    pytest.param(_place(section, name), entry, id=f"{section}-{name}")
    for section, entries in ENTRIES.items()
    for name, entry in entries.items()
]


def scored(path: Path) -> tuple[LayerResult, CompositeScore]:
    source = read_target(path)
    layer = static_plugin(source) if isinstance(source, PluginSource) else static_skill(source)
    return layer, composite([layer], depth_asked=Depth.QUICK)


def printed(layer: LayerResult, whole: CompositeScore) -> dict[str, object]:
    """Return a score under the keys of an entry, with the steps that are right by the spec."""
    grades = {each.dimension.value: each.grade for each in whole.dimensions}
    numbers = layer.sub_scores if "agent_scores" in layer.sub_scores else {}
    return {
        **layer.metadata,
        **(numbers or {"sub_scores": layer.sub_scores}),
        "static_score": layer.score,
        "anti_patterns": [[entry.flag, entry.severity] for entry in layer.anti_patterns],
        "anti_pattern_penalty": whole.anti_pattern_penalty,
        "composite": whole.score,
        "confidence_label": whole.confidence_label,
        "dimensions": {each.dimension.value: each.score for each in whole.dimensions},
        "badge_exact": whole.badge,
        "grades_exact": grades,
    }


def close(value: object) -> object:
    """Return what equals a value of an entry within 1e-9."""
    if isinstance(value, dict):
        return {key: close(each) for key, each in value.items()}
    if isinstance(value, list):
        return [close(each) for each in value]
    return pytest.approx(value, abs=1e-9, rel=0) if isinstance(value, float) else value


@needs_corpus
@pytest.mark.parametrize(("place", "entry"), ROWS or [pytest.param("", {}, id="none")])
def test_score_is_what_the_reference_printed(
    tmp_path: Path, place: str, entry: dict[str, object]
) -> None:
    path = CORPUS / place
    if place in EMPTY_REFERENCES:
        path = Path(shutil.copytree(path, tmp_path / path.name))
        (path / "references").mkdir(exist_ok=True)

    result = printed(*scored(path))

    assert result == close({key: each for key, each in entry.items() if key in result})


@needs_corpus
def test_corpus_is_whole() -> None:
    counts = {section: len(entries) for section, entries in ENTRIES.items()}

    assert counts == {section: count for section, (_, count) in SECTIONS.items()}


@needs_corpus
def test_order_of_sub_scores_is_that_of_the_contract() -> None:
    entry = ENTRIES["crafted"]["ex1/log-reader"]

    layer, _ = scored(CORPUS / "crafted/ex1/log-reader")

    assert list(layer.sub_scores) == list(json.loads(json.dumps(entry["sub_scores"])))
