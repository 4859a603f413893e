"""Who moved the scores of a case, as far as two results can tell.

The arm without the plugin knows nothing of the plugin: what moves it is the model or the
environment, and what moves the other arm alone is the plugin, or the plugin with this model. Where
nothing that is known has changed, it is chance. What is not known of both results is never taken
for a change, nor for the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from pytest_plugin_eval.scoring.model import CaseInfo, CaseResult, RunReport
from pytest_plugin_eval.scoring.provenance import provenance_of, words

__all__ = [
    "ArmChange",
    "ArmMove",
    "Changed",
    "Mover",
    "Number",
    "are_same_runs",
    "changed_between",
    "models_of",
    "mover_of",
]

SAME = 1e-9
"""Scores nearer to each other than this differ by rounding."""
PLUGIN = "plugin"
MODEL = "model"
SETTINGS = "settings"
VERSION = "claude_version"
RECORDED = "recorded_at"


class Mover(StrEnum):
    """Who moved a case's scores, as far as the two results can tell."""

    NOBODY = "unchanged"
    PLUGIN = "plugin"
    """Only WITH moved, and the plugin's files changed."""
    PLUGIN_OR_MODEL = "plugin, or plugin with this model"
    """Only WITH moved, and both the plugin and what runs it changed, or neither is known."""
    PLUGIN_WITH_MODEL = "plugin with this model"
    """Only WITH moved, and what runs the plugin changed."""
    MODEL = "model or environment"
    """W/OUT moved."""
    MODEL_AND_PLUGIN = "model, and perhaps plugin"
    """Both arms moved, and both the plugin and what runs it changed."""
    CHANCE = "chance"
    """Something moved and nothing that is known changed."""
    GRADING = "grading"
    """The runs are the same ones, graded again."""
    UNKNOWN = "cannot tell"
    """One arm alone, or too little is known of the runs."""
    NOT_COMPARABLE = "not comparable"
    """Prompt, grader or judge are not the same."""


@dataclass(frozen=True, slots=True)
class Number:
    """A score and the number of measured runs it is the mean of."""

    value: float | None
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmMove:
    """One arm's score, before and after."""

    old: Number
    new: Number

    @property
    def has_moved(self) -> bool:
        """Whether both are known and not equal."""
        if self.old.value is None or self.new.value is None:
            return False
        return abs(self.old.value - self.new.value) > SAME

    @property
    def is_known(self) -> bool:
        """Whether both results have the score."""
        return self.old.value is not None and self.new.value is not None

    @property
    def is_half_known(self) -> bool:
        """Whether one of the results alone has the score."""
        return (self.old.value is None) != (self.new.value is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmChange:
    """What ran the agent in one arm and is not the same."""

    around: tuple[str, ...]
    """Model, agent, settings of the case, in words."""
    is_known: bool
    """Whether the model is known of both results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What is not the same for the runs of a case."""

    plugin: bool | None
    """Whether any file of the plugin changed; ``None``: not known of both."""
    with_arm: ArmChange
    without_arm: ArmChange


def changed_between(old: CaseResult, new: CaseResult, *, versions: tuple[str, str]) -> Changed:
    """Return what the runs of a case had that was not the same.

    *versions* are Claude Code's of the two results, for runs that do not tell it.
    """
    infos = (old.info, new.info)
    return Changed(
        plugin=_differs(old.with_runs, new.with_runs, PLUGIN),
        with_arm=_arm_change(old.with_runs, new.with_runs, infos, versions),
        without_arm=_arm_change(old.without_runs, new.without_runs, infos, versions),
    )


def _arm_change(
    old: Iterable[RunReport],
    new: Iterable[RunReport],
    infos: tuple[CaseInfo, CaseInfo],
    versions: tuple[str, str],
) -> ArmChange:
    before, after = tuple(old), tuple(new)
    around = []
    if _differs(before, after, MODEL):
        around.append(f"the model ({models_of(before)} -> {models_of(after)})")
    agents = [
        words(provenance_of(runs, VERSION)) or version
        for runs, version in zip((before, after), versions, strict=True)
    ]
    if all(agents) and agents[0] != agents[1]:
        around.append(f"Claude Code ({agents[0]} -> {agents[1]})")
    is_told = _differs(before, after, SETTINGS) is not None
    if _differs(before, after, SETTINGS) or _limits(infos[0]) != _limits(infos[1]):
        around.append("the case's settings")
    if is_told:
        # A run that tells its settings and no mocks had none.
        around += [
            what
            for what, name in (("the mocks", "mocks"), ("the scaffold", "scaffold"))
            if provenance_of(before, name) != provenance_of(after, name)
        ]
        if infos[0].not_granted != infos[1].not_granted:
            around.append("the tools that were granted")
    return ArmChange(around=tuple(around), is_known=_differs(before, after, MODEL) is not None)


def _limits(info: CaseInfo) -> tuple[object, ...]:
    return (info.max_turns, info.timeout_s, info.model)


def _differs(old: Iterable[RunReport], new: Iterable[RunReport], name: str) -> bool | None:
    """Tell whether a field of the runs' provenance differs, ``None`` where either has none."""
    before, after = provenance_of(old, name), provenance_of(new, name)
    if not before or not after:
        return None
    return before != after


def are_same_runs(old: CaseResult, new: CaseResult) -> bool:
    """Tell whether the measured runs of both are the same ones, such as of a session graded again.

    ``False`` where it is not known when each of them was made.
    """
    before, after = (
        [(run.key.arm, run.provenance.get(RECORDED)) for run in case.runs if run.measured]
        for case in (old, new)
    )
    is_known = all(moment for _, moment in (*before, *after))
    return bool(before) and is_known and sorted(map(str, before)) == sorted(map(str, after))


def mover_of(
    with_arm: ArmMove, without_arm: ArmMove, changed: Changed
) -> tuple[Mover, tuple[str, ...]]:
    """Return who moved the scores of a case whose graders are the same, and why that is said."""
    for arm, name in ((with_arm, "WITH"), (without_arm, "W/OUT")):
        if arm.is_half_known:
            return Mover.UNKNOWN, (f"{name} is known of one of the two results only",)
    if not with_arm.has_moved and not without_arm.has_moved:
        return (Mover.NOBODY, ()) if with_arm.is_known else (Mover.UNKNOWN, ("WITH is not known",))
    if not without_arm.is_known:
        why = "W/OUT is not known, so the plugin cannot be told from the model"
        return Mover.UNKNOWN, (why,)
    if without_arm.has_moved:
        return _of_both(with_arm, changed)
    return _of_with_alone(changed)


def _of_with_alone(changed: Changed) -> tuple[Mover, tuple[str, ...]]:
    """Return what moved the arm that has the plugin, where the other stayed."""
    around = " and ".join(changed.with_arm.around)
    is_known = changed.with_arm.is_known and changed.plugin is not None
    if changed.plugin and around:
        why = f"only WITH moved; the plugin's files and {around} changed"
        return Mover.PLUGIN_OR_MODEL, (why,)
    if changed.plugin and is_known:
        return Mover.PLUGIN, ("only WITH moved, and the plugin's files changed",)
    if around and changed.plugin is False:
        why = f"only WITH moved; the plugin's files are the same, {around} changed"
        return Mover.PLUGIN_WITH_MODEL, (why,)
    if is_known:
        why = "only WITH moved, and plugin, model and Claude Code are the same"
        return Mover.CHANCE, (why,)
    known = [*(["the plugin's files"] * bool(changed.plugin)), *changed.with_arm.around]
    told = f"; {' and '.join(known)} changed" if known else ""
    why = f"only WITH moved{told}; what else changed is not known of both results"
    return Mover.PLUGIN_OR_MODEL, (why,)


def _of_both(with_arm: ArmMove, changed: Changed) -> tuple[Mover, tuple[str, ...]]:
    """Return what moved the arm that knows nothing of the plugin."""
    is_plugin_in_it = with_arm.has_moved and bool(changed.plugin)
    besides = ("WITH moved as well, and the plugin's files changed: see Δ",) * is_plugin_in_it
    if changed.without_arm.around:
        why = f"W/OUT moved, and {' and '.join(changed.without_arm.around)} changed"
        return (Mover.MODEL_AND_PLUGIN if is_plugin_in_it else Mover.MODEL), (why, *besides)
    if changed.without_arm.is_known:
        why = "W/OUT moved, and model and Claude Code are the same: by chance"
        return (Mover.UNKNOWN if is_plugin_in_it else Mover.CHANCE), (why, *besides)
    why = "W/OUT moved; what ran it is not known of both results"
    return Mover.MODEL, (why, *besides)


def models_of(runs: Iterable[RunReport]) -> str:
    """Return the models that answered in some runs, in words."""
    return words(provenance_of(runs, MODEL))
