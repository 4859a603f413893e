"""The composite of a session's plugins: lines, document and properties."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_plugin_eval.quality.model import QualityReport
from pytest_plugin_eval.reports.columns import display_width
from pytest_plugin_eval.reports.composite import (
    composite_document,
    composite_lines,
    composite_properties,
    known_quality_cost,
    missed_line,
    quality_cost,
    quality_notes,
    skill_failure_text,
    skill_row,
    skill_table,
)
from pytest_plugin_eval.reports.document import document_text
from pytest_plugin_eval.reports.junit import skill_properties, suite_properties
from pytest_plugin_eval.reports.table import table_lines
from tests.support.golden import check_golden
from tests.support.quality import deep, flagged, hostile, plugin, report
from tests.support.results import judged_suite, mixed_suite

LONG = (
    "a-skill-of-a-name-that-takes-more-than-a-terminal-of-eighty-columns-can-show-in-one-row-of-it"
)


def _plugin(*skills: QualityReport) -> QualityReport:
    return replace(plugin(), skills=skills)


def _with_score(score: float, name: str = "x", badge: str = "silver") -> QualityReport:
    one = report(name=name)
    return replace(one, composite=replace(one.composite, score=score, badge=badge))


@pytest.mark.parametrize("width", [80, 120])
def test_plugin_and_table_of_its_skills(width: int) -> None:
    reports = [
        _plugin(report(), flagged(), replace(deep(), name="deep-one"), report(name=LONG)),
        flagged(),
    ]

    lines = composite_lines(reports, width=width)

    assert max(map(display_width, lines)) <= width
    check_golden(f"composite-{width}.txt", "\n".join(lines) + "\n")


def test_plugin_and_table_without_unicode() -> None:
    repeated = flagged()
    layer = repeated.layers[0]
    repeated = replace(
        repeated, layers=(replace(layer, anti_patterns=layer.anti_patterns * 2),), name="größe"
    )

    text = "\n".join(composite_lines([_plugin(repeated)], width=80, ascii_only=True)) + "\n"

    assert text.isascii()
    check_golden("composite-80-ascii.txt", text)


def test_composites_stand_below_the_summary() -> None:
    lines = table_lines(mixed_suite(), width=80, quality=[plugin()])

    composites = composite_lines([plugin()], width=80)
    assert lines == [*table_lines(mixed_suite(), width=80), "", *composites]


def test_no_plugin_adds_no_line() -> None:
    assert composite_lines([], width=80) == []


def test_long_table_shows_the_lowest() -> None:
    rows = [skill_row(_with_score(float(n), name=f"s{n:02}")) for n in range(25)]

    lines = skill_table(rows, width=80)

    assert [line.split()[0] for line in lines] == ["SKILL", *(f"s{n:02}" for n in range(20)), "and"]
    assert lines[-1] == "and 5 skills with higher scores"


def test_skill_without_a_name_goes_by_its_directory() -> None:
    assert skill_row(report(name="", path="demo/skills/log-reader")).name == "log-reader"


def test_missed_limit_is_told_with_digits_that_tell_it() -> None:
    line = missed_line(_with_score(59.9996, name="demo"), 60, "--eval-min-composite")

    assert line == "composite 59.9996 of demo is below --eval-min-composite 60.0000"


def test_notes_name_what_they_are_about_and_come_once() -> None:
    skill = report(name="w1", problems=("scope not measured: no money",))
    one = replace(_plugin(skill), problems=("plugin.json: broken",))

    notes = list(quality_notes(replace(one, skills=(skill, skill))))

    assert notes == ["demo-kit: plugin.json: broken", "w1: scope not measured: no money"]


@pytest.mark.parametrize(
    ("costs", "known", "whole"),
    [([0.0], 0.0, 0.0), ([0.25, 0.5], 0.75, 0.75), ([0.25, None], 0.25, None), ([], 0.0, 0.0)],
)
def test_unknown_cost_is_never_nothing(
    costs: list[float | None], known: float, whole: float | None
) -> None:
    skills = [replace(report(), cost_usd=cost) for cost in costs]
    reports = [replace(_plugin(*skills), cost_usd=whole)]

    assert known_quality_cost(reports) == known
    assert quality_cost(reports) == whole


def test_failure_text_has_findings_in_the_order_given() -> None:
    text = skill_failure_text(
        flagged(), limit=60.0, whose="the least for a badge,", ascii_only=False
    )

    head, *findings = text.splitlines()
    assert head == (
        "tangled: composite "
        f"{flagged().composite.score:.2f}, no badge (Estimated), below the least for a badge, 60.00"
    )
    assert len(findings) == len(flagged().findings)
    assert all(line.startswith("skills/tangle/SKILL.md") for line in findings)
    assert "points: show more code blocks" in findings[1]


def test_long_list_of_findings_is_cut() -> None:
    one = replace(flagged(), findings=flagged().findings * 20)

    text = skill_failure_text(one, limit=60, whose="x")

    assert text.endswith("and 10 findings of fewer points")
    assert len(text.splitlines()) == 32


def test_hostile_names_stay_on_their_line() -> None:
    lines = composite_lines([replace(plugin(), skills=(hostile(),)), hostile()], width=80)
    text = skill_failure_text(hostile(), limit=60, whose="x")

    joined = "\n".join([*lines, *text.splitlines()])
    assert [char for char in joined if ord(char) < 32 and char != "\n"] == []
    assert len(text.splitlines()) == 1 + len(hostile().problems) + len(hostile().findings)


# Document and properties


def test_document_holds_the_first_composite_and_all_of_several() -> None:
    written = json.loads(document_text(mixed_suite(), quality=[plugin(), deep()]))

    assert written["composite"]["plugin"] == "demo-kit"
    assert [one["plugin"] for one in written["composites"]] == ["demo-kit", "log-reader"]
    assert written["costs"]["qualityUsd"] == pytest.approx(quality_cost([plugin(), deep()]))


@pytest.mark.parametrize(("quality", "keys"), [(None, set()), ([], {"composite"})])
def test_document_without_a_score(quality: list[QualityReport] | None, keys: set[str]) -> None:
    written = json.loads(document_text(mixed_suite(), quality=quality))

    assert written.keys() & {"composite", "composites"} == keys
    assert written.get("composite") is None
    assert ("qualityUsd" in written["costs"]) == (quality is not None)


def test_composite_of_the_document_in_order() -> None:
    fields = composite_document(plugin())

    assert list(fields) == [
        "plugin", "path", "depth", "score", "ci_lower", "ci_upper", "anti_pattern_penalty",
        "dimensions", "badge", "confidence_label", "flags", "skills",
    ]  # fmt: skip
    assert [skill["skill"] for skill in fields["skills"]] == ["log-reader", "tangled"]  # type: ignore[attr-defined]


def test_what_was_not_measured_is_in_the_document() -> None:
    fields = composite_document(replace(report(), problems=("scope not measured: no money",)))

    assert fields["notes"] == ["log-reader: scope not measured: no money"]


def test_cost_of_the_score_is_beside_that_of_the_runs() -> None:
    suite = mixed_suite()
    paid = replace(plugin(), skills=(replace(report(), cost_usd=0.25),), cost_usd=0.25)

    lines = table_lines(suite, width=80, quality=[paid])

    assert "quality score: $0.25 besides" in lines
    assert "quality score" not in "\n".join(table_lines(judged_suite(), width=80))


def test_properties_of_a_suite_and_of_a_skill() -> None:
    suite = dict(suite_properties(mixed_suite(), quality=[deep()]))
    skill = dict(skill_properties(deep(), limit=60.0))
    quick = dict(skill_properties(report(), limit=70.5))

    assert suite["plugin_eval_composite_label"] == "Certified"
    assert composite_properties([]) == {}
    assert skill["limit"] == "60"
    assert skill["composite_badge"] == deep().composite.badge
    assert "cost_usd" in skill
    assert "cost_usd" not in quick
    assert quick["limit"] == "70.5"
