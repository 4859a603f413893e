"""A result document read back: the parts of it that results are compared by."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.records.model import Arm
from pytest_plugin_eval.scoring.model import VerdictStatus
from pytest_plugin_eval.text import shown

__all__ = ["SavedCase", "SavedDocument", "SavedRun", "Standing", "parse_document", "read_document"]

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
    votes: Annotated[tuple[bool, ...] | None, Field(alias="judgeVotes")] = None

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
    measured: bool = True
    graders: tuple[Standing, ...]
    without_verdict: Annotated[tuple[Standing, ...], Field(alias="gradersWithoutVerdict")] = ()

    @property
    def standings(self) -> dict[str, Standing]:
        """All graders, by name."""
        return {one.name: one for one in (*self.graders, *self.without_verdict)}


class _Arms(_Saved):
    with_runs: Annotated[tuple[SavedRun, ...], Field(alias="with")] = ()
    without_runs: Annotated[tuple[SavedRun, ...], Field(alias="without")] = ()


class _CaseAggregates(_Saved):
    score: float | None = None
    delta: float | None = None


class SavedCase(_Saved):
    """One case."""

    name: str
    id: Annotated[str, Field(alias="dir")]
    arms: _Arms
    aggregates: _CaseAggregates

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


class _Suite(_Saved):
    root: str
    ablation: str
    threshold: float
    eval_dir: Annotated[str | None, Field(alias="evalDir")] = None
    free_only: Annotated[bool, Field(alias="freeOnly")] = False
    min_delta: Annotated[float | None, Field(alias="minDelta")] = None
    judge_model: Annotated[str | None, Field(alias="judgeModel")] = None
    model: Annotated[str | None, Field(alias="modelOverride")] = None


class SavedDocument(_Saved):
    """A result document, ours or the reference's."""

    schema_version: Annotated[int, Field(alias="schemaVersion")]
    harness: dict[str, str] | None = None
    """Who wrote it; ``None``: the reference."""
    partial_reason: Annotated[str | None, Field(alias="partialReason")] = None
    suite: _Suite
    cases: tuple[SavedCase, ...]

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
