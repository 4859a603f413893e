"""Quality scores as JSON, Markdown, page and table. Spec: quality-score, 12."""

from __future__ import annotations

import json
import re
from datetime import date
from html.parser import HTMLParser

import pytest

from pytest_plugin_eval.quality.model import Dimension, QualityReport
from pytest_plugin_eval.reports.columns import display_width
from pytest_plugin_eval.reports.markdown import escaped
from pytest_plugin_eval.reports.quality_html import quality_html
from pytest_plugin_eval.reports.quality_json import JsonContext, quality_json
from pytest_plugin_eval.reports.quality_markdown import quality_markdown
from pytest_plugin_eval.reports.quality_numbers import difference, points, share
from pytest_plugin_eval.reports.quality_table import bar, quality_lines, quality_overview_lines
from tests.support.golden import check_golden
from tests.support.quality import (
    ORPHAN,
    STATIC,
    deep,
    flagged,
    hostile,
    plugin,
    report,
    static_layer,
)

KEYS = [
    "plugin_path",
    "timestamp",
    "config",
    "layers",
    "composite",
    "elo",
    "model_usage",
    "total_duration_ms",
]
REPORTS = {"skill": report(), "flagged": flagged(), "deep": deep(), "plugin": plugin()}


class Page(HTMLParser):
    """The tags of a page, and the text of its preformatted block."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.preformatted = ""
        self._in_pre = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in_pre = self._in_pre or tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        self._in_pre = self._in_pre and tag != "pre"

    def handle_data(self, data: str) -> None:
        self.preformatted += data if self._in_pre else ""


@pytest.mark.parametrize("name", REPORTS)
def test_json(name: str) -> None:
    text = quality_json([REPORTS[name]], JsonContext())

    assert list(json.loads(text)) == KEYS
    check_golden(f"quality-{name}.json", text + "\n")


@pytest.mark.parametrize("name", REPORTS)
def test_markdown(name: str) -> None:
    check_golden(f"quality-{name}.md", quality_markdown([REPORTS[name]]))


@pytest.mark.parametrize("name", ["flagged", "plugin"])
def test_page(name: str) -> None:
    check_golden(f"quality-{name}.html", quality_html([REPORTS[name]]))


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize(("width", "ascii_only"), [(80, False), (120, False), (80, True)])
def test_table(name: str, width: int, ascii_only: bool) -> None:
    lines = quality_lines(REPORTS[name], width=width, explain=True, ascii_only=ascii_only)

    assert max(map(display_width, lines)) <= width
    assert not ascii_only or "".join(lines).isascii()
    suffix = f"{width}-ascii" if ascii_only else f"{width}"
    check_golden(f"quality-{name}-{suffix}.txt", "\n".join(lines) + "\n")


def test_several_reports_stand_in_a_list_and_below_a_table_of_all() -> None:
    reports = [report(), flagged()]

    listed = json.loads(quality_json(reports, JsonContext(), as_list=True))
    markdown = quality_markdown(reports)

    assert [one["plugin_path"] for one in listed] == ["skills/log-reader", "skills/tangle"]
    assert re.findall(r"^# .*", markdown, re.M) == [
        "# Quality scores",
        "# Quality score: log-reader",
        "# Quality score: tangled",
    ]
    check_golden("quality-several.txt", "\n".join(quality_overview_lines(reports, width=80)) + "\n")
    check_golden("quality-several.md", markdown)


def test_one_report_of_several_paths_is_a_list() -> None:
    assert len(json.loads(quality_json([report()], JsonContext(), as_list=True))) == 1


def test_explained_json_has_findings_and_skills_behind_the_keys_of_the_contract() -> None:
    document = json.loads(quality_json([plugin()], JsonContext(explain=True)))

    assert list(document) == [*KEYS, "findings", "skills"]
    assert [list(one) for one in document["skills"]] == [[*KEYS, "findings"]] * 2
    assert document["skills"][1]["findings"][0]["line"] == 3


def test_explained_markdown_lists_findings() -> None:
    text = quality_markdown([flagged()], explain=True)

    assert "| +9.2 | SKILL.md:3 | the description has 12 characters" in text
    assert "| +0.04 | SKILL.md | the text has 0 code fences" in text


def test_standing_is_added_to_the_report_of_its_path() -> None:
    lines = {"skills/log-reader": ["above 3 of 4"]}

    document = json.loads(
        quality_json([report()], JsonContext(standings={"skills/log-reader": {"compared": 4}}))
    )

    assert document["standing"] == {"compared": 4}
    assert "- above 3 of 4" in quality_markdown([report()], standings=lines)
    assert "<li>above 3 of 4</li>" in quality_html([report()], standings=lines)
    assert "  above 3 of 4" in quality_lines(report(), width=80, standing=lines[report().path])


@pytest.mark.parametrize(
    ("score", "shown"),
    [
        (73.7878787878788, "73.8"),
        (89.96, "89.96"),
        (89.999, "89.999"),
        (89.99999999999999, "90.0"),
        (59.95, "59.95"),
        (0.0, "0.0"),
        (100.0, "100.0"),
    ],
)
def test_points_never_look_like_a_badge_that_was_missed(score: float, shown: str) -> None:
    assert points(score) == shown


@pytest.mark.parametrize(
    ("score", "shown"),
    [(0.71, "0.710"), (0.89996, "0.89996"), (0.7 * 0.1 / 0.1, "0.700"), (0.5996, "0.5996")],
)
def test_shares_never_look_like_a_grade_that_was_missed(score: float, shown: str) -> None:
    assert share(score) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (0.5, "+0.50"), (-0.004, "-0.004"), (1e-12, "+1e-12"), (-12.0, "-12.00")],
)
def test_difference_is_nothing_only_where_there_is_none(value: float, shown: str) -> None:
    assert difference(value) == shown


@pytest.mark.parametrize(
    ("score", "shown"),
    [(0, ".........."), (0.001, "#........."), (0.5, "#####....."), (0.999, "#########.")],
)
def test_bar_is_full_or_empty_only_at_the_ends(score: float, shown: str) -> None:
    assert bar(score, 10, ascii_only=True) == shown
    assert bar(1, 10, ascii_only=True) == "##########"


@pytest.mark.parametrize(
    "value",
    [
        {"f1": float("nan")},
        {"when": date(2026, 1, 31)},
        {1: {"a"}, None: b"\xff", ("x",): ()},
        {"high": 10**5000},
        {"lone": "\ud800"},
    ],
    ids=["nan", "date", "keys", "huge", "surrogate"],
)
def test_metadata_of_any_kind_becomes_json(value: dict[str, object]) -> None:
    layer = static_layer()
    odd = type(layer)(
        layer=layer.layer,
        score=layer.score,
        sub_scores=layer.sub_scores,
        dimensions=layer.dimensions,
        metadata=value,
    )

    text = quality_json([report(odd)], JsonContext())

    assert "NaN" not in text
    assert len(json.loads(text.encode())["layers"][0]["metadata"]) == len(value)


def test_metadata_without_an_end_is_cut_off() -> None:
    looped: list[object] = []
    looped.append(looped)
    billions: list[object] = ["lol"]
    for _ in range(30):
        billions = [billions] * 10
    nested: object = 1
    for _ in range(5000):
        nested = [nested]
    layer = static_layer()
    odd = type(layer)(
        layer=layer.layer,
        score=layer.score,
        sub_scores=layer.sub_scores,
        dimensions=layer.dimensions,
        metadata={"nested": nested, "looped": looped, "billions": billions},
    )

    text = quality_json([report(odd)], JsonContext())

    assert len(text) < 5_000_000
    assert list(json.loads(text)["layers"][0]["metadata"]) == ["nested", "looped", "billions"]


def test_hostile_text_is_escaped_in_markdown() -> None:
    text = quality_markdown([hostile()], explain=True)

    rows = [line for line in text.splitlines() if line.startswith("| DEAD_CROSS_REF")]
    assert len(rows) == 1
    assert len(re.findall(r"(?<!\\)\|", rows[0])) == 4
    assert re.search(r"(?<!\\)<script", text) is None
    assert not re.search(r"(?<!\\)!\[|\]\(", text.replace("\\]", ""))
    assert "\x1b" not in text
    text.encode()


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("a|b", "a\\|b"),
        ("a\\|b", "a\\\\\\|b"),
        ("a\nb\tc\rd", "a b c d"),
        ("[x](y)", "\\[x\\](y)"),
        ("OVER_CONSTRAINED", "OVER_CONSTRAINED"),
        ("\ud800", "\ufffd"),
    ],
)
def test_cell_of_markdown(text: str, cell: str) -> None:
    assert escaped(text) == cell


def test_page_loads_nothing_and_runs_nothing() -> None:
    page = Page(quality_html([hostile(), deep()]))

    assert {"script", "link", "img", "iframe", "object", "base"} & {
        tag for tag, _ in page.tags
    } == (set())
    assert {
        value
        for _, attributes in page.tags
        for name, value in attributes.items()
        if name in ("src", "href", "style") or name.startswith("on")
    } == {"#report-1", "#report-2"}


def test_page_ends_with_the_markdown_in_one_block() -> None:
    page = Page(quality_html([hostile()]))

    assert [tag for tag, _ in page.tags].count("pre") == 1
    assert page.preformatted == quality_markdown([hostile()], explain=True)


def test_page_draws_a_bar_for_each_measured_dimension() -> None:
    page = Page(quality_html([report()]))

    widths = [
        attributes["width"]
        for tag, attributes in page.tags
        if tag == "rect" and attributes["class"] == "value"
    ]
    assert widths == ["71.0", "100.0", "20.0", "100.0", "65.0", "50.0"]


def test_unexplained_page_has_no_findings() -> None:
    assert "Findings" not in quality_html([flagged()], explain=False)


def test_findings_are_only_counted_unless_asked_for() -> None:
    lines = quality_lines(flagged(), width=80)

    assert lines[-1] == "2 findings; --explain lists them and what to do"
    assert not any("SKILL.md:3" in line for line in lines)


@pytest.mark.parametrize(("explain", "listed"), [(False, 20), (True, 25)])
def test_many_anti_patterns_are_listed_in_full_on_request(explain: bool, listed: int) -> None:
    lines = quality_lines(report(static_layer(flags=(ORPHAN,) * 25)), width=120, explain=explain)

    assert sum(line.startswith("  ! ") for line in lines) == listed
    assert ("  and 5 more; --explain lists all" in lines) == (not explain)
    assert "25 anti-patterns, -50% of the score" in lines


@pytest.mark.parametrize("target", [hostile(), plugin(), deep()], ids=["hostile", "plugin", "deep"])
@pytest.mark.parametrize("width", [60, 80])
def test_table_of_anything_is_printable(target: QualityReport, width: int) -> None:
    text = "\n".join(quality_lines(target, width=width, explain=True))

    assert "\x1b" not in text
    text.encode()


def test_score_just_below_a_badge_is_not_shown_as_the_badge() -> None:
    scores = dict.fromkeys(STATIC, 0.89996)

    almost = report(static_layer(scores))

    assert almost.composite.badge == "gold"
    assert "89.996 / 100" in "\n".join(quality_lines(almost, width=80))
    assert "| Score | 89.996/100 |" in quality_markdown([almost])
    assert Dimension.ROBUSTNESS not in scores
