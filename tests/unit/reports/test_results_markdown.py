"""The results of a suite as a comment of a pull request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from pytest_plugin_eval.quality.model import QualityReport
from pytest_plugin_eval.reports.results_markdown import MOST_CHARACTERS, results_markdown
from pytest_plugin_eval.scoring.aggregate import case_result, suite_result
from pytest_plugin_eval.scoring.model import CaseResult, SuiteResult
from tests.support import quality, results
from tests.support.golden import check_golden
from tests.support.markdown import acting

ATTACK = "<img src=x> | @everyone [a](https://example.org) `b` #1"


def _case(name: str, with_run: str = "PP", explanation: str = "no x") -> CaseResult:
    info = results.case_info(name, runs=results.plan(1, 1))
    letters = tuple(
        results.verdict(letter, f"g{n}", explanation=explanation)
        for n, letter in enumerate(with_run, 1)
    )
    runs = [results.run("with-1", letters, case=info), results.run("without-1", "FF", case=info)]
    return case_result(info, runs, threshold=0.75, expected=info.plan)


def _suite(*cases: CaseResult, partial: str | None = None) -> SuiteResult:
    plugins = ({"name": "git-scribe", "path": "/plugin"},)
    info = results.suite_info(threshold=0.75, plugins=plugins)
    return suite_result(info, cases, partial_reason=partial)


@pytest.mark.parametrize(
    ("name", "suite", "scores"),
    [
        ("passed", _suite(_case("first"), _case("second")), [quality.plugin()]),
        ("failed", _suite(_case("first"), _case("second", "PF")), []),
        ("stopped", _suite(_case("first"), partial="cost_ceiling"), []),
        ("nothing", _suite(), []),
    ],
)
def test_comment(name: str, suite: SuiteResult, scores: Sequence[QualityReport]) -> None:
    text = "\n".join(results_markdown(suite, scores)) + "\n"

    check_golden(f"results-{name}.md", text)


def test_nothing_that_a_model_or_an_author_wrote_acts() -> None:
    innocent = _suite(_case("name", "PF", "words"))
    hostile = _suite(_case("name", "PF", ATTACK))
    case = replace(hostile.cases[0], info=replace(hostile.cases[0].info, name=ATTACK))
    info = replace(hostile.info, plugins=({"name": ATTACK, "path": ATTACK},))
    hostile = replace(hostile, cases=(case,), info=info)

    pages = [
        MarkdownIt("commonmark").enable("table").render("\n".join(results_markdown(one)))
        for one in (innocent, hostile)
    ]

    assert acting(pages[1]) == acting(pages[0])
    assert "img src" in pages[1]
    assert not re.search(r"@\w|#\d|://", pages[1])


def test_comment_of_a_large_suite_has_room_and_tells_of_failed_cases() -> None:
    cases = [_case(f"case-{n}" * 20, "PP" if n else "PF", "#1@x" * 200) for n in range(400)]

    lines = results_markdown(_suite(*reversed(cases)))

    rows = [line for line in lines if line.startswith("| case-")]
    assert sum(map(len, rows)) <= MOST_CHARACTERS
    assert [line for line in rows if "| failed |" in line]
    assert f"And {400 - len(rows)} more cases, 0 of them failed: see the report." in lines
    assert len("\n".join(lines)) < 65_536


def test_many_skills_are_cut_to_the_lowest() -> None:
    skill = quality.plugin().skills[0]
    several = replace(quality.plugin(), skills=(skill,) * 70)

    lines = results_markdown(_suite(_case("first")), [several])

    assert "And 20 skills with higher scores." in lines
