"""What of rendered Markdown acts, and what a reader sees of it."""

from __future__ import annotations

from html.parser import HTMLParser

NO_WIDTH = "\u200b"


class _Parts(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def acting(html: str) -> list[str]:
    """Return the elements of a page, in order."""
    return _parsed(html).tags


def shown_text(html: str) -> str:
    """Return the text of a page, without what has no width."""
    return _parsed(html).text.replace(NO_WIDTH, "").strip()


def _parsed(html: str) -> _Parts:
    parts = _Parts()
    parts.feed(html)
    parts.close()
    return parts
