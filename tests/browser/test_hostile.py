"""What a model writes never acts, wherever it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.reports.html import INLINE_BYTES
from tests.browser.conftest import Opened, Opener
from tests.support.report_pages import HOSTILE, hostile_suite, written

ELEMENTS = "[...new Set([...document.querySelectorAll('*')].map(e => e.localName))].sort()"
ACTIVE = {"base", "embed", "form", "iframe", "img", "object", "video", "audio"}
LINKS = "[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))"
HANDLERS = (
    "[...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames())"
    ".filter(n => n.startsWith('on') || n === 'style').length"
)


def _explored(shown: Opened) -> None:
    page = shown.page
    page.evaluate("document.querySelectorAll('details').forEach(box => { box.open = true })")
    for link in page.locator("main a[href^='#']").all()[:12]:
        link.dispatch_event("mouseover")
        link.dispatch_event("click")


@pytest.mark.parametrize("inline_bytes", [INLINE_BYTES, 0], ids=["one page", "side pages"])
def test_nothing_acts(opened: Opener, tmp_path: Path, inline_bytes: int) -> None:
    page = written(*hostile_suite(), tmp_path / "report.html", inline_bytes=inline_bytes)
    files = [page, *sorted((tmp_path / "report-files").glob("*.html"))]

    for file in files:
        shown = opened(file)
        _explored(shown)
        assert shown.page.evaluate("window.hacked") is None
        assert shown.requests == [file.as_uri()]
        assert shown.complaints == []
        assert not ACTIVE.difference({"form"}).intersection(shown.page.evaluate(ELEMENTS))
        assert shown.page.locator("script").count() == 1
        assert shown.page.locator("style").count() == 1
        assert shown.page.evaluate(HANDLERS) == 0
        assert all(_is_ours(link) for link in shown.page.evaluate(LINKS))


def _is_ours(link: str) -> bool:
    return link.startswith(("#", "report-files/0", "../report.html#"))


HARMLESS_CHARACTERS = [text for text in HOSTILE if text.isprintable() and text.isascii()]


@pytest.mark.parametrize("text", HARMLESS_CHARACTERS, ids=range(len(HARMLESS_CHARACTERS)))
def test_text_is_shown_as_it_is(opened: Opener, tmp_path: Path, text: str) -> None:
    page = opened(written(*hostile_suite(text), tmp_path / "report.html")).page

    shown = page.locator("article details").first.locator("pre").first.text_content()

    assert shown == text


def test_what_reorders_or_controls_is_replaced(opened: Opener, tmp_path: Path) -> None:
    file = written(*hostile_suite(HOSTILE[12]), tmp_path / "report.html")

    text = opened(file).page.evaluate("document.body.textContent")

    assert not {"\u202e", "\u2066", "\x1b", "\x00", "\ud800"}.intersection(text)
    assert "\ufffdgnp.exe" in text


def test_line_of_a_megabyte_is_cut_and_widens_nothing(opened: Opener, tmp_path: Path) -> None:
    file = written(*hostile_suite("W" * 1_000_000), tmp_path / "report.html")

    page = opened(file, viewport={"width": 360, "height": 740}).page
    page.evaluate("document.querySelectorAll('details').forEach(box => { box.open = true })")

    assert file.stat().st_size < 1_000_000
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert "chars]" in str(page.locator("article pre").first.text_content())
