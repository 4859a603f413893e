"""The computed data types of a case; apart from `model`, since they need no pydantic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_plugin_eval.cases.mock import MockServer
    from pytest_plugin_eval.cases.model import GraderSpec

__all__ = ["PAID_TYPES", "Case", "Plugin", "Source"]

PAID_TYPES = frozenset({"llm", "baseline"})
"""Types of graders that ask a judge."""


class Source(StrEnum):
    """Which files define a case; the words of the result document."""

    PROSE = "prose"
    CASE_YAML = "case_yaml"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A plugin under test."""

    name: str
    path: Path
    """Its root, resolved."""
    version: str | None = None
    problem: str | None = None
    """``manifest_invalid`` when the manifest does not load; runs are then not started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case, loaded and checked: what to ask, with what, and how to grade it."""

    id: str
    """Directory relative to the suite root, ``/``-separated."""
    directory: Path
    eval_dir: Path
    root: Path
    """Suite root: the plugin's root, or the parent of the eval directory without a plugin."""
    name: str
    source: Source
    prompt: str
    graders: tuple[GraderSpec, ...]
    plugins: tuple[Plugin, ...] = ()
    """Plugins of the with-arm; empty when none resolves."""
    description: str = ""
    expected_outcome: str = ""
    tags: tuple[str, ...] = ()
    runs: int | None = None
    """The case's own number of runs; ``None`` means the default, 3."""
    model: str | None = None
    max_turns: int = 10
    timeout_s: int = 300
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    append_system_prompt: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    scaffold_script: str | None = None
    history_file: str | None = None
    add_dirs: tuple[str, ...] = ()
    mock_servers: tuple[str, ...] = ()
    """Directory names under the suite's and the case's ``mocks`` that apply to this case."""
    mocks: tuple[MockServer, ...] = ()
    """What stands in for MCP servers, in both arms where no plugin declares them."""
    warnings: tuple[str, ...] = ()
    """Things in the case's files that load but are probably mistakes, as ``file:line: text``."""

    @property
    def source_file(self) -> Path:
        """The file a reader is sent to: ``prompt.md``, or ``case.yaml`` where there is no other."""
        prompt = self.directory / "prompt.md"
        has_prompt = self.source is Source.PROSE or (
            self.source is Source.MIXED and prompt.is_file()
        )
        return prompt if has_prompt else self.directory / "case.yaml"
