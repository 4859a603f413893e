"""The small glob language of ``file_exists``. Spec: behaviour-evals, 4.6.

``*`` is any run of characters but ``/``; ``?`` one character; ``**`` any run; ``**/`` any run that
ends in ``/``, or nothing. All else is literal. Signs are read from the left, so ``***/`` is ``**``
and ``*/``.
As in the reference, a character is a UTF-16 unit, and ``?`` and ``**`` stop at line ends.
"""

from __future__ import annotations

import re

__all__ = ["Glob"]

_SIGNS = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_LINE_ENDS = frozenset("\n\r\u2028\u2029")


class Glob:
    """A glob, ready to be matched; a path takes time in proportion to its length.

    The glob is an automaton whose states are the bits of a number: bit i is set when the first i
    steps are done. Nothing is ever tried twice, so no glob can make matching slow.
    """

    __slots__ = ("_accepted", "_any", "_literal", "_prefix", "_skip", "_stay_any", "_stay_name")

    def __init__(self, glob: str) -> None:
        self._literal: dict[str, int] = {}
        """Steps that one certain character takes."""
        self._any = 0
        """Steps that any character takes, save a line end."""
        self._stay_name = 0
        """Steps that may last for any character but a slash."""
        self._stay_any = 0
        """Steps that may last for any character, save a line end."""
        self._skip: list[tuple[int, int]] = []
        """Steps that may be left out, and how many steps that leads on."""
        step = 1
        signs = _SIGNS.findall(_units(glob))
        for sign in signs:
            step = self._add(sign, step)
        self._accepted = step
        self._prefix = signs[0] if signs and signs[0][0] not in "*?" else ""

    def matches(self, path: str) -> bool:
        """Say whether the glob matches the whole path."""
        units = _units(path)
        if not units.startswith(self._prefix):
            return False
        states = self._skipped(1)
        for unit in units:
            steps = states & self._literal.get(unit, 0)
            stay = states & self._stay_name if unit != "/" else 0
            if unit not in _LINE_ENDS:
                steps |= states & self._any
                stay |= states & self._stay_any
            states = self._skipped(steps << 1 | stay)
            if not states:
                return False
        return bool(states & self._accepted)

    def _add(self, sign: str, step: int) -> int:
        """Add a sign from *step* on and return the step after it."""
        match sign:
            case "*":
                self._stay_name |= step
                self._skip.append((step, 1))
            case "**":
                self._stay_any |= step
                self._skip.append((step, 1))
            case "?":
                self._any |= step
            case "**/":
                # Nothing at all, or on to a step that lasts until a slash is taken.
                self._skip += [(step, 1), (step, 2)]
                step <<= 1
                self._stay_any |= step
                self._take("/", step)
            case _:
                for unit in sign:
                    self._take(unit, step)
                    step <<= 1
                return step
        return step << 1

    def _take(self, unit: str, step: int) -> None:
        self._literal[unit] = self._literal.get(unit, 0) | step

    def _skipped(self, states: int) -> int:
        # In the order of the steps, so one pass follows chains of skips to their end.
        for step, length in self._skip:
            if states & step:
                states |= step << length
        return states


def _units(text: str) -> str:
    """Return the text with each character beyond U+FFFF as its two UTF-16 units."""
    if text.isascii():
        return text
    return _ASTRAL.sub(lambda found: "".join(map(chr, _pair(ord(found[0])))), text)


def _pair(point: int) -> tuple[int, int]:
    offset = point - 0x10000
    return 0xD800 + (offset >> 10), 0xDC00 + (offset & 0x3FF)
