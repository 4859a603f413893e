"""Skills that the ``input_match`` of a ``tool_used: Skill`` grader names in plain letters.

Patterns are JavaScript's, and only read as text here: where a branch of the pattern may match
without one of the plain names, none is returned. Spec: deviations, D8.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["plain_skills"]

_NAME = r"[A-Za-z0-9_](?:\\?-|[A-Za-z0-9_])*"
_SPACE = r"(?: |\\s)?[*+?]?"
# `plugin:` in letters, as a class or wildcard that ends in a colon, or either of them in a group.
_PREFIX_BODY = rf"(?:{_NAME}|\\w[*+]|\[(?:\\.|[^\]\\])+\][*+]|\.[*+]\??)\\?:"
_PREFIX = rf"(?:\((?:\?:)?{_PREFIX_BODY}\)\??|{_PREFIX_BODY})?"
_SKILL = re.compile(
    rf'\\?"skill\\?"{_SPACE}:{_SPACE}\\?"{_PREFIX}'
    rf"(?:(?P<one>{_NAME})|\((?:\?:)?(?P<many>{_NAME}(?:\|{_NAME})*)\))"
    r'\\?"(?![?*+{])'
)
_MARK = "\0"


def plain_skills(pattern: str) -> tuple[str, ...]:
    """Return the names, without a plugin's, one of which every match of the pattern calls.

    Empty where the pattern says it in other ways than by ``"skill":"<name>"``.
    """
    names: list[str] = []

    def note(found: re.Match[str]) -> str:
        names.extend((found["one"] or found["many"]).replace("\\", "").split("|"))
        return _MARK

    branches = tuple(_branches(_SKILL.sub(note, pattern)))
    return tuple(dict.fromkeys(names)) if all(_MARK in branch for branch in branches) else ()


def _branches(pattern: str) -> Iterator[str]:
    """Yield the outer alternatives of a pattern without what stands in groups and classes."""
    depth, in_class, branch = 0, False, ""
    for piece in re.findall(r"\\.|.", pattern, re.DOTALL):
        if in_class:
            in_class = piece != "]"
        elif piece == "[":
            in_class = True
        elif piece in "()":
            depth += 1 if piece == "(" else -1
        elif piece == "|" and depth == 0:
            yield branch
            branch = ""
        elif depth == 0:
            branch += piece
    yield branch
