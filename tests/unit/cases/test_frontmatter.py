"""Where frontmatter begins and ends, and what is left of the text."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.cases.frontmatter import (
    Split,
    UnterminatedError,
    decoded,
    split_frontmatter,
)


@pytest.mark.parametrize(
    ("text", "frontmatter", "body"),
    [
        ("---\na: 1\n---\n\n  hi\n\n", "a: 1\n", "hi"),
        ("---\na: 1\n---", "a: 1\n", ""),
        ("---\n---\nhi", "", "hi"),
        ("--- \t\na: 1\n  --- \nhi", "a: 1\n", "hi"),
        ("---\u00a0\na: 1\n---\u00a0\nhi", "a: 1\n", "hi"),
        ("---\r\na: 1\r\n---\r\nx\r\ny\r\n", "a: 1\r\n", "x\r\ny"),
        ("---\na: |\n  ---\nhi", "a: |\n", "hi"),
        ("---\na: 1\n...\nb: 2\n---\nhi", "a: 1\n...\nb: 2\n", "hi"),
        ("---\na: b --- c\n----\n--- x\n---\nhi", "a: b --- c\n----\n--- x\n", "hi"),
        ("hi\n---\na: 1\n---\n", None, "hi\n---\na: 1\n---"),
        ("\n---\na: 1\n---\n", None, "---\na: 1\n---"),
        (" ---\na: 1\n---\n", None, "---\na: 1\n---"),
        ("----\na: 1\n---\n", None, "----\na: 1\n---"),
        ("---\ra: 1\r---\rhi", None, "---\ra: 1\r---\rhi"),
        ("---", None, "---"),
        ("", None, ""),
        ("\t a\x1c\ufeff\u3000\n", None, "a\x1c"),
    ],
)
def test_split(text: str, frontmatter: str | None, body: str) -> None:
    split = split_frontmatter(text)

    assert (split.frontmatter, split.body) == (frontmatter, body)


def test_line_on_which_the_body_begins() -> None:
    assert split_frontmatter("---\na: 1\n---\n\n \n  hi\nho\n") == Split("a: 1\n", "hi\nho", 6)


@pytest.mark.parametrize("text", ["---\n", "---\na: 1\n", "---\na: 1\n-- -\n", "---\n\n\n"])
def test_frontmatter_without_an_end_is_refused(text: str) -> None:
    with pytest.raises(UnterminatedError):
        split_frontmatter(text)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbf---\n", "---\n"),
        (b"a\xffb\xc3(", "a\ufffdb\ufffd("),
        ("é😀".encode(), "é😀"),
        (b"a\x00b", "a\x00b"),
    ],
)
def test_bytes_become_text(data: bytes, text: str) -> None:
    assert decoded(data) == text
