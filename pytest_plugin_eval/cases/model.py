"""The file formats of a case: what `prompt.md`, `case.yaml` and graders may hold.

The pydantic models here define the formats; a field's description is what messages say is expected.
The case as the loader resolves it is a plain dataclass, in `case`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pytest_plugin_eval.cases.case import Case, Plugin, Source

__all__ = [
    "GRADER_TYPES",
    "BaselineSpec",
    "Case",
    "CaseFile",
    "Context",
    "Execution",
    "FileExistsSpec",
    "FileTarget",
    "GraderSpec",
    "LlmSpec",
    "MockFields",
    "Plugin",
    "PromptFields",
    "RegexSpec",
    "Source",
    "Strict",
    "Target",
    "ToolOrderSpec",
    "ToolPattern",
    "ToolUsedSpec",
]

STRING = "a string"
STRINGS = "a list of strings"
TARGET = "one of last_message, trace, files, mock_calls or {source: file, path: ...}"
SIDE = "the name of a tool or {tool: ..., input_match: ...}"
VERSION = 'a string such as "1.0", with the quotes'
COUNT = "a whole number, 0 or more"

Text = Annotated[str, Field(description=STRING)]
Texts = Annotated[list[str], Field(description=STRINGS)]
Count = Annotated[int, Field(ge=0, description=COUNT)]


class Strict(BaseModel):
    """A mapping of a case file: no conversions, no unknown keys, never changed after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class FileTarget(Strict):
    """One file of the workspace after the run."""

    source: Literal["file"]
    path: Text


Word = Literal["last_message", "trace", "files", "mock_calls"]
Target = Word | FileTarget


class ToolPattern(Strict):
    """A tool call: the tool's exact name and, optionally, a pattern for its input."""

    tool: Text
    input_match: Text | None = None


class _Grader(Strict):
    name: Text
    weight: Annotated[float, Field(gt=0, allow_inf_nan=False, description="a number above 0")] = 1
    arm: Annotated[Literal["with-only", "both"] | None, Field(description="with-only or both")] = (
        None
    )


class RegexSpec(_Grader):
    """Search a text with a JavaScript regular expression. Spec: behaviour-evals, 4.2."""

    type: Literal["regex"]
    pattern: Text
    flags: Annotated[
        str,
        Field(
            pattern=r"^[dgimsuvy]*$",
            description="a string of JavaScript's flags d g i m s u v y, each at most once",
        ),
    ] = ""
    match: Annotated[
        str,
        Field(
            pattern=r"^(?:contains|not_contains|count:[0-9]+)$",
            description="contains, not_contains or count:N",
        ),
    ] = "contains"
    target: Annotated[Target, Field(description=TARGET)] = "last_message"


class ToolUsedSpec(_Grader):
    """Count calls of one tool. Spec: behaviour-evals, 4.4."""

    type: Literal["tool_used"]
    tool: Text
    input_match: Text | None = None
    min: Count | None = None
    max: Count | None = None


class ToolOrderSpec(_Grader):
    """Ask whether the first call of one kind precedes the first of another. Spec: 4.5."""

    type: Literal["tool_order"]
    before: Annotated[str | ToolPattern, Field(description=SIDE)]
    after: Annotated[str | ToolPattern, Field(description=SIDE)]


class FileExistsSpec(_Grader):
    """Look for a created file by a glob. Spec: behaviour-evals, 4.6."""

    type: Literal["file_exists"]
    path: Text
    exists: Annotated[bool, Field(description="true or false")] = True


class LlmSpec(_Grader):
    """Have a judge vote on a text against criteria. Spec: behaviour-evals, 4.7."""

    type: Literal["llm"]
    criteria: Text
    focus: Annotated[Target, Field(description=TARGET)] = "last_message"


class BaselineSpec(_Grader):
    """Have a judge compare the run's trace with a reference trace. Spec: behaviour-evals, 4.8."""

    type: Literal["baseline"]
    baseline_file: Text
    criteria: Text


GraderSpec = Annotated[
    RegexSpec | ToolUsedSpec | ToolOrderSpec | FileExistsSpec | LlmSpec | BaselineSpec,
    Field(discriminator="type"),
]
GRADER_TYPES: dict[str, type[_Grader]] = {
    "regex": RegexSpec,
    "tool_used": ToolUsedSpec,
    "tool_order": ToolOrderSpec,
    "file_exists": FileExistsSpec,
    "llm": LlmSpec,
    "baseline": BaselineSpec,
}

Name = Annotated[str, Field(min_length=1, description="a string of at least one character")]
Runs = Annotated[int, Field(ge=1, le=50, description="a whole number from 1 to 50")]
MaxTurns = Annotated[int, Field(ge=1, le=200, description="a whole number from 1 to 200")]
Timeout = Annotated[
    int, Field(ge=1, le=3600, description="a whole number of seconds from 1 to 3600")
]
Env = Annotated[dict[str, str], Field(description="a mapping of names to strings")]


class _Settings(Strict):
    model: Text | None = None
    max_turns: MaxTurns | None = None
    timeout_seconds: Timeout | None = None
    allowed_tools: Texts | None = None
    disallowed_tools: Texts | None = None
    append_system_prompt: Text | None = None
    env: Env | None = None
    artifact_publish: Annotated[bool | None, Field(description="true or false")] = None
    growthbook_overrides: Annotated[dict[str, object] | None, Field(description="a mapping")] = None


class Execution(_Settings):
    """How the agent is run: ``execution`` of `case.yaml`."""

    prompt: Text | None = None


class Context(Strict):
    """What the agent finds: ``context`` of `case.yaml`."""

    scaffold_script: Text | None = None
    history_file: Text | None = None
    add_dirs: Texts | None = None


class _Top(Strict):
    schema_version: Annotated[str, Field(description=VERSION)] | None = None
    name: Name | None = None
    description: Text | None = None
    expected_outcome: Text | None = None
    tags: Texts | None = None
    plugins: Texts | None = None
    runs: Runs | None = None


class CaseFile(_Top):
    """The top level of `case.yaml`; its three sections are read by types of their own."""

    execution: object = None
    context: object = None
    graders: object = None


class PromptFields(_Settings, _Top):
    """The frontmatter of `prompt.md`: what `case.yaml` has at the top and under ``execution``."""


class MockFields(Strict):
    """The frontmatter of a mock's file. Spec: agent-run, 7."""

    type: Annotated[Literal["fixed", "agent"], Field(description="fixed or agent")] = "fixed"
    expect: Annotated[
        dict[str, object],
        Field(description="a mapping of fields to what they must be"),
    ] = Field(default_factory=dict)
    error: Annotated[bool, Field(description="true or false")] = False
    tools: Texts | None = None
    abort_when: Text | None = None
