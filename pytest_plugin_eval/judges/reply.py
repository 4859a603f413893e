"""The verdict in a judge's words. Spec: behaviour-evals, 4.7; deviations, D3."""

from __future__ import annotations

import re

__all__ = ["reading"]

# Word borders of ASCII, as in the reference: `PASSÉ` holds the word, `PASS_` does not.
_PASS = re.compile(r"\bPASS\b", re.ASCII | re.IGNORECASE)
_FAIL = re.compile(r"\bFAIL\b", re.ASCII | re.IGNORECASE)


def reading(text: str) -> bool | None:
    """Return whether the reply is a vote for PASS; ``None`` when it holds neither word.

    A reply with both words is a vote for FAIL.
    """
    if _FAIL.search(text):
        return False
    return True if _PASS.search(text) else None
