"""All graders of a case on one record. Spec: behaviour-evals, 4.1 and 5.2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from pytest_plugin_eval.cases.case import PAID_TYPES
from pytest_plugin_eval.cases.mock import has_own_mocks
from pytest_plugin_eval.cases.model import (
    BaselineSpec,
    Case,
    FileExistsSpec,
    GraderSpec,
    LlmSpec,
    RegexSpec,
    ToolOrderSpec,
    ToolUsedSpec,
)
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.graders import baseline, created, javascript, llm, pattern, tool
from pytest_plugin_eval.graders.base import GradingContext, Judgement
from pytest_plugin_eval.graders.javascript import Answer, Question
from pytest_plugin_eval.graders.target import Subject
from pytest_plugin_eval.graders.voting import Ballot, voted
from pytest_plugin_eval.judges.poll import Poll, PollResult
from pytest_plugin_eval.records.model import Arm, RunRecord, Vote
from pytest_plugin_eval.scoring.model import Verdict, VerdictStatus
from pytest_plugin_eval.scoring.runs import total
from pytest_plugin_eval.text import shown

__all__ = [
    "Graded",
    "Grading",
    "grade",
    "grade_all",
    "has_scored_free_grader",
    "polls",
    "with_only_names",
    "with_only_of",
]

LEFT_OUT = "left out by --eval-free-only: it needs a judge"
_KEPT_VERDICTS = 1024


class Graded(NamedTuple):
    """A record to grade, and what decides which graders look at it."""

    case: Case
    record: RunRecord
    two_arms: bool


class Grading(NamedTuple):
    """What the graders came to on one record."""

    verdicts: tuple[Verdict, ...]
    """Of every grader that concerns the record's arm, in the case's order."""
    votes: tuple[Vote, ...] = ()
    """Those that were asked for just now, to be added to the record: they were paid for."""
    judge_cost_usd: float | None = 0.0
    """List price of the votes behind the verdicts, recorded ones included, and of calls that made
    none; ``None`` when one is unknown."""
    lost_usd: float = 0.0
    """What was paid just now for replies that made no vote, as far as it is known."""
    judge_known_usd: float = 0.0
    """The part of the judge's cost that is known."""


class _Sheet(NamedTuple):
    """A record on its way through the graders."""

    case: Case
    subject: Subject
    specs: Sequence[GraderSpec]
    with_only: frozenset[str]

    def ballots(self) -> dict[str, Ballot | Judgement]:
        """Return what a judge is to be asked, by grader, or what there is to say without one."""
        ballots: dict[str, Ballot | Judgement] = {}
        for spec in self.specs:
            if isinstance(spec, LlmSpec):
                ballots[spec.name] = llm.ballot(spec, self.subject)
            elif isinstance(spec, BaselineSpec):
                ballots[spec.name] = baseline.ballot(spec, self.subject, self.case.directory)
        return ballots


def grade(case: Case, record: RunRecord, *, two_arms: bool, context: GradingContext) -> Grading:
    """Return what the graders of a case come to on one record.

    Raises `EvalError` for a grader that needs a judge when *context* has none and does not leave
    such graders out.
    """
    return grade_all([Graded(case, record, two_arms)], context=context)[0]


def grade_all(runs: Sequence[Graded], *, context: GradingContext) -> list[Grading]:
    """Return what `grade` does for each of several runs.

    The engine is called once, and all votes are asked for together.
    """
    sheets = [_sheet(run) for run in runs]
    asked = (
        question
        for sheet in sheets
        for spec in sheet.specs
        for question in _questions(spec, sheet.subject)
    )
    answers = javascript.ask(asked, context.timeout_s)
    ballots = [{} if context.free_only else sheet.ballots() for sheet in sheets]
    polled = iter(_polled(sheets, ballots, context))
    return [
        _grading(sheet, answers, named, {name: next(polled) for name in _to_judge(named)})
        for sheet, named in zip(sheets, ballots, strict=True)
    ]


def polls(run: Graded) -> list[Poll]:
    """Return what a judge would be asked to grade a run, whether or not votes are recorded."""
    ballots = _sheet(run).ballots()
    return [ballot.poll for ballot in _to_judge(ballots).values()]


def _sheet(run: Graded) -> _Sheet:
    with_only = with_only_of(run.case, run.two_arms)
    arm = run.record.key.arm
    specs = [spec for spec in run.case.graders if arm is Arm.WITH or spec.name not in with_only]
    return _Sheet(run.case, Subject(run.record, run.case.name), specs, with_only)


def _to_judge(ballots: Mapping[str, Ballot | Judgement]) -> dict[str, Ballot]:
    return {name: ballot for name, ballot in ballots.items() if isinstance(ballot, Ballot)}


def _polled(
    sheets: Sequence[_Sheet],
    ballots: Sequence[Mapping[str, Ballot | Judgement]],
    context: GradingContext,
) -> list[PollResult]:
    asked = [
        (sheet, ballot.poll)
        for sheet, named in zip(sheets, ballots, strict=True)
        for ballot in _to_judge(named).values()
    ]
    if not asked:
        return []
    if context.judge is None:
        sheet, poll = asked[0]
        raise EvalError(
            f"{sheet.case.id}: grader {shown(poll.grader)} needs a judge, and there is none; "
            "--eval-free-only leaves such graders out"
        )

    def keep(position: int, votes: tuple[Vote, ...]) -> None:
        sheet, _ = asked[position]
        context.on_votes(sheet.case, sheet.subject.record.key, votes)

    return context.judge.poll(
        [(sheet.subject.record.votes, poll) for sheet, poll in asked], on_votes=keep
    )


def _grading(
    sheet: _Sheet,
    answers: Mapping[Question, Answer],
    ballots: Mapping[str, Ballot | Judgement],
    results: Mapping[str, PollResult],
) -> Grading:
    verdicts = []
    for spec in sheet.specs:
        with_only = spec.name in sheet.with_only
        ballot = ballots.get(spec.name)
        if isinstance(ballot, Ballot):
            verdicts.append(_voted(spec, ballot, results[spec.name], with_only=with_only))
        else:
            judgement = ballot or _judgement(spec, sheet.subject, answers)
            verdicts.append(
                _verdict(spec.name, spec.type, spec.weight, judgement, with_only=with_only)
            )
    costs = [cost for result in results.values() for cost in result.costs_usd]
    known = [cost for cost in costs if cost is not None]
    return Grading(
        tuple(verdicts),
        tuple(vote for result in results.values() for vote in result.fresh),
        total(known) if len(known) == len(costs) else None,
        total(result.lost_usd for result in results.values()),
        total(known),
    )


def _voted(spec: GraderSpec, ballot: Ballot, result: PollResult, *, with_only: bool) -> Verdict:
    judgement = voted(ballot, result)
    votes = result.votes
    return Verdict(
        grader=spec.name,
        type=spec.type,
        status=judgement.status,
        weight=spec.weight,
        explanation=judgement.explanation,
        with_only=with_only,
        # One that met the cost ceiling counts as missing: the run is not measured (D4).
        scored=not with_only,
        evidence=ballot.evidence if votes else None,
        votes=tuple(vote.passed for vote in votes) or None,
        unreadable_votes=sum(vote.unreadable for vote in votes),
        judge_model=", ".join(dict.fromkeys(vote.model for vote in votes)) or None,
    )


def with_only_names(
    graders: Sequence[GraderSpec], two_arms: bool, *, own_mocks: bool = False
) -> frozenset[str]:
    """Return the names of the graders that are reported in the with-arm and never scored.

    When that would be every grader of the case, it is none. *own_mocks*: servers are mocked, and
    the plugin declares all of them, so that only the with-arm can call one.
    """
    if not two_arms:
        return frozenset()
    names = frozenset(spec.name for spec in graders if _is_with_only(spec, own_mocks))
    return frozenset() if len(names) == len(graders) else names


def with_only_of(case: Case, two_arms: bool) -> frozenset[str]:
    """Return `with_only_names` of a case, with its own mocks."""
    return with_only_names(case.graders, two_arms, own_mocks=two_arms and has_own_mocks(case))


def has_scored_free_grader(case: Case, two_arms: bool) -> bool:
    """Say whether anything is left to score when graders that need a judge are left out."""
    with_only = with_only_of(case, two_arms)
    return any(spec.type not in PAID_TYPES and spec.name not in with_only for spec in case.graders)


def _is_with_only(spec: GraderSpec, own_mocks: bool) -> bool:
    if spec.arm is not None:
        return spec.arm == "with-only"
    match spec:
        case ToolUsedSpec(tool="Skill"):
            return True
        case RegexSpec(target=target) | LlmSpec(focus=target):
            return own_mocks and target == "mock_calls"
        case _:
            return False


def _questions(spec: GraderSpec, subject: Subject) -> Iterator[Question]:
    match spec:
        case RegexSpec():
            return pattern.questions(spec, subject)
        case ToolUsedSpec():
            return tool.used_questions(spec, subject)
        case ToolOrderSpec():
            return tool.order_questions(spec, subject)
        case FileExistsSpec() | LlmSpec() | BaselineSpec():
            return iter(())


def _judgement(spec: GraderSpec, subject: Subject, answers: Mapping[Question, Answer]) -> Judgement:
    match spec:
        case RegexSpec():
            return pattern.judge(spec, subject, answers)
        case ToolUsedSpec():
            return tool.judge_used(spec, subject, answers)
        case ToolOrderSpec():
            return tool.judge_order(spec, subject, answers)
        case FileExistsSpec():
            return created.judge(spec, subject)
        case LlmSpec() | BaselineSpec():
            return Judgement(VerdictStatus.SKIPPED, LEFT_OUT)


@lru_cache(maxsize=_KEPT_VERDICTS)
def _verdict(
    grader: str, kind: str, weight: float, judgement: Judgement, *, with_only: bool
) -> Verdict:
    """Return the verdict; the runs of a case mostly end alike, and all of them are kept."""
    return Verdict(
        grader=grader,
        type=kind,
        status=judgement.status,
        weight=weight,
        explanation=judgement.explanation,
        with_only=with_only,
        scored=not with_only and judgement.status is not VerdictStatus.SKIPPED,
    )
