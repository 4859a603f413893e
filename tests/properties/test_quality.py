"""The static layer and the composite on arbitrary files: no surprise, whatever they hold."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_plugin_eval.errors import QualityError
from pytest_plugin_eval.quality.composite import (
    badge,
    composite,
    composite_score,
    grade,
    is_below,
    penalty,
)
from pytest_plugin_eval.quality.counts import counts_of
from pytest_plugin_eval.quality.fields import FieldsError, load
from pytest_plugin_eval.quality.model import AntiPattern, Dimension, Layer, LayerResult
from pytest_plugin_eval.quality.parse import PluginSource, SkillSource, read_target
from pytest_plugin_eval.quality.static import static_plugin, static_skill
from pytest_plugin_eval.quality.static.anti_patterns import reference_links
from pytest_plugin_eval.quality.static.coherence import RELATION_WORDS
from pytest_plugin_eval.quality.static.portability import TOOL_NAMES, tools_referenced
from pytest_plugin_eval.quality.static.wiring import (
    INPUT_WORDS,
    ORCHESTRATION_WORDS,
    OUTPUT_WORDS,
    names_output_format,
)
from pytest_plugin_eval.settings import Depth

_PIECES = (
    "---", "\n", "\r\n", "\r", " ", "\t", "name: ", "description: ", "x", "paths: a", "[", "]", "{",
    "}", "&a ", "*a", "<<: ", "'", '"', "- ", "? ", ": ", "!!set ", "yes", "null", "use when",
    ", for ", "testing", "## ", "### ", "```", "py", "MUST", "NEVER", "skills/", "skill/",
    "sub-skills/", "a", "-", "/", "_", "(references/", ")", "a.md", "|", "output", "format",
    "return", "json", "input", "args", "dispatch", "see also", "related", "complement", "the ",
    "use ", "`Read`", "`", "Bash", " tool", "\u2028", "\x85", "\x00", "é", "\ufeff", "when to use",
)  # fmt: skip
_texts = st.lists(st.sampled_from(_PIECES), max_size=40).map("".join)
_files = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=100).map(lambda text: text.encode("utf-8", "replace")),
    _texts.map(str.encode),
    _texts.map(lambda text: f"---\n{text}\n---\n{text}".encode()),
)
_names = st.sampled_from(("a.md", "A.md", "b", "with space.md", "\udcff.md", "é", ".md"))
_entries = st.sampled_from(("file", "directory", "broken", "loop"))
_scores = st.dictionaries(st.sampled_from(Dimension), st.floats(0, 1), max_size=10)


@contextmanager
def tree(files: Mapping[str, bytes]) -> Iterator[Path]:
    """Yield a directory with some files, which is gone afterwards."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "target"
        root.mkdir()
        for path, data in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        yield root


def layer_of(path: Path) -> LayerResult | str:
    """Return the static layer of a path, or in one line why it has none."""
    try:
        source = read_target(path)
    except QualityError as error:
        return str(error)
    assert all(problem.isprintable() for problem in source.problems)
    return static_plugin(source) if isinstance(source, PluginSource) else static_skill(source)


def check(path: Path) -> None:
    found = layer_of(path)

    assert layer_of(path) == found
    if isinstance(found, str):
        assert found.isprintable()
        return
    whole = composite([found], depth_asked=Depth.QUICK)
    assert 0 <= found.score <= 1
    assert 0 <= whole.score <= 100
    assert all(0 <= each.score <= 1 for each in whole.dimensions)
    assert whole.anti_pattern_penalty == penalty(len(found.anti_patterns))
    assert all(entry.description.isprintable() for entry in found.anti_patterns)


@given(_files)
def test_any_skill_file_is_scored_or_refused(data: bytes) -> None:
    with tree({"SKILL.md": data}) as root:
        check(root)


@given(_files, _files, _files)
def test_any_files_of_a_plugin_are_scored(skill: bytes, agent: bytes, manifest: bytes) -> None:
    files = {
        ".claude-plugin/plugin.json": manifest,
        "skills/a/SKILL.md": skill,
        "agents/a.md": agent,
    }
    with tree(files) as root:
        source = read_target(root)

        assert isinstance(source, PluginSource)
        check(root)


@given(st.dictionaries(_names, _entries, max_size=5), _texts)
def test_any_entries_of_references_are_listed(entries: dict[str, str], text: str) -> None:
    with tree({"SKILL.md": text.encode()}) as root:
        place = root / "references"
        place.mkdir()
        for name, kind in entries.items():
            if kind == "file":
                (place / name).write_bytes(b"\xff")
            elif kind == "directory":
                (place / name).mkdir()
            else:
                (place / name).symlink_to(name if kind == "loop" else "gone")
        source = read_target(root)

        assert isinstance(source, SkillSource)
        files = {name for name, kind in entries.items() if kind == "file"}
        assert set(source.reference_files) == files
        check(root)


@given(_texts, st.integers(1, 12))
def test_each_dead_reference_is_an_entry_of_the_penalty(text: str, more: int) -> None:
    # Whatever `text` ends with, what follows the line break is a reference of its own.
    with tree({"SKILL.md": f"{text}\nskills/gone\n".encode()}) as root:
        few = layer_of(root)
        (root / "SKILL.md").write_text(f"{text}\n{'skills/gone ' * more}skills/gone\n")
        many = layer_of(root)

    assert isinstance(few, LayerResult)
    assert isinstance(many, LayerResult)
    assert len(many.anti_patterns) == len(few.anti_patterns) + more
    assert penalty(len(many.anti_patterns)) <= penalty(len(few.anti_patterns))


@given(_texts)
def test_yaml_is_read_or_refused(text: str) -> None:
    said = ""
    try:
        load(text)
    except FieldsError as error:
        said = str(error)

    assert "\n" not in said


# What the specification's own patterns find; ours begin differently, to be fast.
_SPECIFIED = {
    "directives": r"\b(?:MUST|NEVER|ALWAYS)\b",
    "cross_references": r"(?<![\w-])((?:skill|skills|sub-skills)/[a-z0-9-]+(?:/[a-z0-9-]+)*)",
    "links": r"\(references/([^)]+)\)",
    "output": r"\b(?:returns?|produces?|outputs?|generates?)\b",
    "input": r"\b(?:input|receives?|accepts?|parameters?|args?)\b",
    "orchestration": r"\b(?:orchestrat|coordinat|dispatch)",
    "relation": r"\brelated\b|\bsee also\b|\bcompanion\b|\bcomplement",
    "format": r"\boutput\b.*\bformat\b|\bformat\b.*\boutput\b|\breturn.*json\b",
}
_WORDS = st.lists(
    st.sampled_from(
        (*_PIECES, "s", "MUST", "skills", "sub-", "returns", "json", "accept", "parameter", "arg")
    ),
    max_size=25,
).map("".join)


def specified(name: str, text: str) -> list[str]:
    return re.findall(_SPECIFIED[name], text)


@given(_WORDS)
def test_fast_patterns_find_what_the_specified_ones_find(text: str) -> None:
    counts = counts_of(text, text)

    assert counts.directive_count == len(specified("directives", text))
    paths = [re.sub("^skills?/", "", found) for found in specified("cross_references", text)]
    assert list(counts.cross_references) == paths
    assert list(reference_links(text)) == specified("links", text)
    assert OUTPUT_WORDS.findall(text) == specified("output", text)
    assert INPUT_WORDS.findall(text) == specified("input", text)
    assert ORCHESTRATION_WORDS.findall(text) == specified("orchestration", text)
    assert RELATION_WORDS.findall(text) == specified("relation", text)
    assert names_output_format(text) == bool(specified("format", text))


@given(_WORDS)
def test_headings_are_lines_that_begin_so(text: str) -> None:
    counts = counts_of(text.replace("\r", "\n"), text.replace("\r", "\n"))

    lines = text.replace("\r", "\n").strip().split("\n")
    assert counts.h2_count == sum(line.startswith("## ") for line in lines)
    assert counts.h3_count == sum(line.startswith("### ") for line in lines)


@given(_WORDS)
def test_tools_are_of_the_known_names(text: str) -> None:
    known = {name.lower() for name in TOOL_NAMES}

    assert {name.lower() for name in tools_referenced(text)} <= known


def layer(kind: Layer, scores: Mapping[Dimension, float], entries: int) -> LayerResult:
    entry = AntiPattern(flag="DEAD_CROSS_REF", description="x", severity=0.05)
    return LayerResult(
        layer=kind,
        score=0.0,
        sub_scores={},
        dimensions=scores,
        anti_patterns=(entry,) * entries,
    )


@given(_scores, _scores, _scores, st.integers(0, 15))
def test_composite_lies_within_its_scores(
    static: dict[Dimension, float],
    judge: dict[Dimension, float],
    runs: dict[Dimension, float],
    entries: int,
) -> None:
    layers = [
        layer(Layer.STATIC, static, entries),
        layer(Layer.JUDGE, judge, 0),
        layer(Layer.MONTE_CARLO, runs, 0),
    ]

    whole = composite(layers, depth_asked=Depth.DEEP)

    values = [*static.values(), *judge.values(), *runs.values()]
    low, high = (min(values), max(values)) if values else (0.0, 0.0)
    factor = 100 * penalty(entries)
    assert low * factor - 1e-9 <= whole.score <= high * factor + 1e-9
    assert [each.dimension for each in whole.dimensions] == list(Dimension)
    assert {each.dimension for each in whole.dimensions if each.measured} == {
        *static, *judge, *runs
    }  # fmt: skip
    assert composite(layers[::-1], depth_asked=Depth.DEEP).score == pytest.approx(whole.score)
    assert composite_score(layers) == whole.score


@given(_scores, st.sampled_from(Dimension), st.floats(0, 1))
def test_composite_rises_with_each_score(
    scores: dict[Dimension, float], dimension: Dimension, more: float
) -> None:
    before = {**scores, dimension: scores.get(dimension, 0.0)}
    after = {**before, dimension: max(before[dimension], more)}

    low, high = (
        composite([layer(Layer.STATIC, each, 0)], depth_asked=Depth.QUICK).score
        for each in (before, after)
    )

    assert low <= high + 1e-9


@given(st.integers(0, 1000))
def test_penalty_never_rises_with_more_entries(entries: int) -> None:
    assert 0.5 <= penalty(entries + 1) <= penalty(entries) <= 1.0


_BADGES = ("no_badge", "bronze", "silver", "gold", "platinum")
_GRADES = ("F", "D-", "D", "D+", "C-", "C", "C+", "B-", "B", "B+", "A-", "A", "A+")


@given(st.floats(0, 1), st.floats(0, 1))
def test_steps_never_fall_with_a_higher_score(one: float, other: float) -> None:
    low, high = sorted((one, other))

    assert _BADGES.index(badge(low * 100)) <= _BADGES.index(badge(high * 100))
    assert _GRADES.index(grade(low)) <= _GRADES.index(grade(high))


@given(st.sampled_from((60, 63, 67, 70, 73, 77, 80, 83, 87, 90, 93, 97)), st.booleans())
def test_step_is_reached_in_spite_of_binary_rounding(step: int, below: bool) -> None:
    score = math.nextafter(step / 100, 0.0 if below else 1.0)

    assert grade(score) == grade(step / 100)


@given(st.floats(0, 100), st.floats(0, 100))
def test_no_score_is_below_itself_or_one_that_is_lower(one: float, other: float) -> None:
    low, high = sorted((one, other))

    assert not is_below(one, one)
    assert not is_below(high, low)
