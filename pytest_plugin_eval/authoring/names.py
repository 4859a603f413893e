"""Names of new cases that nothing else has."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

__all__ = ["free_name"]

LONGEST = 60


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return *name*, or with the first number from 2 behind it that makes it a new one.

    Case makes no difference: some file systems see none.
    """
    folded = {one.casefold() for one in taken}
    if name.casefold() not in folded:
        return name
    for number in count(2):
        candidate = f"{name[: LONGEST - len(str(number)) - 1]}-{number}"
        if candidate.casefold() not in folded:
            return candidate
    raise AssertionError("unreachable: there is no last number")
