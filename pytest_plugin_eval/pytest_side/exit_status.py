"""The session's exit status."""

from __future__ import annotations

import pytest

__all__ = ["exit_status"]

_PARTIAL = frozenset({"interrupted", "auth_failed", "cost_ceiling"})


def exit_status(
    status: int, *, partial_reason: str | None, problems: bool, is_idle_shard: bool = False
) -> int:
    """Return the status of a session that pytest would end with *status*.

    Decisions, 11: 2 for a session that was stopped by interrupt, credential or cost ceiling; else 1
    for *problems*: a case file that did not load, or results that could not be written. A status
    that pytest gave for a worse reason stays. *is_idle_shard*: all cases belong to other machines.
    """
    if status in (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR):
        return status
    if partial_reason in _PARTIAL:
        return int(pytest.ExitCode.INTERRUPTED)
    if partial_reason == "not_measured" and status == pytest.ExitCode.INTERRUPTED:
        # The session was stopped, which pytest tells as 2, since its first runs were lost alike.
        return int(pytest.ExitCode.TESTS_FAILED)
    # A run that was not started is pytest's *skipped*, which alone leaves the status at 0.
    problems = problems or partial_reason == "not_measured"
    if is_idle_shard and status == pytest.ExitCode.NO_TESTS_COLLECTED:
        status = int(pytest.ExitCode.OK)
    if problems and status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        return int(pytest.ExitCode.TESTS_FAILED)
    return status
