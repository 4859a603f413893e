"""A result document read back: the parts of it that results are compared by."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.quality.model import Dimension
from pytest_plugin_eval.records.model import Arm, Ending
from pytest_plugin_eval.scoring.model import VerdictStatus
from pytest_plugin_eval.settings import Depth
from pytest_plugin_eval.text import shown

__all__ = [
    "SavedCase",
    "SavedComposite",
    "SavedDocument",
    "SavedRun",
    "Standing",
    "parse_document",
    "read_document",
]

SCHEMA_VERSION = 1


class _Saved(BaseModel):
    """A mapping of the document; what is not needed here is left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Standing(_Saved):
    """What a grader had come to."""

    name: str
    explanation: str = ""
    passed: bool | None = None
    status: VerdictStatus | None = None
    """Of a grader without a verdict."""
    weight: float | None = None
    with_only: Annotated[bool, Field(alias="withOnly")] = False
    scored: bool = True
    votes: Annotated[tuple[bool, ...] | None, Field(alias="judgeVotes")] = None
    evidence: str | None = None
    unreadable_votes: Annotated[int, Field(alias="unreadableVotes")] = 0
    judge_model: Annotated[str | None, Field(alias="judgeModel")] = None

    @property
    def outcome(self) -> VerdictStatus:
        """What the grader had come to, in one word."""
        if self.status is not None:
            return self.status
        return VerdictStatus.PASSED if self.passed else VerdictStatus.FAILED


class SavedRun(_Saved):
    """One run."""

    number: Annotated[int | None, Field(alias="run")] = None
    score: float | None
    passed: bool = False
    measured: bool = True
    unmeasured_reason: Annotated[str | None, Field(alias="unmeasuredReason")] = None
    ending: Ending | None = None
    """``None``: the reference's, which does not tell it."""
    error: str | None = None
    turns: int = 0
    attempts: int = 1
    cost_usd: Annotated[float | None, Field(alias="costUsd")] = 0.0
    agent_cost_usd: Annotated[float | None, Field(alias="agentCostUsd")] = None
    judge_cost_usd: Annotated[float | None, Field(alias="judgeCostUsd")] = 0.0
    agent_known_usd: Annotated[float, Field(alias="agentKnownUsd")] = 0.0
    judge_known_usd: Annotated[float, Field(alias="judgeKnownUsd")] = 0.0
    duration_s: Annotated[float | None, Field(alias="durationSeconds")] = 0.0
    started_at: Annotated[str, Field(alias="startedAt")] = ""
    trace_path: Annotated[str | None, Field(alias="tracePath")] = None
    skipped_paid: Annotated[bool, Field(alias="skippedPaidGraders")] = False
    is_taken_over: Annotated[bool, Field(alias="takenOver")] = False
    aborted: dict[str, str] | None = None
    mocks: dict[str, object] | None = None
    provenance: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    skills_called: Annotated[tuple[str, ...] | None, Field(alias="skillsCalled")] = None
    graders: tuple[Standing, ...]
    without_verdict: Annotated[tuple[Standing, ...], Field(alias="gradersWithoutVerdict")] = ()

    @model_validator(mode="before")
    @classmethod
    def _of_the_reference(cls, fields: object) -> object:
        """Tell a run that was lost where the document does not: there it has a score of 0."""
        if isinstance(fields, dict) and "measured" not in fields:
            is_lost = fields.get("error") is not None and "aborted" not in fields
            return {**fields, "measured": not is_lost}
        return fields

    @property
    def standings(self) -> dict[str, Standing]:
        """All graders, by name."""
        return {one.name: one for one in (*self.graders, *self.without_verdict)}


class _Arms(_Saved):
    with_runs: Annotated[tuple[SavedRun, ...], Field(alias="with")] = ()
    without_runs: Annotated[tuple[SavedRun, ...], Field(alias="without")] = ()


class _CaseAggregates(_Saved):
    score: float | None = None
    pass_rate: Annotated[float | None, Field(alias="passRate")] = None
    score_without: Annotated[float | None, Field(alias="scoreWithout")] = None
    delta: float | None = None
    withheld: str | None = None


class _Plan(_Saved):
    with_runs: Annotated[int, Field(alias="with")]
    without_runs: Annotated[int, Field(alias="without")]
    two_arms: Annotated[bool, Field(alias="twoArms")]


class SavedCase(_Saved):
    """One case."""

    name: str
    id: Annotated[str, Field(alias="dir")]
    source: str = ""
    prompt: Annotated[str, Field(alias="promptMarkdown")] = ""
    model: str | None = None
    own_runs: Annotated[int, Field(alias="runsPerCase")] = 3
    plan: _Plan | None = None
    """``None``: the reference's, or written by an early version."""
    timeout_s: Annotated[int, Field(alias="timeoutSeconds")] = 300
    max_turns: Annotated[int, Field(alias="maxTurns")] = 10
    graders: tuple[dict[str, object], ...] = ()
    arms: _Arms
    advisories: tuple[str, ...] = ()
    grader_advisories: Annotated[dict[str, str], Field(alias="graderAdvisories")] = {}
    hints: tuple[str, ...] = ()
    aggregates: _CaseAggregates
    passed: bool | None = None
    tags: tuple[str, ...] = ()
    not_granted: Annotated[tuple[str, ...], Field(alias="notGranted")] = ()
    warnings: tuple[str, ...] = ()

    def runs(self) -> dict[tuple[Arm, int], SavedRun]:
        """Return the runs by arm and number; those without a number are counted."""
        return {
            (arm, run.number or position): run
            for arm, runs in (
                (Arm.WITH, self.arms.with_runs),
                (Arm.WITHOUT, self.arms.without_runs),
            )
            for position, run in enumerate(runs, 1)
        }


class _NotStarted(_Saved):
    case: str
    runs: tuple[str, ...]
    reason: str


class _Suite(_Saved):
    root: str
    ablation: str
    threshold: float
    concurrency: int = 1
    plugins: tuple[dict[str, str], ...] = ()
    eval_dir: Annotated[str | None, Field(alias="evalDir")] = None
    free_only: Annotated[bool, Field(alias="freeOnly")] = False
    min_delta: Annotated[float | None, Field(alias="minDelta")] = None
    judge_model: Annotated[str | None, Field(alias="judgeModel")] = None
    judge_models: Annotated[tuple[str, ...], Field(alias="judgeModels")] = ()
    model: Annotated[str | None, Field(alias="modelOverride")] = None
    plugin_id: Annotated[str | None, Field(alias="pluginId")] = None
    case_filter: Annotated[str | None, Field(alias="caseFilter")] = None
    tag_filters: Annotated[tuple[str, ...], Field(alias="tagFilters")] = ()
    spent_usd: Annotated[float, Field(alias="spentUsd")] = 0.0
    ceiling_usd: Annotated[float | None, Field(alias="maxCostUsd")] = None
    not_started: Annotated[tuple[str, ...], Field(alias="notStarted")] = ()
    runs_not_started: Annotated[tuple[_NotStarted, ...], Field(alias="runsNotStarted")] = ()
    runs_taken_over: Annotated[int, Field(alias="runsTakenOver")] = 0
    shard: str | None = None
    shard_cases: Annotated[int | None, Field(alias="shardCases")] = None
    recorded: str = ""


class _SavedDimension(_Saved):
    name: Dimension
    weight: float
    score: float
    grade: str
    evidence: tuple[str, ...] = ()


class SavedComposite(_Saved):
    """The quality score of a plugin, or of a skill."""

    plugin: str | None = None
    skill: str | None = None
    path: str = ""
    depth: Depth = Depth.QUICK
    score: float
    penalty: Annotated[float, Field(alias="anti_pattern_penalty")] = 1.0
    dimensions: tuple[_SavedDimension, ...] = ()
    badge: str = ""
    confidence_label: str = ""
    flags: tuple[str, ...] = ()
    skills: tuple[SavedComposite, ...] = ()
    notes: tuple[str, ...] = ()


class _Costs(_Saved):
    quality_usd: Annotated[float | None, Field(alias="qualityUsd")] = 0.0


class SavedDocument(_Saved):
    """A result document, ours or the reference's."""

    schema_version: Annotated[int, Field(alias="schemaVersion")]
    claude_version: Annotated[str, Field(alias="claudeVersion")] = ""
    started_at: Annotated[str, Field(alias="startedAt")] = ""
    duration_s: Annotated[float | None, Field(alias="durationSeconds")] = 0.0
    load_errors: Annotated[tuple[str, ...], Field(alias="loadErrors")] = ()
    harness: dict[str, str] | None = None
    """Who wrote it; ``None``: the reference."""
    partial_reason: Annotated[str | None, Field(alias="partialReason")] = None
    suite: _Suite
    cases: tuple[SavedCase, ...]
    costs: _Costs = _Costs()
    composite: SavedComposite | None = None
    composites: tuple[SavedComposite, ...] = ()

    @property
    def mode(self) -> str | None:
        """In which mode the session was."""
        return None if self.harness is None else self.harness.get("mode")

    @property
    def votes(self) -> int | None:
        """How many votes made a verdict, in most cases; ``None`` where nothing was voted on."""
        counts = Counter(
            len(standing.votes)
            for case in self.cases
            for run in case.runs().values()
            for standing in run.graders
            if standing.votes
        )
        return counts.most_common(1)[0][0] if counts else None


def read_document(path: Path) -> SavedDocument:
    """Return the document in a file.

    Raises `EvalError`, naming the file, when it cannot be read or is no result document.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise EvalError(f"{path}: cannot read the result document: {reason}") from error
    return parse_document(data, str(path))


def parse_document(data: bytes | str, where: str) -> SavedDocument:
    """Return the document of a file's content; *where* names the file in errors."""
    try:
        document = SavedDocument.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise EvalError(
            f"{where}: is no result document: {place}: {first['msg']}, got {shown(first['input'])}"
        ) from error
    if document.schema_version > SCHEMA_VERSION:
        raise EvalError(
            f"{where}: written by a newer version: schema {document.schema_version}, "
            f"this version reads up to {SCHEMA_VERSION}"
        )
    return document
