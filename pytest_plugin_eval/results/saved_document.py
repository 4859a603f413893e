"""A result document read back: the parts of it that results are compared by."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.quality.model import Dimension
from pytest_plugin_eval.records.model import Arm, Ending, RunOutcome
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
MOST_RUNS = 1_000_000
"""Of one arm; a broken document is not to plan more than a machine can list."""
LONGEST_S = 1e9
MOST_USD = 1e9

_PartialReason = Literal["interrupted", "auth_failed", "cost_ceiling", "not_measured"]
_Seconds = Annotated[float | None, Field(alias="durationSeconds", ge=0, le=LONGEST_S)]
_Share = Annotated[float | None, Field(ge=0, le=1 + 1e-9)]
_Count = Annotated[int, Field(ge=0, le=MOST_RUNS)]
_RunName = Annotated[str, Field(pattern=r"^(with|without)-[1-9][0-9]{0,8}$")]


class _Saved(BaseModel):
    """A mapping of the document; what is not needed here is left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


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

    number: Annotated[int | None, Field(alias="run", ge=1, le=MOST_RUNS)] = None
    score: _Share
    passed: bool = False
    measured: bool = True
    unmeasured_reason: Annotated[str | None, Field(alias="unmeasuredReason")] = None
    ending: Ending | None = None
    """``None``: the reference's, which does not tell it."""
    error: str | None = None
    turns: int = 0
    attempts: int = 1
    cost_usd: Annotated[float | None, Field(alias="costUsd", ge=0, le=MOST_USD)] = 0.0
    agent_cost_usd: Annotated[float | None, Field(alias="agentCostUsd", ge=0, le=MOST_USD)] = None
    judge_cost_usd: Annotated[float | None, Field(alias="judgeCostUsd", ge=0, le=MOST_USD)] = 0.0
    agent_known_usd: Annotated[float, Field(alias="agentKnownUsd", ge=0, le=MOST_USD)] = 0.0
    judge_known_usd: Annotated[float, Field(alias="judgeKnownUsd", ge=0, le=MOST_USD)] = 0.0
    duration_s: _Seconds = 0.0
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
            ending = _ending_there(fields)
            is_graded = RunOutcome(ending=ending).is_measured
            reason = _ungraded_there(fields) if is_graded else None
            found = {"ending": ending, "measured": is_graded and reason is None}
            return {**found, **({"unmeasuredReason": reason} if reason else {}), **fields}
        return fields

    @property
    def standings(self) -> dict[str, Standing]:
        """All graders, by name."""
        return {one.name: one for one in (*self.graders, *self.without_verdict)}


def _ending_there(fields: Mapping[str, object]) -> Ending:
    """Return how a run of the reference ended, by its error. Spec: behaviour-evals, 6."""
    if fields.get("aborted"):
        return Ending.ABORTED
    error = fields.get("error")
    if error is None:
        return Ending.COMPLETED
    text = str(error)
    for words, ending in _ENDINGS_THERE.items():
        if words in text:
            return ending
    # An API error leaves nothing graded; an output limit and a refusal are.
    return Ending.STOPPED if fields.get("graders") else Ending.AGENT_ERROR


def _ungraded_there(fields: Mapping[str, object]) -> str | None:
    """Return what left a run of the reference without a measurement (deviations, D2, D4, D7)."""
    if fields.get("skippedPaidGraders"):
        return "judge graders were skipped at the cost ceiling"
    graders = fields.get("graders")
    for one in graders if isinstance(graders, list) else ():
        text = str(one.get("explanation", "")) if isinstance(one, dict) else ""
        if text.startswith(_JUDGE_FAILED) and one.get("scored", True):
            return text
    if fields.get("score") is None:
        return "it has no score"
    return "no model call was made" if fields.get("turns") == 0 and fields.get("error") else None


_ENDINGS_THERE = {
    "Reached maximum number of turns": Ending.TURN_LIMIT,
    "timed out after": Ending.TIMED_OUT,
    "Not logged in": Ending.CREDENTIAL_REFUSED,
    "interrupted": Ending.INTERRUPTED,
}
_JUDGE_FAILED = (
    "grader threw: judge call failed",
    "grader threw: No assistant message",
    "skipped: cost ceiling",
)


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
    with_runs: Annotated[_Count, Field(alias="with")]
    without_runs: Annotated[_Count, Field(alias="without")]
    two_arms: Annotated[bool, Field(alias="twoArms")]


def _relative(case: str) -> str:
    if any(part in ("", ".", "..") or "\0" in part for part in case.split("/")):
        raise ValueError("expected a relative path without '..' or empty parts")
    return case


class SavedCase(_Saved):
    """One case."""

    name: str
    id: Annotated[str, Field(alias="dir"), AfterValidator(_relative)]
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

    @model_validator(mode="after")
    def _has_each_run_once(self) -> Self:
        """Refuse two runs of one arm and number: nobody could say which of them counts."""
        for arm, runs in ((Arm.WITH, self.arms.with_runs), (Arm.WITHOUT, self.arms.without_runs)):
            double = _double(run.number or position for position, run in enumerate(runs, 1))
            if double is not None:
                raise ValueError(f"run {arm.value}-{double} is there twice")
        return self

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


def _double(values: Iterable[Hashable]) -> Hashable | None:
    """Return a value that is there more than once, or ``None``."""
    return next((value for value, count in Counter(values).items() if count > 1), None)


class _NotStarted(_Saved):
    case: str
    runs: tuple[_RunName, ...]
    reason: str


class _Suite(_Saved):
    root: str
    ablation: str
    threshold: float
    concurrency: int = 1
    plugins: tuple[dict[str, str], ...] = ()
    eval_dir: Annotated[str | None, Field(alias="evalDir")] = None
    free_only: Annotated[bool, Field(alias="freeOnly")] = False
    min_delta: Annotated[float | None, Field(alias="minDelta", ge=-1, le=1)] = None
    judge_model: Annotated[str | None, Field(alias="judgeModel")] = None
    judge_models: Annotated[tuple[str, ...], Field(alias="judgeModels")] = ()
    model: Annotated[str | None, Field(alias="modelOverride")] = None
    plugin_id: Annotated[str | None, Field(alias="pluginId")] = None
    case_filter: Annotated[str | None, Field(alias="caseFilter")] = None
    tag_filters: Annotated[tuple[str, ...], Field(alias="tagFilters")] = ()
    spent_usd: Annotated[float, Field(alias="spentUsd", ge=0, le=MOST_USD)] = 0.0
    ceiling_usd: Annotated[float | None, Field(alias="maxCostUsd", ge=0, le=MOST_USD)] = None
    not_started: Annotated[tuple[str, ...], Field(alias="notStarted")] = ()
    runs_not_started: Annotated[tuple[_NotStarted, ...], Field(alias="runsNotStarted")] = ()
    runs_taken_over: Annotated[int, Field(alias="runsTakenOver")] = 0
    shard: Annotated[str | None, Field(pattern=r"^[1-9][0-9]{0,5}/[1-9][0-9]{0,5}$")] = None
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
    score: Annotated[float, Field(ge=0, le=100)]
    penalty: Annotated[float, Field(alias="anti_pattern_penalty")] = 1.0
    dimensions: tuple[_SavedDimension, ...] = ()
    badge: str = ""
    confidence_label: str = ""
    flags: tuple[str, ...] = ()
    skills: tuple[SavedComposite, ...] = ()
    notes: tuple[str, ...] = ()


class _Costs(_Saved):
    quality_usd: Annotated[float | None, Field(alias="qualityUsd", ge=0, le=MOST_USD)] = 0.0


class SavedDocument(_Saved):
    """A result document, ours or the reference's."""

    schema_version: Annotated[int, Field(alias="schemaVersion", ge=1, le=SCHEMA_VERSION)]
    claude_version: Annotated[str, Field(alias="claudeVersion")] = ""
    started_at: Annotated[str, Field(alias="startedAt")] = ""
    duration_s: _Seconds = 0.0
    load_errors: Annotated[tuple[str, ...], Field(alias="loadErrors")] = ()
    harness: dict[str, str] | None = None
    """Who wrote it; ``None``: the reference."""
    partial_reason: Annotated[_PartialReason | None, Field(alias="partialReason")] = None
    suite: _Suite
    cases: tuple[SavedCase, ...]
    costs: _Costs = _Costs()
    composite: SavedComposite | None = None
    composites: tuple[SavedComposite, ...] = ()

    @model_validator(mode="after")
    def _has_each_case_once(self) -> Self:
        double = _double(case.id for case in self.cases)
        if double is not None:
            raise ValueError(f"case {shown(double)} is there twice")
        return self

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
        return SavedDocument.model_validate_json(data)
    except ValidationError as error:
        version = _version(data)
        if version is not None and version > SCHEMA_VERSION:
            raise EvalError(_newer(where, version)) from error
        raise EvalError(f"{where}: is no result document: {_first(error)}") from error


def _first(error: ValidationError) -> str:
    """Return the first of the errors in words."""
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"])) or "the file"
    if first["type"] == "value_error":  # of a whole object, which would not fit in a line
        return f"{place}: {first['msg'].removeprefix('Value error, ')}"
    return f"{place}: {first['msg']}, got {shown(first['input'])}"


def _newer(where: str, version: int) -> str:
    return (
        f"{where}: written by a newer version: schema {version}, this version reads up to "
        f"{SCHEMA_VERSION}"
    )


def _version(data: bytes | str) -> int | None:
    """Return the schema version of a document that could not be read, ``None`` without one."""
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        return None
    version = fields.get("schemaVersion") if isinstance(fields, dict) else None
    return version if isinstance(version, int) else None
