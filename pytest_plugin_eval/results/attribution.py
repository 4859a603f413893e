"""Who moved the scores of a case, as far as two results can tell.

The arm without the plugin knows nothing of the plugin: what moves it is the model or the
environment, and what moves the other arm alone is the plugin, or the plugin with this model. Where
nothing that is known has changed, it is chance.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from pytest_plugin_eval.scoring.model import CaseResult, RunReport

__all__ = [
    "ArmMove",
    "Changed",
    "Mover",
    "Number",
    "changed_between",
    "models_of",
    "mover_of",
    "provenance_of",
]

SAME = 1e-9
"""Scores nearer to each other than this differ by rounding."""
PLUGIN = "plugin"
MODEL = "model"


class Mover(StrEnum):
    """Who moved a case's scores, as far as the two results can tell."""

    NOBODY = "unchanged"
    PLUGIN = "plugin"
    """Only WITH moved, and the plugin's files changed."""
    PLUGIN_OR_MODEL = "plugin, or plugin with this model"
    """Only WITH moved, and both the plugin and what runs it changed."""
    PLUGIN_WITH_MODEL = "plugin with this model"
    """Only WITH moved, and what runs the plugin changed."""
    MODEL = "model or environment"
    """W/OUT moved."""
    CHANCE = "chance"
    """Something moved and nothing that is known changed."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What is not the same for the runs of a case; ``None``: not known of both."""

    plugin: bool | None
    around: tuple[str, ...]
    """What runs the plugin: model, agent, settings of the case, in words."""
    is_known: bool


def changed_between(old: CaseResult, new: CaseResult, *, versions: tuple[str, str]) -> Changed:
    """Return what the runs of a case had that was not the same; *versions* are Claude Code's."""
    plugin = _differs(old.with_runs, new.with_runs, PLUGIN)
    around = []
    if _differs(old.runs, new.runs, MODEL):
        around.append(f"the model ({models_of(old.runs)} -> {models_of(new.runs)})")
    if versions[0] != versions[1]:
        around.append(f"Claude Code ({versions[0]} -> {versions[1]})")
    around += [
        what
        for what, name in (
            ("the case's settings", "settings"),
            ("the mocks", "mocks"),
            ("the scaffold", "scaffold"),
        )
        if _differs(old.runs, new.runs, name)
    ]
    return Changed(
        plugin=plugin,
        around=tuple(around),
        is_known=plugin is not None and _differs(old.runs, new.runs, MODEL) is not None,
    )


def _differs(old: Iterable[RunReport], new: Iterable[RunReport], name: str) -> bool | None:
    """Tell whether a field of the runs' provenance differs, ``None`` where one has none."""
    before, after = provenance_of(old, name), provenance_of(new, name)
    if not before and not after:
        return None
    return before != after


def mover_of(
    with_arm: ArmMove, without_arm: ArmMove, changed: Changed
) -> tuple[Mover, tuple[str, ...]]:
    """Return who moved the scores of a case whose graders are the same, and why that is said."""
    if not with_arm.has_moved and not without_arm.has_moved:
        return Mover.NOBODY, ()
    if not without_arm.is_known:
        why = "W/OUT is not known of both, so the plugin cannot be told from the model"
        return Mover.UNKNOWN, (why,)
    if without_arm.has_moved:
        return _of_both(with_arm, changed)
    around = " and ".join(changed.around)
    if changed.plugin and around:
        why = f"only WITH moved; the plugin's files and {around} changed"
        return Mover.PLUGIN_OR_MODEL, (why,)
    if changed.plugin:
        return Mover.PLUGIN, ("only WITH moved, and the plugin's files changed",)
    if around and changed.plugin is False:
        why = f"only WITH moved; the plugin's files are the same, {around} changed"
        return Mover.PLUGIN_WITH_MODEL, (why,)
    if changed.is_known:
        why = "only WITH moved, and plugin, model and Claude Code are the same"
        return Mover.CHANCE, (why,)
    return Mover.PLUGIN_OR_MODEL, ("only WITH moved",)


def _of_both(with_arm: ArmMove, changed: Changed) -> tuple[Mover, tuple[str, ...]]:
    """Return what moved the arm that knows nothing of the plugin."""
    besides = (
        ("WITH moved as well, and the plugin's files changed: see Δ",)
        if with_arm.has_moved and changed.plugin
        else ()
    )
    if changed.around:
        why = f"W/OUT moved, and {' and '.join(changed.around)} changed"
        return Mover.MODEL, (why, *besides)
    if changed.is_known:
        why = "W/OUT moved, and model and Claude Code are the same"
        return Mover.CHANCE, (why, *besides)
    return Mover.MODEL, ("W/OUT moved", *besides)


def models_of(runs: Iterable[RunReport]) -> str:
    """Return the models that answered in some runs, in words."""
    return ", ".join(sorted(provenance_of(runs, MODEL)))


def provenance_of(runs: Iterable[RunReport], name: str) -> frozenset[str]:
    """Return the values that a field of the provenance has in some runs."""
    return frozenset(value for run in runs if (value := run.provenance.get(name)))
