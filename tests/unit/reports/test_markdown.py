"""Text in Markdown: it is shown as it is, and nothing of it acts."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from pytest_plugin_eval.reports.markdown import escaped, table
from tests.support.markdown import NO_WIDTH, acting, shown_text

ACTING = {
    "emphasis": "*a* _b_ **c** __d__ ~~e~~ ~f~",
    "code": "`a` ``b``",
    "link": "[x](https://example.org) [y][z] <https://example.org>",
    "image": "![x](https://example.org/x.png)",
    "html": "<img src=x onerror=alert(1)> </details> <!-- -->",
    "entity": "&lt;b&gt; &#64;all &amp;",
    "backslash": "\\*a\\* \\",
    "address": "https://example.org http://x ftp://x www.example.org WWW.example.org mailto:a",
    "mention": "@everyone @org/team a@example.org",
    "issue": "#12 org/repo#34 GH-56 gh-7 !8",
    "emoji": ":tada: :+1: a:b:",
    "formula": "$x$ $$y$$ $`z`$",
    "heading": "# a",
    "quotation": "> a",
    "list": "- a",
    "plus list": "+ a",
    "numbered list": "1. a",
    "bracketed list": "12) a",
    "rule": "---",
    "stars": "***",
    "rule with blanks": "- - -",
    "underline": "===",
    "cell": "a | b",
    "box": "[ ] a",
}


@pytest.mark.parametrize("text", ACTING.values(), ids=ACTING.keys())
@pytest.mark.parametrize("before", ["", "- ", "words above\n"], ids=["alone", "item", "below"])
def test_text_does_not_act_and_is_shown_as_it_is(text: str, before: str) -> None:
    innocent = MarkdownIt("commonmark").render(f"{before}x")

    rendered = (
        MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(before + escaped(text))
    )

    assert acting(rendered) == acting(innocent)
    assert shown_text(rendered).endswith(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("@everyone", ["@", "everyone"]),
        ("org/repo#12", ["org/repo#", "12"]),
        ("GH-5", ["GH-", "5"]),
        ("https://example.org", ["https:", "//example.org"]),
        ("www.example.org", ["www", ".example.org"]),
        ("a@example.org", ["a@", "example.org"]),
        (":tada:", [":", "tada:"]),
    ],
)
def test_what_is_looked_for_in_rendered_text_is_taken_apart(text: str, parts: list[str]) -> None:
    rendered = MarkdownIt("commonmark").render(escaped(text))

    assert rendered == f"<p>{NO_WIDTH.join(parts)}</p>\n"


@pytest.mark.parametrize(
    "text",
    [
        "SKILL.md:3",
        "OVER_CONSTRAINED",
        "+0.44",
        "-0.22",
        "1.00",
        "a - b",
        "C++",
        "half-way",
        "5 > 3",
    ],
)
def test_harmless_text_stays(text: str) -> None:
    assert escaped(text) == text


def test_table_has_a_cell_for_each_text() -> None:
    lines = table(("CASE", "Δ:"), [("a|b", "+0.10"), ("c\nd\\", "—")])

    assert lines == [
        "| CASE | Δ |",
        "|---|---:|",
        "| a\\|b | +0.10 |",
        "| c d\\\\ | — |",
    ]
