"""Reports of quality scores of arbitrary names and texts: no error, and each format stays whole."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from pytest_plugin_eval.quality.composite import badge, grade, settled
from pytest_plugin_eval.quality.model import (
    AntiPattern,
    Dimension,
    Finding,
    Layer,
    LayerResult,
    QualityReport,
    Target,
)
from pytest_plugin_eval.reports.columns import display_width
from pytest_plugin_eval.reports.markdown import escaped
from pytest_plugin_eval.reports.quality_comparison import compared
from pytest_plugin_eval.reports.quality_comparison_text import (
    comparison_json,
    comparison_lines,
    comparison_markdown,
)
from pytest_plugin_eval.reports.quality_html import comparison_html, quality_html
from pytest_plugin_eval.reports.quality_json import JsonContext, quality_json
from pytest_plugin_eval.reports.quality_markdown import quality_markdown
from pytest_plugin_eval.reports.quality_numbers import difference, points, share
from pytest_plugin_eval.reports.quality_table import bar, quality_lines, quality_overview_lines
from tests.support.quality import finding, report

# Surrogates stand for bytes of a path that are no UTF-8.
_anything = st.text(
    st.characters() | st.characters(categories=["Cs", "Cc", "Cf", "Zl", "Zp"]), max_size=30
)
_markup = st.text("|\\`*_<>[]()!#&\"'\n\r\t -ab\u2028\u202e", max_size=30)
_texts = _anything | _markup
_shares = st.floats(0, 1)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=10,
)
_findings = st.builds(
    Finding,
    file=_texts,
    line=st.none() | st.integers(1, 10**6),
    rule=_texts,
    text=_texts,
    points=st.floats(0, 100),
    remedy=_texts,
)
_layers = st.builds(
    LayerResult,
    layer=st.sampled_from(Layer),
    score=_shares,
    sub_scores=st.dictionaries(_texts, _json, max_size=3),
    dimensions=st.dictionaries(st.sampled_from(Dimension), _shares),
    anti_patterns=st.lists(
        st.builds(AntiPattern, flag=_texts, description=_texts, severity=_shares), max_size=3
    ).map(tuple),
    metadata=st.dictionaries(_texts, _json, max_size=3),
    model_usage=st.dictionaries(_texts, st.integers(0), max_size=2),
    has_measured=st.booleans(),
)
_reports = st.builds(
    lambda layers, path, name, target, findings, skills: report(
        *layers, path=path, name=name, target=target, findings=findings, skills=skills
    ),
    st.lists(_layers, min_size=1, max_size=3),
    _texts,
    _texts,
    st.sampled_from(Target),
    st.lists(_findings, max_size=3),
    st.lists(st.builds(report, path=_texts, name=_texts), max_size=2),
)
_CELL = re.compile(r"(?:\\.|[^|\\])*")
_FRAME = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What controls a terminal."""


class _Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)


def _emptied(one: QualityReport) -> QualityReport:
    """Return the same report with the same number of everything, and no odd character in it."""
    return report(
        *(
            LayerResult(
                layer=layer.layer,
                score=layer.score,
                sub_scores={},
                dimensions=layer.dimensions,
                anti_patterns=tuple(
                    AntiPattern(flag="F", description="d", severity=each.severity)
                    for each in layer.anti_patterns
                ),
                model_usage={f"m{i}": 1 for i, _ in enumerate(layer.model_usage)},
                has_measured=layer.has_measured,
            )
            for layer in one.layers
        ),
        path="p",
        name="n",
        target=one.target,
        findings=[finding(str(i), rule="r") for i, _ in enumerate(one.findings)],
        skills=[report(path="s", name="s") for _ in one.skills],
    )


def _refuse(name: str) -> object:
    raise AssertionError(f"{name} is no JSON")


@given(_reports, st.booleans(), st.booleans())
def test_json_parses_back(one: QualityReport, explain: bool, as_list: bool) -> None:
    text = quality_json([one], JsonContext(explain=explain), as_list=as_list)

    parsed = json.loads(text.encode(), parse_constant=_refuse)
    document = parsed[0] if as_list else parsed
    assert document["composite"]["score"] == one.composite.score
    assert [layer["score"] for layer in document["layers"]] == [layer.score for layer in one.layers]


@given(_reports)
def test_markdown_keeps_its_tables(one: QualityReport) -> None:
    text = quality_markdown([one], explain=True)

    text.encode()
    columns = 0
    for line in text.split("\n"):
        cells = len(_CELL.sub("", line)) - 1
        assert not line.startswith("|") or columns in (0, cells)
        columns = cells if line.startswith("|") else 0
    assert len(re.findall(r"^## ", text, re.M)) == len(
        re.findall(r"^## ", quality_markdown([_emptied(one)], explain=True), re.M)
    )


@given(_texts)
def test_cell_is_one_line_of_which_nothing_acts(text: str) -> None:
    cell = escaped(text)

    assert len(cell.splitlines()) <= 1 or not re.search(r"[\n\r\x0b\x0c]", cell)
    assert not re.search(r"[|`*<\[\]]", re.sub(r"\\.", "", cell))


@given(_reports)
def test_page_has_the_tags_of_an_innocent_one(one: QualityReport) -> None:
    text = quality_html([one])

    text.encode()
    measured = sum(row.measured for row in one.composite.dimensions)
    usage = len(one.model_usage)
    innocent = _emptied(one)
    if usage == len(innocent.model_usage):
        assert _Tags(text).found == _Tags(quality_html([innocent])).found
    assert _Tags(text).found.count("svg") == measured


@given(_reports, st.sampled_from([60, 80, 120]), st.booleans())
def test_table_controls_no_terminal(one: QualityReport, width: int, ascii_only: bool) -> None:
    lines = quality_lines(one, width=width, explain=True, ascii_only=ascii_only)
    lines += quality_overview_lines([one, one], width=width, ascii_only=ascii_only)

    for line in lines:
        assert _FRAME.search(line) is None
        assert "\n" not in line
        line.encode("ascii" if ascii_only else "utf-8")
        assert display_width(line) <= width


@given(_reports, _reports)
def test_comparison_is_whole_in_every_format(a: QualityReport, b: QualityReport) -> None:
    comparison = compared(a, b)

    document = json.loads(comparison_json(comparison).encode())
    assert document["a"]["composite"]["score"] == a.composite.score
    comparison_markdown(comparison).encode()
    assert "script" not in _Tags(comparison_html(comparison)).found
    for line in comparison_lines(comparison, width=80):
        assert _FRAME.search(line) is None
    gained, lost = len(comparison.gained), len(comparison.lost)
    assert gained - lost == len(b.findings) - len(a.findings)


@given(_reports)
def test_nothing_is_gained_or_lost_against_itself(one: QualityReport) -> None:
    comparison = compared(one, one)

    assert (comparison.gained, comparison.lost, comparison.changed) == ((), (), ())
    assert comparison.composite.winner == "Tie"


@given(st.floats(0, 100))
def test_points_name_the_badge_that_was_given(score: float) -> None:
    assert badge(float(points(score))) == badge(score)
    assert abs(float(points(score)) - settled(score)) <= 0.05 + 1e-9


@given(_shares)
def test_shares_name_the_grade_that_was_given(score: float) -> None:
    assert grade(float(share(score))) == grade(score)


@given(st.floats(-100, 100))
def test_difference_has_the_sign_that_it_has(value: float) -> None:
    text = difference(value)

    assert (text[0] == "+", text[0] == "-") == (value > 0, value < 0)


@given(_shares, st.integers(2, 60))
def test_bar_has_its_width(score: float, width: int) -> None:
    drawn = bar(score, width)

    assert len(drawn) == width
    assert ("░" in drawn, "█" in drawn) == (score < 1, score > 0)
