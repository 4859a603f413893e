"""Reports of a skill with very many flaws: what people read is bounded, JSON is not."""

from __future__ import annotations

import json
from dataclasses import replace

from pytest_plugin_eval.reports.quality_html import quality_html
from pytest_plugin_eval.reports.quality_json import JsonContext, quality_json
from pytest_plugin_eval.reports.quality_markdown import quality_markdown
from pytest_plugin_eval.reports.quality_numbers import MOST_LISTED
from pytest_plugin_eval.reports.quality_table import quality_lines
from tests.support import quality

BEYOND = 7
FLAGS = tuple(replace(quality.ORPHAN, description=f"link {n}") for n in range(MOST_LISTED + BEYOND))
MANY = quality.report(
    quality.static_layer(flags=FLAGS),
    findings=tuple(quality.finding(f"flaw {n}") for n in range(MOST_LISTED + BEYOND)),
)
LAST, FIRST_LEFT_OUT = MOST_LISTED - 1, MOST_LISTED


def test_pages_list_a_bearable_number_and_tell_of_the_rest() -> None:
    for text in (
        quality_html([MANY], explain=True),
        quality_markdown([MANY], explain=True),
        "\n".join(quality_lines(MANY, width=100, explain=True)),
    ):
        assert text.count(f"and {BEYOND} more, which the JSON report lists") >= 2
        assert f"link {LAST}" in text
        assert f"link {FIRST_LEFT_OUT}" not in text
        assert f"flaw {LAST}" in text
        assert f"flaw {FIRST_LEFT_OUT}" not in text


def test_json_has_all() -> None:
    document = json.loads(quality_json([MANY], JsonContext(explain=True)))

    assert len(document["layers"][0]["anti_patterns"]) == MOST_LISTED + BEYOND
    assert len(document["findings"]) == MOST_LISTED + BEYOND
