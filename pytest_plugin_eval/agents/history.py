"""The recorded conversation that a run goes on with. Spec: agent-run, 8."""

from __future__ import annotations

import shutil
from pathlib import Path

from pytest_plugin_eval.agents.sandbox import Sandbox
from pytest_plugin_eval.cases.case import Case

__all__ = ["history_path", "place_history"]


def history_path(case: Case, sandbox: Sandbox) -> Path | None:
    """Return where the agent process finds the conversation of the case, ``None`` without one."""
    return None if case.history_file is None else sandbox.out / "history.jsonl"


def place_history(case: Case, sandbox: Sandbox) -> None:
    """Put a copy of the conversation into the run directory, out of reach of the agent's tools.

    A copy, since a session writes to what it goes on with where it has a reason to. Raises
    `OSError`.
    """
    path = history_path(case, sandbox)
    if path is not None and case.history_file is not None:
        shutil.copyfile(case.directory / case.history_file, path)
