"""Verdicts, run reports and the results computed from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from pytest_plugin_eval.records.model import RunKey, RunOutcome

__all__ = [
    "CaseInfo",
    "CaseResult",
    "NotStarted",
    "Plan",
    "RunReport",
    "SuiteInfo",
    "SuiteResult",
    "Verdict",
    "VerdictStatus",
]


class VerdictStatus(StrEnum):
    """What a grader came to on one record."""

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    """The grader could not decide; a scored grader in this state leaves the run not measured."""
    SKIPPED = "skipped"
    """Not evaluated on purpose (paid graders under ``--eval-free-only`` or at the ceiling)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A grader's result on one record."""

    grader: str
    type: str
    status: VerdictStatus
    weight: float
    explanation: str
    with_only: bool = False
    """Looks at something only the with-arm can have; reported there, never scored (spec: 5.2)."""
    scored: bool = True
    evidence: str | None = None
    """What the judge saw, cut as it was for the judge; of ``llm`` graders that voted."""
    votes: tuple[bool, ...] | None = None
    """Of graders that voted, in order."""
    unreadable_votes: int = 0
    """Votes among the failing ones that held neither PASS nor FAIL (deviations, D3)."""
    judge_model: str | None = None
    """The model that voted, in its own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many runs of each arm the session plans for a case; ``without_runs`` is 0 for one arm."""

    with_runs: int
    without_runs: int
    two_arms: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseInfo:
    """What the result document says of a case, as plain values (it crosses processes)."""

    id: str
    name: str
    source: str
    prompt: str
    graders: tuple[Mapping[str, object], ...]
    """In the document's form: ``name type weight config`` and, when set, ``arm graderMarkdown``."""
    root: str
    """Suite root, absolute."""
    eval_dir: str
    """Eval directory, absolute."""
    plan: Plan
    own_runs: int = 3
    """``runsPerCase``: the case's own ``runs`` or 3, not the option's (deviations, D13)."""
    max_turns: int = 10
    timeout_s: int = 300
    model: str | None = None
    tags: tuple[str, ...] = ()
    advisories: tuple[str, ...] = ()
    grader_advisories: Mapping[str, str] = field(default_factory=dict)
    """The advisory of a grader, by its name: it explains that grader's failure in the notes."""
    warnings: tuple[str, ...] = ()
    grader_grants: Mapping[str, str] = field(default_factory=dict)
    """The tools, separated by spaces, whose grant would let a grader pass, by its name."""
    hints: tuple[str, ...] = ()
    """What the author may have overlooked; no score depends on it."""
    not_granted: tuple[str, ...] = ()
    plugins: tuple[Mapping[str, str], ...] = ()
    """``name path`` and, when known, ``version problem``."""
    source_file: str = ""
    """``prompt.md`` or ``case.yaml``, absolute: where a reader is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """One run, graded: what the controller needs of it."""

    key: RunKey
    case: CaseInfo
    outcome: RunOutcome
    verdicts: tuple[Verdict, ...] = ()
    score: float | None = None
    """Weighted share of passed scored verdicts, 0 to 1; ``None`` when the run was not measured."""
    passed: bool = False
    """Measured, and every scored verdict passed."""
    measured: bool = False
    unmeasured_reason: str | None = None
    """Why there is no score, when the outcome itself was gradable (an errored verdict)."""
    skipped_paid: bool = False
    judge_cost_usd: float | None = 0.0
    """List price of the votes behind the verdicts; ``None`` when one is unknown."""
    judge_known_usd: float = 0.0
    """The part of the judge's cost that is known, where it is not known as a whole."""
    spent_usd: float = 0.0
    """What this session paid for the run, as far as it is known: nothing for what was recorded."""
    is_taken_over: bool = False
    """Finished by an earlier session (``--eval-resume``)."""
    is_at_ceiling: bool = False
    """Not started, not judged or lost in a mock because of the cost ceiling."""
    is_judge_refused: bool = False
    """The judge's credential was refused before its model had answered, also in a mock."""
    record_path: str = ""
    """Where the run's record lies: relative to the rootdir when below it, else absolute."""
    results_dir: str = ""
    """Absolute path of the session's results directory for this suite."""
    provenance: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """What the reader should know of the run besides its outcome, such as output that was cut."""
    mocks: Mapping[str, object] | None = None
    """``servers warnings calls`` as in the document; ``None`` when no mocks were active."""
    aborted: Mapping[str, str] | None = None
    """``server tool reason`` of the mock that broke the run off."""
    last_message: str = ""
    """The end of the reply, cut, for the failure text."""
    skills_called: tuple[str, ...] | None = None
    """Of a run that did not pass: the skills that were called, subagents included, each once;
    ``None`` where that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """A case's runs and the numbers computed from them. Spec: behaviour-evals, 5.3."""

    info: CaseInfo
    with_runs: tuple[RunReport, ...]
    without_runs: tuple[RunReport, ...]
    score: float | None
    """WITH: mean score of the measured with-runs; ``None`` with none."""
    pass_rate: float | None
    score_without: float | None
    """W/OUT; ``None`` in one arm, without measurements, or when the arms are not comparable."""
    pass_rate_without: float | None
    delta: float | None
    passed: bool
    """WITH is at or above the threshold, Δ at or above the smallest one asked for, if one was, and
    every planned run of either arm was measured."""
    withheld: str | None = None
    """Why Δ is not shown although both arms were planned, for example ``asymmetric loss``."""
    missed_delta: float | None = None
    """The smallest Δ asked for, where it was not reached; ``None`` where it was, or none was."""

    @property
    def runs(self) -> tuple[RunReport, ...]:
        """All runs, those with the plugin first."""
        return (*self.with_runs, *self.without_runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotStarted:
    """Selected runs of one case that were not made, for one reason."""

    case: str
    """Case id."""
    runs: tuple[str, ...]
    """As in node ids, ``with-2``; those with the plugin first, by number."""
    reason: str
    is_made: bool = False
    """Whether they were made after all, and the session ended before anybody heard of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteInfo:
    """What the result document says of the session."""

    root: str
    eval_dir: str
    ablation: str
    threshold: float
    concurrency: int
    mode: str
    plugin_id: str | None = None
    """``name@marketplace`` of an installed plugin that was the target."""
    model: str | None = None
    judge_model: str | None = None
    case_filter: str | None = None
    tag_filters: tuple[str, ...] = ()
    plugins: tuple[Mapping[str, str], ...] = ()
    free_only: bool = False
    min_delta: float | None = None
    claude_version: str = ""
    started_at: str = ""
    duration_s: float = 0.0
    not_started: tuple[str, ...] = ()
    """Ids of selected cases of which no run was made."""
    runs_not_started: tuple[NotStarted, ...] = ()
    """All selected runs that were not made, those of the cases in `not_started` included."""
    resumed: int = 0
    """Runs that were taken over from an earlier session instead of being made."""
    spent_usd: float = 0.0
    """What this session paid for, as far as known: nothing in a replay."""
    ceiling_usd: float | None = None
    """The most that the session was allowed to spend; ``None`` without a limit."""
    shard: str | None = None
    """``2/4``: this is the second of four parts; ``None``: the whole."""
    shard_cases: int | None = None
    """How many cases all parts together have."""
    recorded: str = ""
    """Replay: when and with what the records were made, in words; empty otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteResult:
    """All cases of one suite root. Spec: behaviour-evals, 5.4 and 9."""

    info: SuiteInfo
    cases: tuple[CaseResult, ...]
    """Cases of which at least one run was recorded, by id, by code point."""
    cases_passed: int
    overall_score: float | None
    overall_pass_rate: float | None
    mean_delta: float | None
    cost_usd: float | None
    """Agent and judge together; ``None`` when the cost of a run is unknown."""
    partial_reason: str | None = None
    """``interrupted``, ``auth_failed``, ``cost_ceiling`` or ``not_measured``."""
    load_errors: tuple[str, ...] = ()
