"""The data types of a case: graders as the files spell them, and the case as the loader resolves it.

The pydantic models here define the file formats; everything computed is a plain dataclass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "BaselineSpec",
    "Case",
    "FileExistsSpec",
    "FileTarget",
    "GraderSpec",
    "LlmSpec",
    "Plugin",
    "RegexSpec",
    "Source",
    "Target",
    "ToolOrderSpec",
    "ToolPattern",
    "ToolUsedSpec",
]


class Strict(BaseModel):
    """A mapping of a case file: no conversions, no unknown keys, never changed after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class FileTarget(Strict):
    """One file of the workspace after the run."""

    source: Literal["file"]
    path: str


Word = Literal["last_message", "trace", "files", "mock_calls"]
Target = Word | FileTarget


class ToolPattern(Strict):
    """A tool call: the tool's exact name and, optionally, a pattern for its input."""

    tool: str
    input_match: str | None = None


class _Grader(Strict):
    name: str
    weight: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1
    arm: Literal["with-only", "both"] | None = None


class RegexSpec(_Grader):
    """Search a text with a JavaScript regular expression. Spec: behaviour-evals, 4.2."""

    type: Literal["regex"]
    pattern: str
    flags: Annotated[str, Field(pattern=r"^[dgimsuvy]*$")] = ""
    match: str = "contains"
    target: Target = "last_message"


class ToolUsedSpec(_Grader):
    """Count calls of one tool. Spec: behaviour-evals, 4.4."""

    type: Literal["tool_used"]
    tool: str
    input_match: str | None = None
    min: Annotated[int, Field(ge=0)] | None = None
    max: Annotated[int, Field(ge=0)] | None = None


class ToolOrderSpec(_Grader):
    """Ask whether the first call of one kind precedes the first of another. Spec: 4.5."""

    type: Literal["tool_order"]
    before: str | ToolPattern
    after: str | ToolPattern


class FileExistsSpec(_Grader):
    """Look for a created file by a glob. Spec: behaviour-evals, 4.6."""

    type: Literal["file_exists"]
    path: str
    exists: bool = True


class LlmSpec(_Grader):
    """Have a judge vote on a text against criteria. Spec: behaviour-evals, 4.7."""

    type: Literal["llm"]
    criteria: str
    focus: Target = "last_message"


class BaselineSpec(_Grader):
    """Have a judge compare the run's trace with a reference trace. Spec: behaviour-evals, 4.8."""

    type: Literal["baseline"]
    baseline_file: str
    criteria: str


GraderSpec = Annotated[
    RegexSpec | ToolUsedSpec | ToolOrderSpec | FileExistsSpec | LlmSpec | BaselineSpec,
    Field(discriminator="type"),
]
PAID_TYPES = frozenset({"llm", "baseline"})


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
    warnings: tuple[str, ...] = ()
    """Things in the case's files that load but are probably mistakes, as ``file:line: text``."""
