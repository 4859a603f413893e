"""What earlier results of a suite say about the cost of a run."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from pytest_plugin_eval.storage.results_dir import results_directories

__all__ = ["CostRange", "earlier_costs"]

SESSIONS = 5
LARGEST_FILE = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRange:
    """What measured runs of earlier sessions cost, judge included, in US dollars a run."""

    low_usd: float
    median_usd: float
    high_usd: float
    runs: int
    sessions: int
    """Results files the numbers come from."""


def earlier_costs(results_base: Path) -> CostRange | None:
    """Return what a run cost in the newest live results; ``None`` without any.

    Files that are no result document, of us or of the reference, count for nothing.
    """
    costs: list[float] = []
    sessions = 0
    for directory in results_directories(results_base):
        found = list(_costs(directory / "aggregate-result.json"))
        costs += found
        sessions += bool(found)
        if sessions == SESSIONS:
            break
    if not costs:
        return None
    return CostRange(
        low_usd=min(costs),
        median_usd=median(costs),
        high_usd=max(costs),
        runs=len(costs),
        sessions=sessions,
    )


def _costs(path: Path) -> Iterator[float]:
    document = _mapping(_read(path))
    if _mapping(document.get("harness")).get("mode") == "replay":
        return  # It repeats the costs of the session that was recorded.
    for case in _list(document.get("cases")):
        for runs in _mapping(_mapping(case).get("arms")).values():
            for run in map(_mapping, _list(runs)):
                cost = _cost(run.get("costUsd"))
                if cost is not None and run.get("measured", True) is True:
                    yield cost


def _read(path: Path) -> object:
    try:
        if path.stat().st_size > LARGEST_FILE:
            return None
        data: object = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return data


def _cost(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
