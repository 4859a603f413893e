"""How a run or a verdict is counted, abbreviated and named by pytest."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_plugin_eval.records.model import Arm

__all__ = ["MISSED", "run_status", "verdict_status"]

Status = tuple[str, str, str]
MISSED = "missed"


def run_status(
    report: pytest.TestReport | pytest.CollectReport, payload: Mapping[str, object]
) -> Status | None:
    """Return category, letter and word of a run's report, or ``None`` to leave them to pytest."""
    if report.outcome != "passed" or getattr(report, "when", None) != "call":
        return None
    score = payload["score"]
    if not isinstance(score, float):
        return None
    if payload["arm"] == Arm.WITHOUT.value:
        return "baseline", "b", f"BASELINE {score:.2f}"
    if score < 1:
        return "partial", "p", f"PARTIAL {score:.2f}"
    return None


def verdict_status(
    report: pytest.TestReport | pytest.CollectReport, verdict: Mapping[str, object]
) -> Status | None:
    """Return the status of a verdict that missed under ``--eval-report-only``, else ``None``.

    Its report passes, for the exit status; its word does not claim that the case did.
    """
    if verdict[MISSED] and report.when == "call":
        return MISSED, "m", "MISSED"
    return None
