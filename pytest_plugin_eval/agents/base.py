"""The seam between a run and whatever produces its record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pytest_plugin_eval.cases.model import Case
from pytest_plugin_eval.records.model import RunKey, RunRecord

__all__ = ["AgentBackend", "AgentRequest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRequest:
    """One run to make."""

    key: RunKey
    case: Case
    model: str | None = None
    """Model by option or case; ``None`` leaves it to the agent and its environment."""
    allow_tools: tuple[str, ...] = ()
    """The operator's grants, already parsed and accepted by `agents.grants`."""
    disallow_tools: tuple[str, ...] = ()
    hidden: tuple[Path, ...] = ()
    """Further directories that the agent must not read, such as those of results."""
    keep: bool = False
    """Keep the run directory (``--eval-keep-temp``)."""
    run_root: Path | None = None
    slow_down: Callable[[float | None], None] = lambda _: None
    """Told at once, while the run goes on, until when the service asked for a pause."""


class AgentBackend(Protocol):
    """Produces the record of one run."""

    def run(self, request: AgentRequest) -> RunRecord:
        """Make the run and return its record, whatever its ending.

        Raises `AgentError` only when no record can be made at all.
        """
        ...

    def stop(self) -> None:
        """End every run in flight; their records come back with the ending ``interrupted``."""
        ...

    def close(self) -> tuple[str, ...]:
        """Clean up after the last run; return lines about what could not be removed."""
        ...
