"""What one agent session leaves behind: the record that graders look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from pytest_plugin_eval.records.trace import Trace

__all__ = [
    "Arm",
    "Ending",
    "FileEntry",
    "FileKind",
    "MockRecord",
    "RunKey",
    "RunOutcome",
    "RunRecord",
    "Vote",
]


class Arm(StrEnum):
    """With the plugin loaded, or without any."""

    WITH = "with"
    WITHOUT = "without"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class RunKey:
    """Names one run; unique within a suite."""

    case: str
    """Case id: the case directory relative to the suite root, ``/``-separated."""
    arm: Arm
    number: int
    """Counted from 1 in each arm."""


class Ending(StrEnum):
    """How a run ended.

    `COMPLETED` to `ABORTED` are the agent's own doing, and graded on what exists; the rest are
    infrastructure and leave the run not measured (spec: deviations, D1, D7, D8, D9, D12).
    """

    COMPLETED = "completed"
    TURN_LIMIT = "turn_limit"
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"
    """The model's own stop: output limit or refusal."""
    ABORTED = "aborted"
    """A mock broke the run off: it is measured, as a 0, and not graded."""
    AGENT_ERROR = "agent_error"
    CREDENTIAL_REFUSED = "credential_refused"
    NO_RESULT = "no_result"
    SETUP_FAILED = "setup_failed"
    NOT_LOADED = "not_loaded"
    CONTAMINATED = "contaminated"
    INTERRUPTED = "interrupted"
    NOT_STARTED = "not_started"


_GRADED = frozenset({Ending.COMPLETED, Ending.TURN_LIMIT, Ending.TIMED_OUT, Ending.STOPPED})


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """How a run ended and what it used."""

    ending: Ending
    error: str | None = None
    """One line for people and the document's ``error``; ``None`` when the run ended normally."""
    turns: int = 0
    cost_usd: float | None = 0.0
    """List price of the agent's requests; ``None`` when it is unknown."""
    duration_s: float = 0.0
    started_at: str = ""
    """UTC, ISO 8601 with milliseconds and ``Z``."""
    attempts: int = 1
    """Agent sessions spent on this run, the last one included."""
    known_cost_usd: float = 0.0
    """The known part of a cost that is unknown as a whole; nothing while `cost_usd` is known."""

    @property
    def known_usd(self) -> float:
        """The cost as far as it is known."""
        return self.known_cost_usd if self.cost_usd is None else self.cost_usd

    def with_cost(self, cost_usd: float | None, known_usd: float) -> RunOutcome:
        """Return the outcome with another cost added, of which *known_usd* are known."""
        known = self.known_usd + (known_usd if cost_usd is None else cost_usd)
        if self.cost_usd is None or cost_usd is None:
            return replace(self, cost_usd=None, known_cost_usd=known)
        return replace(self, cost_usd=known)

    @property
    def is_gradable(self) -> bool:
        """Whether graders may look at this run (deviations, D1 and D7 decided the ending)."""
        return self.ending in _GRADED

    @property
    def is_measured(self) -> bool:
        """Whether the run says something about the agent: it is gradable, or a mock ended it."""
        return self.is_gradable or self.ending is Ending.ABORTED


class FileKind(StrEnum):
    """What stands at a path of the workspace after the run."""

    FILE = "file"
    LINK = "link"
    DIRECTORY = "directory"
    OTHER = "other"
    """A FIFO, socket or device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """One entry of the workspace's listing after the run."""

    path: str
    """Relative to the workspace, ``/``-separated, without a leading ``./``."""
    kind: FileKind
    created: bool
    """New since the listing taken before the agent started (directories are never counted)."""
    content: bytes | None = None
    """Regular files only; ``None`` when it was not kept (decisions, 15)."""
    target: str | None = None
    """Links only: the workspace path it resolves to; ``None`` when it dangles or leaves it."""
    leaves: bool = False
    """Links only: it resolves to something outside the workspace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """What a judge answered to one grader's question about the run."""

    question: str
    """SHA-256 of all that the answer depends on besides the model: judged text or image, criteria,
    baseline, version of the prompt. Never of a path or a time."""
    grader: str
    judging: int
    """Counted from 1: a record that is judged again gets a further set of votes."""
    number: int
    """Counted from 1 within a judging."""
    passed: bool
    unreadable: bool = False
    """Neither PASS nor FAIL, also when asked once more (deviations, D3)."""
    reply: str = ""
    """The judge's words, cut."""
    asked_model: str
    """The model as it was asked for, an alias resolved."""
    model: str
    """The model that answered, in its own words."""
    cost_usd: float | None
    """List price of the vote, a repeated question included; ``None`` when it is unknown."""
    asked_at: str
    """UTC, ISO 8601 with milliseconds and ``Z``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MockRecord:
    """What the mocks of a run did."""

    calls: str | None
    """The grader target ``mock_calls``; ``None`` when no server was mocked."""
    fields: Mapping[str, object]
    """``mocks`` of the result document: ``servers warnings calls``."""
    aborted: Mapping[str, str] | None = None
    """``server tool reason`` of the mock that broke the run off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run of one arm: everything that a grader may look at, and how it came about."""

    key: RunKey
    outcome: RunOutcome
    trace: Trace
    files: tuple[FileEntry, ...] = ()
    """Sorted by path, by code point."""
    provenance: Mapping[str, str] = field(default_factory=dict)
    """Where the record comes from: ``claude_version``, ``model``, ``recorded_at``, and the hashes
    ``prompt``, ``settings``, ``plugin`` that tell a stale record (decisions, 16)."""
    notes: tuple[str, ...] = ()
    """Lines for the reader, such as output that was cut or files whose contents were not kept."""
    mocks: MockRecord | None = None
    """``None`` when no mocks were active."""
    votes: tuple[Vote, ...] = ()
    """Of every judging, in the order they were asked in."""
