"""Texts with a block of YAML between ``---`` lines at the top, and how text is read from disk."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["FENCE", "Split", "UnterminatedError", "decoded", "split_frontmatter", "trimmed"]

# What JavaScript's `trim` removes; Python's `strip` takes other characters.
_JS_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
FENCE = "---"
_BLANK = f"[{_JS_SPACE.replace(chr(10), '')}]*"
# Lines of three hyphens; spaces around them are allowed, but not before the first.
_OPENING = re.compile(rf"---{_BLANK}(?=\n|\Z)")
_CLOSING = re.compile(rf"\n{_BLANK}---{_BLANK}(?=\n|\Z)")


class UnterminatedError(ValueError):
    """Frontmatter that is opened and not closed."""


@dataclass(frozen=True, slots=True)
class Split:
    """A text taken apart."""

    frontmatter: str | None
    """The YAML between the fences, which begins on line 2; ``None`` without frontmatter."""
    body: str
    """The rest, trimmed at both ends."""
    body_line: int = 1
    """The line its first character is on."""


def decoded(data: bytes) -> str:
    """Return bytes as text: no byte order mark, invalid UTF-8 as U+FFFD."""
    return data.decode("utf-8", errors="replace").removeprefix("\ufeff")


def trimmed(text: str) -> str:
    """Return *text* without white space at both ends, as JavaScript trims."""
    return text.strip(_JS_SPACE)


def split_frontmatter(text: str) -> Split:
    """Take a text apart at lines of three hyphens. Spec: behaviour-evals, 2.6 and 3.

    The reference looks for the hyphens anywhere, so that ``description: a --- b`` ends its
    frontmatter in the middle; the loader warns where that makes a difference.
    """
    opening = _OPENING.match(text)
    if opening is None or opening.end() == len(text):
        return Split(None, trimmed(text))
    # From the line break that ends the opening fence.
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        raise UnterminatedError
    body = text[closing.end() :].lstrip(_JS_SPACE)
    line = text.count("\n", 0, len(text) - len(body)) + 1
    return Split(text[opening.end() + 1 : closing.start() + 1], body.rstrip(_JS_SPACE), line)
