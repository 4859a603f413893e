"""Scores that were worked out by hand, step by step. Spec: quality-score, 15."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.quality.composite import composite
from pytest_plugin_eval.quality.model import Dimension, LayerResult
from pytest_plugin_eval.quality.parse import read_plugin, read_skill
from pytest_plugin_eval.quality.static import static_plugin, static_skill
from pytest_plugin_eval.settings import Depth
from tests.support.skills import W1, write_skill
from tests.support.suites import write_tree
from tests.support.worked_skills import JUDGE, PLUGIN, RUNS, SKILLS

NAMES = (
    "frontmatter_quality",
    "orchestration_wiring",
    "progressive_disclosure",
    "structural_completeness",
    "token_efficiency",
    "ecosystem_coherence",
    "harness_portability",
)
SUB_SCORES = {
    "log-reader": (0.71, 1.0, 0.20, 0.65, 1.0, 0.50, 1.0),
    "tangle": (0.20, 0.55, 0.35, 0.0, 0.5272727272727272, 0.74, 0.91),
    "limits": (0.97, 1.0, 0.90, 1.0, 0.9967213114754099, 0.83, 1.0),
}
TANGLE_FLAGS = [
    "OVER_CONSTRAINED",
    "EMPTY_DESCRIPTION",
    "MISSING_TRIGGER",
    "ORPHAN_REFERENCE",
    "DEAD_CROSS_REF",
    "DEAD_CROSS_REF",
]
SCORES = {
    "log-reader": (0.7302, [], 73.7878787878788, "silver"),
    "tangle": (0.2701681818181818, TANGLE_FLAGS, 25.606887052341595, "no_badge"),
    "limits": (0.9659049180327869, [], 96.80352707401887, "platinum"),
}
COUNTS = {
    "log-reader": (28, 4, 0, 2, ("bash",), 0, ()),
    "tangle": (18, 0, 0, 0, (), 16, ("ghost", "ghost", "log")),
    "limits": (264, 5, 1, 6, ("python", "json", "bash"), 0, ("pools",)),
}
GRADES = {
    Dimension.TRIGGERING_ACCURACY: "C-",
    Dimension.ORCHESTRATION_FITNESS: "A+",
    Dimension.PROGRESSIVE_DISCLOSURE: "F",
    Dimension.TOKEN_EFFICIENCY: "A+",
    Dimension.STRUCTURAL_COMPLETENESS: "D",
    Dimension.ECOSYSTEM_COHERENCE: "F",
}


def static_of(root: Path, name: str) -> LayerResult:
    write_tree(root, SKILLS[name])
    return static_skill(read_skill(root / name))


@pytest.mark.parametrize(("name", "expected"), SUB_SCORES.items(), ids=SUB_SCORES)
def test_sub_scores_of_an_example(tmp_path: Path, name: str, expected: tuple[float, ...]) -> None:
    layer = static_of(tmp_path, name)

    assert layer.sub_scores == pytest.approx(dict(zip(NAMES, expected, strict=True)), abs=1e-9)


@pytest.mark.parametrize(("name", "expected"), SCORES.items(), ids=SCORES)
def test_score_of_an_example(
    tmp_path: Path, name: str, expected: tuple[float, list[str], float, str]
) -> None:
    layer = static_of(tmp_path, name)

    whole = composite([layer], depth_asked=Depth.QUICK)

    score, flags, total, badge = expected
    assert (layer.score, whole.score) == pytest.approx((score, total), abs=1e-9)
    assert [entry.flag for entry in layer.anti_patterns] == flags
    assert (whole.badge, whole.confidence_label) == (badge, "Estimated")


@pytest.mark.parametrize(("name", "expected"), COUNTS.items(), ids=COUNTS)
def test_counts_of_an_example(tmp_path: Path, name: str, expected: tuple[object, ...]) -> None:
    write_tree(tmp_path, SKILLS[name])

    counts = read_skill(tmp_path / name).counts

    assert (
        counts.line_count,
        counts.h2_count,
        counts.h3_count,
        counts.fence_count,
        counts.languages,
        counts.directive_count,
        counts.cross_references,
    ) == expected


def test_grades_of_the_silver_example(tmp_path: Path) -> None:
    whole = composite([static_of(tmp_path, "log-reader")], depth_asked=Depth.QUICK)

    grades = {each.dimension: each.grade for each in whole.dimensions}
    assert grades == {**dict.fromkeys(Dimension, "—"), **GRADES}


def test_plugin_is_the_mean_of_its_parts_times_the_penalty(tmp_path: Path) -> None:
    write_tree(tmp_path, PLUGIN)

    layer = static_plugin(read_plugin(tmp_path))
    whole = composite([layer], depth_asked=Depth.QUICK)

    assert layer.sub_scores["skill_scores"] == pytest.approx([0.7302, 0.2508704545454545])
    assert layer.sub_scores["agent_scores"] == pytest.approx([0.55, 1.0])
    assert layer.metadata == {"plugin_name": "demo-kit"}
    assert (layer.score, whole.score, whole.anti_pattern_penalty) == pytest.approx(
        (0.6327676136363636, 41.12989488636363, 0.65), abs=1e-9
    )
    assert (whole.badge, whole.confidence_label) == ("no_badge", "Estimated")


ALL_LAYERS = {
    Dimension.TRIGGERING_ACCURACY: (0.7785, "C+"),
    Dimension.ORCHESTRATION_FITNESS: (0.775, "C+"),
    Dimension.OUTPUT_QUALITY: (0.6525, "D"),
    Dimension.SCOPE_CALIBRATION: (0.5, "F"),
    Dimension.PROGRESSIVE_DISCLOSURE: (0.2, "F"),
    Dimension.TOKEN_EFFICIENCY: (0.8953472222222223, "B+"),
    Dimension.ROBUSTNESS: (0.9, "A-"),
    Dimension.STRUCTURAL_COMPLETENESS: (0.0, "F"),
    Dimension.CODE_TEMPLATE_QUALITY: (0.0, "—"),
    Dimension.ECOSYSTEM_COHERENCE: (0.5, "F"),
}


def test_three_layers_blend(tmp_path: Path) -> None:
    static = static_skill(read_skill(write_skill(tmp_path / "w1", W1)))

    whole = composite([static, JUDGE, RUNS], depth_asked=Depth.DEEP)

    assert whole.score == pytest.approx(64.92049319727892, abs=1e-9)
    assert (whole.badge, whole.confidence_label) == ("bronze", "Certified")
    scores = {each.dimension: each.score for each in whole.dimensions}
    assert scores == pytest.approx({key: score for key, (score, _) in ALL_LAYERS.items()})
    grades = {each.dimension: each.grade for each in whole.dimensions}
    assert grades == {key: grade for key, (_, grade) in ALL_LAYERS.items()}


def test_quick_score_of_the_same_skill(tmp_path: Path) -> None:
    static = static_skill(read_skill(write_skill(tmp_path / "w1", W1)))

    whole = composite([static], depth_asked=Depth.QUICK)

    assert static.score == pytest.approx(0.5833, abs=1e-9)
    assert whole.score == pytest.approx(60.984848484848484, abs=1e-9)
    assert whole.badge == "bronze"
