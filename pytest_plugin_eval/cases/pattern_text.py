"""What can be told of a JavaScript pattern by reading it as text."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["matches_anything", "outer_branches", "wants_space_in_json"]

_PIECE = re.compile(r"\\.|.", re.DOTALL)
_ANY = r"(?:\.|\[\^\]|\[\\s\\S\]|\[\\S\\s\])\*\??"
_LINES = r"(?:\[\^\]|\[\\s\\S\]|\[\\S\\s\])\*\??"
_ANYTHING = re.compile(rf"\^?(?:{_ANY})*|(?:{_ANY})*\$?|\^{_LINES}\$")
_CLASS = re.compile(r"\[(?:\\.|[^\]\\])*\]")
_JSON_SPACE = re.compile(r'\\?": +\\?"')


def outer_branches(pattern: str) -> Iterator[str]:
    """Yield the outer alternatives of a pattern, each group in it as ``()``."""
    depth, in_class, branch = 0, False, ""
    for piece in _PIECE.findall(pattern):
        if in_class:
            in_class = piece != "]"
        elif piece == "[":
            in_class = True
        elif piece in "()":
            depth += 1 if piece == "(" else -1
            branch += piece if depth == (piece == "(") else ""
            continue
        elif piece == "|" and depth == 0:
            yield branch
            branch = ""
            continue
        if depth == 0:
            branch += piece
    yield branch


def matches_anything(pattern: str) -> bool:
    """Say whether a pattern is plainly found in every text: it is empty, ``.*`` or ends in ``|``.

    Also false where that is not plain.
    """
    if _ANYTHING.fullmatch(pattern):
        return True
    return "|" in pattern and any(map(_ANYTHING.fullmatch, outer_branches(pattern)))


def wants_space_in_json(pattern: str) -> bool:
    """Say whether every match holds ``": "``, which compact JSON has not between key and value."""
    return ": " in pattern and all(
        _JSON_SPACE.search(_CLASS.sub("[]", branch)) is not None
        for branch in outer_branches(pattern)
    )
