"""Two quality scores side by side. Spec: quality-score, 13."""

from __future__ import annotations

import json

import pytest

from pytest_plugin_eval.quality.model import Dimension, Finding, QualityReport
from pytest_plugin_eval.reports.columns import display_width
from pytest_plugin_eval.reports.quality_comparison import compared
from pytest_plugin_eval.reports.quality_comparison_text import (
    comparison_json,
    comparison_lines,
    comparison_markdown,
    verdict,
)
from pytest_plugin_eval.reports.quality_html import comparison_html
from tests.support.golden import check_golden
from tests.support.quality import (
    STATIC,
    deep,
    finding,
    flagged,
    hostile,
    judge_layer,
    report,
    static_layer,
)

OLD = flagged()
NEW = report(
    findings=(
        finding("the description has 40 characters, 100 or more earn the most", points=3.0),
        finding("a long paragraph", rule="progressive_disclosure", points=1.5, line=None),
    )
)


def _with_trigger(score: float) -> QualityReport:
    return report(static_layer({**STATIC, Dimension.TRIGGERING_ACCURACY: score}))


def test_markdown() -> None:
    check_golden("quality-comparison.md", comparison_markdown(compared(OLD, NEW)))


def test_json() -> None:
    text = comparison_json(compared(OLD, NEW))

    document = json.loads(text)
    assert document["winner"] == "B"
    assert [row["name"] for row in document["dimensions"]] == list(Dimension)
    check_golden("quality-comparison.json", text + "\n")


def test_page() -> None:
    check_golden("quality-comparison.html", comparison_html(compared(OLD, NEW)))


@pytest.mark.parametrize(("width", "ascii_only"), [(80, False), (120, False), (80, True)])
def test_table(width: int, ascii_only: bool) -> None:
    lines = comparison_lines(compared(OLD, NEW), width=width, ascii_only=ascii_only)

    assert max(map(display_width, lines)) <= width
    assert not ascii_only or "".join(lines).isascii()
    suffix = f"{width}-ascii" if ascii_only else f"{width}"
    check_golden(f"quality-comparison-{suffix}.txt", "\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("a", "b", "winner"),
    [(0.71, 0.71, "Tie"), (0.71, 0.7100001, "B"), (0.7100001, 0.71, "A")],
)
def test_unrounded_values_decide(a: float, b: float, winner: str) -> None:
    comparison = compared(_with_trigger(a), _with_trigger(b))

    assert comparison.composite.winner == winner
    assert comparison.dimensions[0].winner == winner


def test_small_difference_is_shown() -> None:
    text = comparison_markdown(compared(_with_trigger(0.71), _with_trigger(0.7100001)))

    assert "| Triggering Accuracy | 0.71 | 0.71 | +0.0000001 | B |" in text
    assert "B (log-reader) is ahead by 0.000004 points." in text


def test_dimension_that_one_has_not_is_no_defeat() -> None:
    comparison = compared(report(), report(static_layer(), judge_layer()))

    row = next(r for r in comparison.dimensions if r.dimension is Dimension.OUTPUT_QUALITY)
    assert (row.a, row.b, row.difference, row.winner) == (None, 0.6, None, None)
    assert verdict(comparison).endswith(
        "Output Quality, Scope Calibration not measured in both: the scores are made of other "
        "dimensions."
    )


@pytest.mark.parametrize(
    ("a", "b", "gained", "lost", "changed"),
    [
        ((), (finding("x"),), ["x"], [], []),
        ((finding("x"),), (), [], ["x"], []),
        ((finding("x", line=3),), (finding("x", line=9),), [], [], []),
        ((finding("x (line 3)"),), (finding("x (line 9)"),), [], [], []),
        ((finding("x (lines 3, 5)"),), (finding("x (lines 4 and 6)"),), [], [], []),
        ((finding("x 1"),), (finding("x 2.5"),), [], [], [("x 1", "x 2.5")]),
        ((finding("1 fence"),), (finding("2 fences"),), [], [], [("1 fence", "2 fences")]),
        ((finding("to 'a'"),), (finding("to 'b'"),), ["to 'b'"], ["to 'a'"], []),
        ((finding("x"), finding("x")), (finding("x"),), [], ["x"], []),
        ((finding("x", rule="r"),), (finding("x", rule="s"),), ["x"], ["x"], []),
        ((finding("x"), finding("y")), (finding("y"), finding("z")), ["z"], ["x"], []),
    ],
    ids=[
        *("gained", "lost", "moved", "moved in words", "moved lines", "number", "plural", "target"),
        *("one of two", "other rule", "other text"),
    ],
)
def test_findings(
    a: tuple[Finding, ...],
    b: tuple[Finding, ...],
    gained: list[str],
    lost: list[str],
    changed: list[tuple[str, str]],
) -> None:
    comparison = compared(report(findings=a), report(findings=b))

    assert [one.text for one in comparison.gained] == gained
    assert [one.text for one in comparison.lost] == lost
    assert [(one.a.text, one.b.text) for one in comparison.changed] == changed


def test_names_are_printed_as_they_are_and_break_nothing() -> None:
    comparison = compared(hostile(), deep())

    assert "\\[31m" in comparison_markdown(comparison)
    assert "[31m" in "\n".join(comparison_lines(comparison, width=80))
    assert "<script>" not in comparison_html(comparison)
    assert json.loads(comparison_json(comparison))["winner"] in ("A", "B")
