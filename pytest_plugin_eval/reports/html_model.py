"""What a page shows, as plain values: the templates only lay it out."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_plugin_eval.reports.html_trace import Transcript

__all__ = [
    "CaseView",
    "Fact",
    "FileView",
    "GraderView",
    "OverviewRow",
    "PairView",
    "QualityView",
    "RunView",
    "StripRow",
    "SuiteView",
    "Tile",
    "VerdictView",
    "VoteView",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A number at the top of the page."""

    label: str
    value: str
    note: str = ""
    kind: str = ""
    """``passed``, ``failed``, or nothing where it is neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewRow:
    """A case in the picture of all cases. Places are shares of the axis in percent."""

    anchor: str
    name: str
    passed: bool
    score: str
    without: str
    delta: str
    direction: str
    """``up``, ``down``, ``level``, or nothing where there is no Δ."""
    score_at: str | None
    without_at: str | None
    runs: str
    cost: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityView:
    """The composite score of a plugin or skill."""

    name: str
    score: str
    badge: str
    label: str
    rows: tuple[tuple[str, str, str], ...]
    """Dimension, score, grade."""
    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteView:
    """The top of the page."""

    title: str
    subtitle: str
    standing: str
    verdict: str
    exit_status: int | None
    """What the suite by itself gives; ``None`` when it depends on what is not known."""
    tiles: tuple[Tile, ...]
    notes: tuple[str, ...]
    load_errors: tuple[str, ...]
    two_arms: bool
    threshold: str
    threshold_at: str
    overview: tuple[OverviewRow, ...]
    tags: tuple[str, ...]
    quality: tuple[QualityView, ...]
    is_split: bool
    """Whether transcripts lie in files beside the page."""
    files: str
    """The directory of these files, relative to the page."""
    written_by: str
    """The command that writes these files, where they were not written."""
    footer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A name and what it is."""

    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteView:
    """A judge's vote."""

    passed: bool
    note: str = ""
    reply: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictView:
    """What a grader came to on a run."""

    grader: str
    anchor: str
    status: str
    note: str
    explanation: str
    votes: tuple[VoteView, ...] = ()
    judge: str = ""
    evidence: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileView:
    """Something that the agent left in its workspace."""

    path: str
    note: str
    text: str | None
    """``None`` when it cannot be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """One run."""

    anchor: str
    name: str
    arm: str
    status: str
    """``passed``, ``failed``, ``partly`` or ``unmeasured``."""
    score: str
    line: str
    """Cost, turns and time."""
    problem: str = ""
    facts: tuple[Fact, ...] = ()
    notes: tuple[str, ...] = ()
    verdicts: tuple[VerdictView, ...] = ()
    files: tuple[FileView, ...] = ()
    files_note: str = ""
    transcript: Transcript | None = None
    missing: str = ""
    """Why there is no transcript."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairView:
    """The runs of one number, one of each arm."""

    number: int
    anchor: str
    runs: tuple[RunView, ...]
    difference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StripRow:
    """A grader's row: a cell for each run, with-runs first."""

    grader: str
    anchor: str
    note: str
    cells: tuple[str, ...]
    """``passed failed errored skipped none``."""
    flips: str
    """In which arms its verdicts differ between runs, in words; empty when in none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderView:
    """What a grader looks for, and what it said where it was not content."""

    name: str
    anchor: str
    type: str
    note: str
    config: tuple[Fact, ...]
    criteria: str
    remarks: tuple[Fact, ...]
    """Run and explanation, of verdicts other than passed."""
    more: int = 0
    """Remarks that are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseView:
    """A card."""

    anchor: str
    name: str
    id: str
    passed: bool
    score: str
    without: str
    delta: str
    direction: str
    summary: str
    """Runs and cost."""
    kinds: str
    """What the filters go by: ``failed negative flaky unmeasured``, those that hold."""
    tags: tuple[str, ...]
    reasons: tuple[str, ...]
    warnings: tuple[str, ...]
    hints: tuple[str, ...]
    with_names: tuple[tuple[str, str], ...]
    """Number and anchor of each with-run."""
    without_names: tuple[tuple[str, str], ...]
    strip: tuple[StripRow, ...]
    scores: tuple[str, ...]
    prompt: str
    source: str
    graders: tuple[GraderView, ...]
    is_short: bool = False
    """Whether the details of its runs are not on this page."""
    side_page: str = ""
    """Relative link to the page that they are on; empty when that was not written."""
    runs: tuple[RunView, ...] = ()
    """In short, where the details are elsewhere."""
    remarks: tuple[Fact, ...] = ()
    """What graders said that were not content with a with-run: the first to read of a failure."""
    more: int = 0
    """Remarks that are left out."""
