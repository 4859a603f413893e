"""Which runs a case gets, and whether it can be run at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pytest_plugin_eval.agents.grants import not_granted
from pytest_plugin_eval.cases.advisories import Advisory, advisories, helping_grants
from pytest_plugin_eval.cases.case import PAID_TYPES, Case
from pytest_plugin_eval.cases.hints import Hint
from pytest_plugin_eval.errors import CaseError
from pytest_plugin_eval.execution.hints import case_hints
from pytest_plugin_eval.graders.grade import has_scored_free_grader, with_only_of
from pytest_plugin_eval.records.model import Arm, RunKey
from pytest_plugin_eval.scoring.info import DEFAULT_RUNS, case_info
from pytest_plugin_eval.scoring.model import CaseInfo, Plan
from pytest_plugin_eval.settings import Ablation, Settings

__all__ = ["PlannedCase", "plan_case"]


@dataclass(frozen=True, kw_only=True)  # without slots, which leave no place for `info`
class PlannedCase:
    """A case and the runs that this session wants of it."""

    case: Case
    plan: Plan
    keys: tuple[RunKey, ...]
    source_file: Path
    advisories: tuple[Advisory, ...] = ()
    """Graders that cannot pass; of a replay nobody knows what was granted."""
    grants: Mapping[str, str] = field(default_factory=dict)
    """The tools whose grant would let a grader pass, by its name."""
    hints: tuple[Hint, ...] = ()
    """What the author may have overlooked."""
    not_granted: tuple[str, ...] = ()
    """Tools that the case asks for and the user does not grant."""
    skip_reason: str | None = None
    """Why none of the runs is made, although nothing is wrong."""

    @cached_property
    def info(self) -> CaseInfo:
        """What reports say of the case: one object for all its runs, made with the first."""
        return case_info(
            self.case,
            self.plan,
            advisories=self.advisories,
            grants=self.grants,
            hints=[hint.text for hint in self.hints],
            not_granted=self.not_granted,
        )

    def votes_per_run(self, arm: Arm, votes: int) -> int:
        """Return how many judge calls each run of an arm makes, *votes* of them a grader."""
        with_only = with_only_of(self.case, self.plan.two_arms)
        return votes * sum(
            spec.type in PAID_TYPES and (arm is Arm.WITH or spec.name not in with_only)
            for spec in self.case.graders
        )

    @property
    def has_paid_graders(self) -> bool:
        """Whether a judge is needed."""
        return any(spec.type in PAID_TYPES for spec in self.case.graders)


def plan_case(
    case: Case, settings: Settings, recorded: Sequence[RunKey] | None = None
) -> PlannedCase:
    """Return the planned runs of a case; *recorded* are the keys that a replay finds.

    Raises `CaseError` when both arms are asked for and no plugin resolves, or when a replay finds
    no record of the case.
    """
    two_arms = _two_arms(case, settings)
    if recorded is None:
        plan, keys = _fresh_plan(case, settings, two_arms=two_arms)
    else:
        plan, keys = _recorded_plan(case, settings, recorded, two_arms=two_arms)
    live = recorded is None
    grants, removed = settings.allow_tools, settings.disallow_tools
    told: tuple[Advisory, ...] = ()
    if live:
        told = advisories(case, grants=grants, disallowed=removed, scaffold=settings.scaffold)
    return PlannedCase(
        case=case,
        plan=plan,
        keys=keys,
        source_file=case.source_file,
        advisories=told,
        grants=helping_grants(case, grants=grants, disallowed=removed) if told else {},
        hints=case_hints(case, plan, settings, told=told, live=live),
        not_granted=not_granted(case, grants, removed) if live else (),
        skip_reason=_skip_reason(case, settings, two_arms=two_arms),
    )


def _two_arms(case: Case, settings: Settings) -> bool:
    if settings.ablation is None:
        # What was said in a recorded conversation may come from the plugin, in either arm.
        return bool(case.plugins) and case.history_file is None
    if settings.ablation is Ablation.WITH_WITHOUT and not case.plugins:
        raise CaseError(
            (
                f"{case.directory}: two arms were asked for, but no plugin resolves for this case; "
                'name it, for example plugins: ["../.."], or pass --eval-ablation none',
            )
        )
    return settings.ablation is Ablation.WITH_WITHOUT


def _fresh_plan(
    case: Case, settings: Settings, *, two_arms: bool
) -> tuple[Plan, tuple[RunKey, ...]]:
    runs = settings.runs or case.runs or DEFAULT_RUNS
    # A plugin whose manifest does not load cannot be compared with its absence (spec: 2.8).
    broken = any(plugin.problem for plugin in case.plugins)
    without = runs if two_arms and not broken else 0
    keys = _keys(case, Arm.WITH, range(1, runs + 1))
    keys += _keys(case, Arm.WITHOUT, range(1, without + 1))
    return Plan(with_runs=runs, without_runs=without, two_arms=two_arms), keys


def _recorded_plan(
    case: Case, settings: Settings, recorded: Sequence[RunKey], *, two_arms: bool
) -> tuple[Plan, tuple[RunKey, ...]]:
    wanted: list[RunKey] = []
    for arm in (Arm.WITH, Arm.WITHOUT) if two_arms else (Arm.WITH,):
        found = sorted(key for key in recorded if key.case == case.id and key.arm is arm)
        wanted += found[: settings.runs]
    counts = {arm: sum(key.arm is arm for key in wanted) for arm in Arm}
    if not counts[Arm.WITH]:
        raise CaseError(
            (
                f"{case.directory}: nothing is recorded of this case"
                + (
                    f" in {settings.from_dir}, name a results directory that holds runs of it"
                    if settings.from_dir
                    else ", record it with --eval-mode record"
                ),
            )
        )
    # Whether baseline records are there must not decide how the with-runs are graded: with-only
    # graders count in one arm (spec: 5.2), and a run would change its verdict with a lost file.
    plan = Plan(with_runs=counts[Arm.WITH], without_runs=counts[Arm.WITHOUT], two_arms=two_arms)
    return plan, tuple(wanted)


def _keys(case: Case, arm: Arm, numbers: Sequence[int]) -> tuple[RunKey, ...]:
    return tuple(RunKey(case=case.id, arm=arm, number=number) for number in numbers)


def _skip_reason(case: Case, settings: Settings, *, two_arms: bool) -> str | None:
    if settings.free_only and not has_scored_free_grader(case, two_arms):
        return f"{case.id}: has no scored free grader (--eval-free-only)"
    return None
