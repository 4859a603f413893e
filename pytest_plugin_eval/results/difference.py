"""What moved between two results of a suite, case by case and grader by grader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pytest_plugin_eval.records.model import Arm
from pytest_plugin_eval.results.attribution import (
    ArmMove,
    Mover,
    Number,
    are_same_runs,
    changed_between,
    mover_of,
)
from pytest_plugin_eval.results.facts import Fact, facts, notes
from pytest_plugin_eval.scoring.model import CaseResult, RunReport, SuiteResult, VerdictStatus

__all__ = [
    "CaseMove",
    "Difference",
    "GraderMove",
    "Rate",
    "difference",
]

_JUDGED = ("llm", "baseline")


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of the runs that were graded passed."""

    passed: int
    graded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderMove:
    """A grader that passed in another share of the runs, or that is not the same grader."""

    grader: str
    rates: Mapping[Arm, tuple[Rate, Rate]]
    """Before and after, of the arms in which it was evaluated."""
    changed: str | None = None
    """Why it cannot be compared: ``changed``, ``new``, ``gone``, ``other judge``."""
    scored: bool = True
    """Whether it counts in either result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseMove:
    """A case that is in both results."""

    case: str
    name: str
    with_arm: ArmMove
    without_arm: ArmMove
    old_delta: float | None
    new_delta: float | None
    mover: Mover
    reasons: tuple[str, ...]
    """Why, in words: what changed, or what keeps the two from being compared."""
    graders: tuple[GraderMove, ...]
    unmeasured: tuple[int, int] = (0, 0)
    passed: tuple[bool, bool] = (False, False)

    @property
    def has_moved(self) -> bool:
        """Whether a reader wants to see it."""
        return self.mover is not Mover.NOBODY or bool(self.graders)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Two results of a suite, compared."""

    facts: tuple[Fact, ...]
    cases: tuple[CaseMove, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    notes: tuple[str, ...]
    """What else limits the comparison, such as results that are partial."""
    old: SuiteResult
    new: SuiteResult


def difference(old: SuiteResult, new: SuiteResult) -> Difference:
    """Return what moved from *old* to *new*."""
    before = {case.info.id: case for case in old.cases}
    after = {case.info.id: case for case in new.cases}
    return Difference(
        facts=tuple(facts(old, new)),
        cases=tuple(
            _case(before[case], after[case], old, new) for case in sorted(before.keys() & after)
        ),
        only_old=tuple(sorted(before.keys() - after)),
        only_new=tuple(sorted(after.keys() - before)),
        notes=tuple(notes(old, new)),
        old=old,
        new=new,
    )


def _case(
    old: CaseResult, new: CaseResult, old_suite: SuiteResult, new_suite: SuiteResult
) -> CaseMove:
    with_arm = ArmMove(old=_number(old.score, old.with_runs), new=_number(new.score, new.with_runs))
    without_arm = ArmMove(
        old=_number(old.score_without, old.without_runs),
        new=_number(new.score_without, new.without_runs),
    )
    graders = tuple(_graders(old, new))
    hurdles = tuple(_hurdles(old, new, graders))
    if hurdles:
        mover, reasons = Mover.NOT_COMPARABLE, hurdles
    else:
        versions = (old_suite.info.claude_version, new_suite.info.claude_version)
        changed = changed_between(old, new, versions=versions)
        mover, reasons = mover_of(with_arm, without_arm, changed)
        doubts = _doubts(old, new, graders)
        if mover is not Mover.NOBODY and are_same_runs(old, new):
            mover, reasons = Mover.GRADING, ("the runs are the same, graded again",)
        elif mover is not Mover.NOBODY and doubts:
            mover, reasons = Mover.UNKNOWN, (*doubts, *reasons)
    return CaseMove(
        case=new.info.id,
        name=new.info.name,
        with_arm=with_arm,
        without_arm=without_arm,
        old_delta=old.delta,
        new_delta=new.delta,
        mover=mover,
        reasons=(*reasons, *_withheld("old", old), *_withheld("new", new)),
        graders=graders,
        unmeasured=(_lost(old), _lost(new)),
        passed=(old.passed, new.passed),
    )


def _number(value: float | None, runs: Iterable[RunReport]) -> Number:
    return Number(value, sum(run.measured for run in runs))


def _lost(case: CaseResult) -> int:
    return sum(not run.measured for run in case.runs)


def _withheld(which: str, case: CaseResult) -> Iterator[str]:
    if case.withheld is not None:
        yield f"the {which} Δ is withheld: {case.withheld}"


def _hurdles(old: CaseResult, new: CaseResult, graders: Iterable[GraderMove]) -> Iterator[str]:
    """Yield what keeps the scores of a case from being compared."""
    if old.info.prompt != new.info.prompt:
        yield "the prompt changed"
    for one in graders:
        if one.changed is not None and one.scored:
            yield f"grader {one.grader}: {one.changed}"
    told = {one.grader for one in graders if one.changed is not None}
    for name in sorted(_counting_in_one(old, new) - told):
        yield f"grader {name}: counts in one of the two only"


def _counting_in_one(old: CaseResult, new: CaseResult) -> frozenset[str]:
    """Return the graders that count in an arm of one result, and not in that arm of the other.

    With one arm every grader counts, with two some do not; and paid ones can be left out.
    """
    found: frozenset[str] = frozenset()
    for before, after in ((old.with_runs, new.with_runs), (old.without_runs, new.without_runs)):
        counting = [_counting(runs) for runs in (before, after)]
        if all(counting):  # else nothing of that arm was graded in one of them
            found |= counting[0] ^ counting[1]
    return found


def _counting(runs: Iterable[RunReport]) -> frozenset[str]:
    return frozenset(v.grader for run in runs if run.measured for v in run.verdicts if v.scored)


def _doubts(old: CaseResult, new: CaseResult, graders: Iterable[GraderMove]) -> tuple[str, ...]:
    """Return which graders moved whose judge is not known of both results."""
    judged = {str(one.get("name")) for one in new.info.graders if one.get("type") in _JUDGED}
    return tuple(
        f"grader {one.grader}: its judge is not known of both results"
        for one in graders
        if one.grader in judged
        and one.scored
        and not (_judges_of(one.grader, old) and _judges_of(one.grader, new))
    )


def _graders(old: CaseResult, new: CaseResult) -> Iterator[GraderMove]:
    """Yield the graders that moved or are not the same, in the order of the new case."""
    before, after = _definitions(old), _definitions(new)
    for name in (*after, *(name for name in before if name not in after)):
        changed = _grader_change(name, old, new, before.get(name), after.get(name))
        rates = {
            arm: (_rate(name, old, arm), _rate(name, new, arm))
            for arm in Arm
            if _rate(name, old, arm).graded or _rate(name, new, arm).graded
        }
        if changed is not None or any(_moved(*pair) for pair in rates.values()):
            scored = _is_scored(name, old) or _is_scored(name, new)
            yield GraderMove(grader=name, rates=rates, changed=changed, scored=scored)


def _definitions(case: CaseResult) -> dict[str, Mapping[str, object]]:
    listed = {str(one.get("name")): one for one in case.info.graders}
    for run in case.runs:
        for verdict in run.verdicts:
            listed.setdefault(verdict.grader, {})
    return listed


def _grader_change(
    name: str,
    old: CaseResult,
    new: CaseResult,
    before: Mapping[str, object] | None,
    after: Mapping[str, object] | None,
) -> str | None:
    if before is None:
        return "new"
    if after is None:
        return "gone"
    if before != after:
        return "changed"
    judges = [_judges_of(name, case) for case in (old, new)]
    if after.get("type") in _JUDGED and all(judges) and judges[0] != judges[1]:
        return f"other judge ({', '.join(sorted(judges[0]))} -> {', '.join(sorted(judges[1]))})"
    return None


def _judges_of(grader: str, case: CaseResult) -> frozenset[str]:
    verdicts = (v for run in case.runs for v in run.verdicts if v.grader == grader)
    return frozenset(v.judge_model for v in verdicts if v.judge_model)


def _is_scored(grader: str, case: CaseResult) -> bool:
    return any(v.scored for run in case.runs for v in run.verdicts if v.grader == grader)


def _rate(grader: str, case: CaseResult, arm: Arm) -> Rate:
    runs = case.with_runs if arm is Arm.WITH else case.without_runs
    statuses = [
        v.status for run in runs if run.measured for v in run.verdicts if v.grader == grader
    ]
    passed = statuses.count(VerdictStatus.PASSED)
    return Rate(passed, passed + statuses.count(VerdictStatus.FAILED))


def _moved(old: Rate, new: Rate) -> bool:
    """Tell whether the shares differ; 2 of 3 is as many as 4 of 6."""
    return old.passed * new.graded != new.passed * old.graded or (not old.graded) != (
        not new.graded
    )
