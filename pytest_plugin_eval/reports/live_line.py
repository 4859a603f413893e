"""The line that a terminal shows while runs are made."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_plugin_eval.reports.columns import cell, display_width
from pytest_plugin_eval.text import dollars

__all__ = ["Progress", "live_text", "rest_s"]

MINUTE_S = 60
HOUR_S = 3600
STEP_S = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a session is."""

    planned: int
    done: int
    running: int
    spent_usd: float = 0.0
    ceiling_usd: float | None = None
    left_s: float | None = None
    """The rest by estimate; ``None`` while there is nothing to estimate it from."""


def live_text(progress: Progress, *, width: int, ascii_only: bool = False) -> str:
    """Return the line, at most *width* columns; parts that do not fit are left out from the end."""
    parts = [
        f"evals: {progress.running} running",
        f"{progress.done} of {progress.planned} done",
        *_money(progress),
        *_left(progress),
    ]
    text = ""
    for part in parts:
        longer = f"{text}, {part}" if text else part
        if display_width(longer) > width:
            break
        text = longer
    return cell(text, ascii_only=ascii_only)


def rest_s(
    *, planned: int, done: int, lanes: int, mean_s: float, begun_s: tuple[float, ...]
) -> float:
    """Return how long the rest takes: the work that is left, divided by those who do it.

    *mean_s* is the mean duration of the runs so far, *begun_s* how long each run in flight has
    taken by now; one that takes longer than the mean is expected to end at once.
    """
    remaining = max(planned - done, 0)
    work_s = remaining * mean_s - sum(min(begun, mean_s) for begun in begun_s)
    return max(work_s, 0.0) / max(min(lanes, remaining), 1)


def _money(progress: Progress) -> list[str]:
    if progress.ceiling_usd is not None:
        return [f"{dollars(progress.spent_usd)} of {dollars(progress.ceiling_usd)}"]
    return [f"{dollars(progress.spent_usd)} spent"] if progress.spent_usd else []


def _left(progress: Progress) -> list[str]:
    left_s = progress.left_s
    if left_s is None or progress.done >= progress.planned:
        return []
    if left_s < MINUTE_S:
        return [f"about {max(STEP_S, round(left_s / STEP_S) * STEP_S)} s left"]
    minutes = round(left_s / MINUTE_S)
    if left_s < HOUR_S:
        return [f"about {minutes} min left"]
    return [f"about {minutes // 60} h {minutes % 60} min left"]
