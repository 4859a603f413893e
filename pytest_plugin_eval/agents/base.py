"""The seam between a run and whatever produces its record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pytest_plugin_eval.cases.model import Case
from pytest_plugin_eval.records.model import RunKey, RunRecord

__all__ = ["AgentBackend", "AgentRequest", "StandIns"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIns:
    """Servers on this machine that a run's agent is to use."""

    config: Mapping[str, object]
    """The content of an MCP configuration file."""
    tools: tuple[str, ...]
    """The names of their tools, which the agent may call."""

    @property
    def servers(self) -> tuple[str, ...]:
        """The names of the servers."""
        servers = self.config.get("mcpServers")
        return tuple(servers) if isinstance(servers, Mapping) else ()


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
    scaffold: bool = False
    """Run the case's ``scaffold_script`` before the agent starts (``--eval-scaffold``)."""
    keep: bool = False
    """Keep the run directory (``--eval-keep-temp``)."""
    run_root: Path | None = None
    stand_ins: StandIns | None = None
    """What stands in for MCP servers; ``None`` where nothing does."""
    real_servers: bool = False
    """Let the servers start that the plugins declare and nothing stands in for."""
    attach: Callable[[Callable[[], None]], None] = lambda _: None
    """Given a function that ends the agent at once, before it starts."""
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
