"""Patterns that certainly are JavaScript's, told without the engine.

A suite of a thousand cases has thousands of patterns to check while it is collected. Asking the
engine takes about half a millisecond each, and starting it more than collecting a small suite.
"""

from __future__ import annotations

import re

__all__ = ["is_well_formed"]

_FLAGS = frozenset("dgimsy")
_LONGEST = 10_000
_DEEPEST = 50

# Escapes that mean the same with every flag, and classes whose only ranges are in order.
_ESCAPE = r"\\[dDwWsSnrtfv^$\\.*+?()\[\]{}|/]"
_CLASS = rf"\[\^?(?:a-z|A-Z|0-9|{_ESCAPE}|[^\\\[\]\-])*-?\]"
_TOKEN = re.compile(
    rf"(?P<atom>[^\\^$.*+?()\[\]{{}}|]+|\.|{_ESCAPE}|{_CLASS})"
    r"|(?P<repeat>(?:[*+?]|\{(?P<least>[0-9]{1,4})(?:,(?P<most>[0-9]{1,4})?)?\})\??)"
    r"|(?P<group>\((?:\?:)?(?!\?))|(?P<look>\(\?<?[=!])|(?P<close>\))"
    r"|(?P<other>\\[bB]|[\^$|])"
)


def is_well_formed(source: str, flags: str) -> bool:
    """Say whether a pattern compiles for certain; False means that only the engine knows."""
    if len(set(flags)) != len(flags) or not _FLAGS.issuperset(flags) or len(source) > _LONGEST:
        return False
    place, may_repeat = 0, False
    open_groups: list[str] = []
    while place < len(source):
        token = _TOKEN.match(source, place)
        if token is None:
            return False
        kind, place = token.lastgroup, token.end()
        match kind:
            case "repeat" if not may_repeat or not _is_in_order(token):
                return False
            case "group" | "look" if len(open_groups) == _DEEPEST:
                return False
            case "group" | "look":
                open_groups.append(kind)
            case "close" if not open_groups:
                return False
        may_repeat = kind == "atom" or (kind == "close" and open_groups.pop() == "group")
    return not open_groups


def _is_in_order(repeat: re.Match[str]) -> bool:
    return repeat["most"] is None or int(repeat["least"]) <= int(repeat["most"])
