"""Costs in words: what is unknown is never shown as 0."""

from __future__ import annotations

from pytest_plugin_eval.scoring.costs import Cost
from pytest_plugin_eval.text import dollars

__all__ = ["money", "short_money"]

UNKNOWN = "unknown"


def money(cost: Cost) -> str:
    """Return ``$0.42``, ``$0.42 + unknown`` or ``unknown``."""
    if not cost.unknown_runs:
        return dollars(cost.known_usd)
    return f"{dollars(cost.known_usd)} + {UNKNOWN}" if cost.known_usd else UNKNOWN


def short_money(cost: Cost) -> str:
    """Return ``$0.42``, ``$0.42+?`` or ``$?``, for a column."""
    if not cost.unknown_runs:
        return dollars(cost.known_usd)
    return f"{dollars(cost.known_usd)}+?" if cost.known_usd else "$?"
