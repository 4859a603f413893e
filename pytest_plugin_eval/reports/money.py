"""Costs in words: what is unknown is never shown as 0."""

from __future__ import annotations

import math

from pytest_plugin_eval.reports.columns import decimals
from pytest_plugin_eval.scoring.costs import Cost

__all__ = ["dollars", "money", "short_money"]

UNKNOWN = "unknown"
CENT = 0.01
MOST_DIGITS = 8


def dollars(amount_usd: float) -> str:
    """Return ``$0.42``; an amount below a cent has two digits after its zeros, ``$0.0030``."""
    if not 0 < amount_usd < CENT:
        return f"${decimals(amount_usd)}"
    return f"${decimals(amount_usd, min(1 - math.floor(math.log10(amount_usd)), MOST_DIGITS))}"


def money(cost: Cost) -> str:
    """Return ``$0.42``, ``$0.42 + unknown`` or ``unknown``."""
    if not cost.unknown_runs:
        return dollars(cost.known_usd)
    return f"{dollars(cost.known_usd)} + {UNKNOWN}" if cost.known_usd else UNKNOWN


def short_money(cost: Cost) -> str:
    """Return ``$0.42``, ``$0.42+?`` or ``$?``, for a column."""
    if not cost.unknown_runs:
        return f"${decimals(cost.known_usd)}"
    return f"${decimals(cost.known_usd)}+?" if cost.known_usd else "$?"
