"""Escaped text of any kind is text, wherever it stands."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from pytest_plugin_eval.reports.columns import cell
from pytest_plugin_eval.reports.markdown import escaped, table
from tests.support.markdown import acting, shown_text

_signs = st.text("|\\`*_<>[]()!#&\"'\n\r\t -+=.:;~@$ab1/\u2028\u202e", max_size=30)
_texts = _signs | st.text(max_size=30)
_reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])


@given(_texts, st.sampled_from(["x ", "- ", "- x\n  - "]))
def test_line_has_the_elements_of_an_innocent_one(text: str, before: str) -> None:
    assume(escaped(text))  # nothing below a line is a list of nothing, or a heading's rule

    rendered = _reader.render(f"{before}{escaped(text)}")

    assert acting(rendered) == acting(_reader.render(f"{before}a"))
    words = shown_text(rendered).removeprefix("x").split()
    assert words == cell(text).replace("\u200b", "").split()


@given(st.lists(st.tuples(_texts, _texts), min_size=1, max_size=4))
def test_table_has_its_cells(rows: list[tuple[str, str]]) -> None:
    rendered = _reader.render("\n".join(table(("A", "B:"), rows)))

    innocent = _reader.render("\n".join(table(("A", "B:"), [("x", "y") for _ in rows])))
    assert acting(rendered) == acting(innocent)
