"""What a new grading says that an older document did not, grader by grader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_plugin_eval.records.model import RunKey
from pytest_plugin_eval.results.saved_document import SavedCase, SavedDocument, SavedRun
from pytest_plugin_eval.scoring.model import CaseResult, RunReport, SuiteResult, VerdictStatus

__all__ = ["CaseChange", "Changes", "GraderChange", "changes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderChange:
    """A grader that came to something else on one run."""

    key: RunKey
    grader: str
    old: VerdictStatus | None
    """``None``: the grader was not there."""
    new: VerdictStatus | None
    """``None``: the grader is not there any more."""
    old_votes: tuple[bool, ...] | None = None
    new_votes: tuple[bool, ...] | None = None
    explanation: str = ""
    """The new one; the old one of a grader that is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseChange:
    """The numbers of a case before and after, whether or not they differ."""

    case: str
    name: str
    old_score: float | None
    new_score: float | None
    old_delta: float | None
    new_delta: float | None
    graders: tuple[GraderChange, ...]
    lost: tuple[tuple[RunKey, str], ...] = ()
    """Runs that were measured before and are not now, and why."""
    compared: int = 0
    """Graders of its runs that were looked at."""
    is_new: bool = False
    """The old document does not have the case."""

    @property
    def is_changed(self) -> bool:
        """Whether anything of it is not as it was."""
        numbers = (self.old_score, self.old_delta) != (self.new_score, self.new_delta)
        return self.is_new or numbers or bool(self.graders or self.lost)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """All that changed between two gradings of a suite."""

    cases: tuple[CaseChange, ...]

    @property
    def changed(self) -> int:
        """Verdicts that changed."""
        return sum(len(case.graders) for case in self.cases)

    @property
    def compared(self) -> int:
        """Verdicts that were looked at."""
        return sum(case.compared for case in self.cases)

    @property
    def lost(self) -> int:
        """Runs that were measured before and are not now."""
        return sum(len(case.lost) for case in self.cases)


def changes(old: SavedDocument, new: SuiteResult) -> Changes:
    """Return what changed in the cases of *new*; cases that only *old* has were not looked at."""
    by_id = {case.id: case for case in old.cases}
    return Changes(cases=tuple(_case(by_id.get(case.info.id), case) for case in new.cases))


def _case(old: SavedCase | None, new: CaseResult) -> CaseChange:
    old_runs = old.runs() if old is not None else {}
    pairs = [(old_runs.get((run.key.arm, run.key.number)), run) for run in new.runs]
    looked_at = [change for before, run in pairs for change in _graders(before, run)]
    return CaseChange(
        case=new.info.id,
        name=new.info.name,
        old_score=old.aggregates.score if old is not None else None,
        new_score=new.score,
        old_delta=old.aggregates.delta if old is not None else None,
        new_delta=new.delta,
        graders=tuple(change for change in looked_at if change.old is not change.new),
        lost=tuple(
            (run.key, run.unmeasured_reason or "no reason is known")
            for before, run in pairs
            if before is not None and before.measured and not run.measured
        ),
        compared=len(looked_at),
        is_new=old is None,
    )


def _graders(old: SavedRun | None, new: RunReport) -> Iterator[GraderChange]:
    """Yield every grader of a run, changed or not: the new ones in their order, then lost ones."""
    before = old.standings if old is not None else {}
    for verdict in new.verdicts:
        was = before.pop(verdict.grader, None)
        yield GraderChange(
            key=new.key,
            grader=verdict.grader,
            old=was.outcome if was is not None else None,
            new=verdict.status,
            old_votes=was.votes if was is not None else None,
            new_votes=verdict.votes,
            explanation=verdict.explanation,
        )
    for name, was in before.items():
        yield GraderChange(
            key=new.key,
            grader=name,
            old=was.outcome,
            new=None,
            old_votes=was.votes,
            explanation=was.explanation,
        )
