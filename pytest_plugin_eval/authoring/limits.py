"""How much a model may propose at once; apart from the rest, since a help text needs no more."""

from __future__ import annotations

__all__ = ["MOST_CASES", "MOST_GRADERS"]

MOST_CASES = 12
MOST_GRADERS = 6
