"""Why a run or a case is not right: derived from verdicts and endings, never from texts.

One table of rules for every output. Words for the causes are in `reports.causes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from pytest_plugin_eval.cases.case import PAID_TYPES
from pytest_plugin_eval.records.model import Ending
from pytest_plugin_eval.scoring.aggregate import is_skipped_at_ceiling
from pytest_plugin_eval.scoring.model import CaseResult, RunReport, Verdict, VerdictStatus
from pytest_plugin_eval.scoring.runs import meets_threshold

__all__ = ["CaseCause", "Cause", "CauseKind", "case_causes", "run_causes"]

SKILL = "Skill"
"""The tool by which the agent calls a skill."""
Names = tuple[str, ...]


class CauseKind(StrEnum):
    """What is behind a run's or a case's result; in the order in which they are told."""

    NOT_LOADED = "not_loaded"
    """The plugin, or a skill that a grader names, was not loaded (deviations, D8)."""
    NOT_JUDGED = "not_judged"
    """The cost ceiling kept the judge from being asked (deviations, D4)."""
    GRADER_ERRORED = "grader_errored"
    """A scored grader came to no verdict (deviations, D2, D10)."""
    NOT_MEASURED = "not_measured"
    """The infrastructure's doing; the run's error says more."""
    ABORTED = "aborted"
    """A mock broke the run off."""
    IMPOSSIBLE = "impossible"
    """A scored grader needs a tool that is not granted, or asks for more calls than it allows."""
    TURN_LIMIT = "turn_limit"
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"
    """The model's own stop: output limit or refusal."""
    UNWANTED = "unwanted"
    """A skill was called where a grader forbids it."""
    NOT_TRIGGERED = "not_triggered"
    """A grader asks for a skill, and none was called."""
    OTHER_SKILL = "other_skill"
    """A grader asks for a skill, and only others were called."""
    TRIGGERED_WRONG = "triggered_wrong"
    """A skill was called, and graders failed all the same."""
    WRONG = "wrong"
    """Graders failed; whether a skill was called is not known, or none was and none asked for."""
    UNREADABLE = "unreadable"
    """Votes that held neither PASS nor FAIL counted as FAIL (deviations, D3)."""
    JUDGE_SPLIT = "judge_split"
    """The votes behind a failing verdict are not unanimous."""
    WORSE = "worse"
    """Of a case: without the plugin it reaches the threshold, with it not."""
    NO_GAIN = "no_gain"
    """Of a case: without the plugin it reaches the threshold too."""
    SMALL_GAIN = "small_gain"
    """Of a case: Δ is smaller than what was asked for, or not known."""
    NOT_MADE = "not_made"
    """Of a case: not every run that was planned was made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One cause, and the graders that it is about."""

    kind: CauseKind
    graders: Names = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseCause:
    """One cause of a case, and the runs that it is about."""

    cause: Cause
    runs: tuple[RunReport, ...] = ()
    """Those that share the cause; none for what only the case as a whole has."""
    of: int = 0
    """All runs of the same arms."""

    @property
    def kind(self) -> CauseKind:
        """The kind of the cause."""
        return self.cause.kind


@dataclass(frozen=True, kw_only=True)  # without slots, for `cached_property`
class _Facts:
    """What the rules ask of one run."""

    run: RunReport

    @cached_property
    def failed(self) -> tuple[Verdict, ...]:
        """The scored graders that failed."""
        return tuple(v for v in self.run.verdicts if v.scored and v.status is VerdictStatus.FAILED)

    @cached_property
    def errored(self) -> Names:
        """The scored graders that came to no verdict."""
        return _names(
            v for v in self.run.verdicts if v.scored and v.status is VerdictStatus.ERRORED
        )

    @cached_property
    def definitions(self) -> Mapping[str, Mapping[str, object]]:
        """The case's graders by name."""
        return {str(grader.get("name")): grader for grader in self.run.case.graders}

    @cached_property
    def missing_skill(self) -> Names:
        """The failing graders that ask for a call of a skill, scored or not."""
        return self._failing(_asks_for_skill)

    @cached_property
    def unwanted_skill(self) -> Names:
        """The failing graders that forbid a call of a skill."""
        return self._failing(_forbids_skill)

    @property
    def has_triggered(self) -> bool:
        """Whether a skill was called, as far as it is known."""
        if self.run.skills_called is not None:
            return bool(self.run.skills_called)
        passed = (v for v in self.run.verdicts if v.status is VerdictStatus.PASSED)
        return any(_asks_for_skill(self.definitions.get(v.grader, {})) for v in passed)

    @property
    def clear(self) -> Names:
        """The scored failing graders whose votes, if they have any, agree and can be read."""
        return _names(v for v in self.failed if not _is_split(v) and not v.unreadable_votes)

    def _failing(self, is_meant: Callable[[Mapping[str, object]], bool]) -> Names:
        return _names(
            v
            for v in self.run.verdicts
            if v.status is VerdictStatus.FAILED and is_meant(self.definitions.get(v.grader, {}))
        )


Rule = Callable[[_Facts], Names | None]
"""Returns the graders concerned, which may be none; ``None`` where the rule does not apply."""


def _ended(*endings: Ending) -> Rule:
    return lambda facts: () if facts.run.outcome.ending in endings else None


def _impossible(facts: _Facts) -> Names | None:
    advised = facts.run.case.grader_advisories
    return (
        _names(
            v
            for v in facts.failed
            if v.grader in advised or _is_contradiction(facts.definitions.get(v.grader, {}))
        )
        or None
    )


def _not_triggered(facts: _Facts) -> Names | None:
    if not facts.missing_skill or facts.run.skills_called:
        return None
    is_known = facts.run.skills_called is not None
    # Of a run whose calls are not known the grader alone tells: with an upper limit, or a lower one
    # above 1, it also fails for a wrong number of calls.
    sure = facts.missing_skill if is_known else _without_limits(facts)
    return sure or None


def _other_skill(facts: _Facts) -> Names | None:
    if not facts.run.skills_called:
        return None
    limitless = _without_limits(facts)
    matched = [name for name in limitless if _config(facts.definitions[name]).get("input_match")]
    return tuple(matched) or None


def _without_limits(facts: _Facts) -> Names:
    configs = {name: _config(facts.definitions[name]) for name in facts.missing_skill}
    return tuple(
        name
        for name, config in configs.items()
        if config.get("max") is None and config.get("min") in (None, 1)
    )


def _triggered_wrong(facts: _Facts) -> Names | None:
    if not facts.has_triggered or _other_skill(facts) or facts.unwanted_skill:
        return None
    return facts.clear or None


def _wrong(facts: _Facts) -> Names | None:
    if facts.has_triggered or _not_triggered(facts):
        return None
    return facts.clear or None


def _unreadable(facts: _Facts) -> Names | None:
    return _names(v for v in facts.failed if v.unreadable_votes) or None


def _judge_split(facts: _Facts) -> Names | None:
    return _names(v for v in facts.failed if _is_split(v) and not v.unreadable_votes) or None


_LOST: Sequence[tuple[CauseKind, Rule]] = (
    (CauseKind.NOT_LOADED, _ended(Ending.NOT_LOADED)),
    (CauseKind.NOT_JUDGED, lambda facts: () if is_skipped_at_ceiling(facts.run) else None),
    (CauseKind.GRADER_ERRORED, lambda facts: facts.errored or None),
    (CauseKind.NOT_MEASURED, lambda facts: ()),  # noqa: ARG005 - applies to whatever is left
)
"""Of a run that was not measured; the first that applies is the only one."""

_FOUND: Sequence[tuple[CauseKind, Rule]] = (
    (CauseKind.IMPOSSIBLE, _impossible),
    (CauseKind.TURN_LIMIT, _ended(Ending.TURN_LIMIT)),
    (CauseKind.TIMED_OUT, _ended(Ending.TIMED_OUT)),
    (CauseKind.STOPPED, _ended(Ending.STOPPED)),
    (CauseKind.UNWANTED, lambda facts: facts.unwanted_skill or None),
    (CauseKind.NOT_TRIGGERED, _not_triggered),
    (CauseKind.OTHER_SKILL, _other_skill),
    (CauseKind.TRIGGERED_WRONG, _triggered_wrong),
    (CauseKind.WRONG, _wrong),
    (CauseKind.UNREADABLE, _unreadable),
    (CauseKind.JUDGE_SPLIT, _judge_split),
)
"""Of a measured run with a failing grader; all that apply, the first one is the headline."""


def run_causes(run: RunReport) -> tuple[Cause, ...]:
    """Return why a run is not right, the weightiest first; nothing of one that passed."""
    facts = _Facts(run=run)
    if not run.measured:
        return _applying(_LOST, facts)[:1]
    if run.outcome.ending is Ending.ABORTED:
        return (Cause(kind=CauseKind.ABORTED),)
    return () if run.passed else _applying(_FOUND, facts)


def case_causes(case: CaseResult, threshold: float) -> tuple[CaseCause, ...]:
    """Return why a case did not pass, the weightiest first; nothing of one that passed.

    Runs with the same headline are told together. That a case is as good without the plugin is a
    cause only where it is good with it: else the plugin makes it worse.
    """
    if case.passed:
        return ()
    found = [*_lost_runs(case), *_failed_runs(case, threshold)]
    found.sort(key=lambda one: list(CauseKind).index(one.kind))
    found += (CaseCause(cause=Cause(kind=kind)) for kind in _of_the_case(case, threshold))
    return tuple(found) or (CaseCause(cause=Cause(kind=CauseKind.NOT_MADE)),)


def _lost_runs(case: CaseResult) -> list[CaseCause]:
    lost = [run for run in case.runs if not run.measured]
    return _together(lost, of=len(case.runs))


def _failed_runs(case: CaseResult, threshold: float) -> list[CaseCause]:
    if case.score is None or meets_threshold(case.score, threshold):
        return []
    failed = [run for run in case.with_runs if run.measured and not run.passed]
    return _together(failed, of=len(case.with_runs))


def _together(runs: Iterable[RunReport], *, of: int) -> list[CaseCause]:
    alike: dict[CauseKind, list[tuple[Cause, RunReport]]] = {}
    for run in runs:
        for cause in run_causes(run)[:1]:
            alike.setdefault(cause.kind, []).append((cause, run))
    return [
        CaseCause(
            cause=Cause(kind=kind, graders=_all_graders(cause for cause, _ in pairs)),
            runs=tuple(run for _, run in pairs),
            of=of,
        )
        for kind, pairs in alike.items()
    ]


def _of_the_case(case: CaseResult, threshold: float) -> Iterable[CauseKind]:
    score, without = case.score, case.score_without
    is_good = score is not None and meets_threshold(score, threshold)
    is_good_without = without is not None and meets_threshold(without, threshold)
    if score is not None and not is_good and is_good_without:
        yield CauseKind.WORSE
    # Of lost runs it is told that they are lost; that they give no Δ adds nothing.
    is_lost = any(not run.measured for run in case.runs)
    if case.missed_delta is not None and (is_good or score is None) and not is_lost:
        yield CauseKind.NO_GAIN if is_good and is_good_without else CauseKind.SMALL_GAIN


def _applying(rules: Iterable[tuple[CauseKind, Rule]], facts: _Facts) -> tuple[Cause, ...]:
    asked = ((kind, rule(facts)) for kind, rule in rules)
    return tuple(Cause(kind=kind, graders=names) for kind, names in asked if names is not None)


def _all_graders(causes: Iterable[Cause]) -> Names:
    return tuple(dict.fromkeys(name for cause in causes for name in cause.graders))


def _names(verdicts: Iterable[Verdict]) -> Names:
    return tuple(verdict.grader for verdict in verdicts)


def _is_split(verdict: Verdict) -> bool:
    return verdict.type in PAID_TYPES and len(set(verdict.votes or ())) > 1


def _asks_for_skill(grader: Mapping[str, object]) -> bool:
    """Whether a grader fails when no skill is called."""
    config = _config(grader)
    match grader.get("type"):
        case "tool_used":
            return config.get("tool") == SKILL and config.get("min") != 0 and not _is_ban(config)
        case "tool_order":
            return SKILL in (_tool(config.get("before")), _tool(config.get("after")))
        case _:
            return False


def _forbids_skill(grader: Mapping[str, object]) -> bool:
    config = _config(grader)
    return grader.get("type") == "tool_used" and config.get("tool") == SKILL and _is_ban(config)


def _is_contradiction(grader: Mapping[str, object]) -> bool:
    """Whether a grader allows fewer calls than it asks for, as `max: 0` alone does.

    Spec: deviations, D5.
    """
    config = _config(grader)
    most, least = config.get("max"), config.get("min")
    least = 1 if least is None else least
    if grader.get("type") != "tool_used":
        return False
    return isinstance(most, int) and isinstance(least, int) and most < least


def _is_ban(config: Mapping[str, object]) -> bool:
    return config.get("max") == 0


def _config(grader: Mapping[str, object]) -> Mapping[str, object]:
    config = grader.get("config")
    return config if isinstance(config, Mapping) else {}


def _tool(side: object) -> object:
    return side.get("tool") if isinstance(side, Mapping) else side
