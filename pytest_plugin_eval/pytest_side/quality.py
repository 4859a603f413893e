"""The quality score of a session's plugins under test: what is scored, asked for and missed.

The static layer costs nothing and runs in every session with runs, in replay as well. The deeper
ones ask models about each skill, once the last run is in, for money of the same ledger.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypedDict

import pytest

from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.pytest_side.stash import settings_key, workbench_key
from pytest_plugin_eval.settings import Depth
from pytest_plugin_eval.text import dollars, plural

if TYPE_CHECKING:
    from pytest_plugin_eval.pytest_side.controller import EvalController
    from pytest_plugin_eval.quality.asking import Asking
    from pytest_plugin_eval.quality.model import QualityReport
    from pytest_plugin_eval.quality.parse import PluginSource, SkillSource
    from pytest_plugin_eval.scoring.model import RunReport
    from pytest_plugin_eval.settings import Settings
    from pytest_plugin_eval.spending.ledger import Ledger

__all__ = ["MIN_COMPOSITE", "SessionQuality", "SkillSent", "asked_text", "at_ceiling", "own_first"]

MIN_COMPOSITE = "--eval-min-composite"
SKILL_ITEMS = "pytest_plugin_eval.pytest_side.skill_items"
ENDED = "the session was stopped before"


asked_key: pytest.StashKey[dict[str, QualityReport]] = pytest.StashKey()
"""Skills that are items about which models were asked, by resolved directory."""


class SkillSent(TypedDict):
    """What the report of a skill that is an item carries: values that xdist can send."""

    name: str
    """The skill's directory, relative to the rootdir."""
    score: float
    badge: str
    label: str
    flags: list[str]
    notes: list[str]
    cost_usd: float | None
    partial: str | None
    """Why the session is incomplete by this skill."""
    missed: bool
    """Below the limit, but only reported (``--eval-report-only``)."""


class SessionQuality:
    """Scores the plugins under test; the controller's, or that of the only process."""

    def __init__(self, config: pytest.Config, controller: EvalController) -> None:
        self.reports: dict[str, tuple[QualityReport, ...]] = {}
        """By suite root: of its own plugin first, then of the others by path."""
        self.notes: list[str] = []
        """What could not be read, scored or measured."""
        self.missed: list[str] = []
        """Why the session fails by `MIN_COMPOSITE`, in words."""
        self._config = config
        self._controller = controller
        self._settings = config.stash[settings_key]
        self._scored: dict[str, QualityReport | None] = {}
        """By path; ``None`` for what cannot be scored."""
        self._why_not: dict[str, str] = {}
        self._is_asked = False
        self.skills: dict[str, SkillSent] = {}
        """What came in of skills that are items, by id: the last of several runs counts."""
        self._asking: Asking | None = None
        self._ledger: Ledger | None = None

    @property
    def has_failed(self) -> bool:
        """Whether a limit that was missed fails the session."""
        return bool(self.missed) and not self._settings.report_only

    def plan_line(self) -> str:
        """Return what the deeper layers will ask and about what it costs; empty when nothing."""
        if self._settings.depth is Depth.QUICK:
            return ""
        forbidden = self._forbidden()
        if forbidden is not None:
            return f"quality score at quick depth: {forbidden}"
        paths = dict.fromkeys(path for plan in self._plans() for path in plan)
        sources = [source for path in paths if (source := _read(path)) is not None]
        return f"quality score: {self._asked_text(sources)}"

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> str | None:
        """Say what the deeper layers ask about skills that are items."""
        if self._settings.depth is Depth.QUICK or SKILL_ITEMS not in sys.modules:
            return None
        from pytest_plugin_eval.pytest_side.skill_items import SkillItem

        skills = [one for one in items if isinstance(one, SkillItem) and one.why_quick is None]
        sources = [source for one in skills if (source := _read(str(one.path))) is not None]
        return f"skills: {self._asked_text(sources)}" if sources else None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in a skill that is an item, from whichever process scored it."""
        skill: SkillSent | None = getattr(report, "eval_skill", None)
        if skill is None:
            return
        self.skills[report.nodeid] = skill
        self._controller.spent_usd += skill["cost_usd"] or 0.0
        if skill["partial"] is not None:
            self._controller.note_partial(skill["partial"])

    def skill_lines(self, *, width: int) -> list[str]:
        """Return the table of the skills that are items, and what there is to know of them."""
        if not self.skills:
            return []
        from pytest_plugin_eval.reports.composite import SkillRow, skill_table

        rows = sorted(
            SkillRow(one["name"], one["score"], one["badge"], one["label"], tuple(one["flags"]))
            for one in self.skills.values()
        )
        notes = (f"{one['name']}: {note}" for one in self.skills.values() for note in one["notes"])
        return [*skill_table(rows, width=width), *notes]

    def ask(self) -> None:
        """Ask the deeper layers about each skill of the plugins under test.

        What is finished is kept when the session is interrupted meanwhile.
        """
        if self._settings.depth is Depth.QUICK:
            return
        self._is_asked = True
        by_root = own_first(self._controller.runs())
        forbidden = self._forbidden()
        if forbidden is not None:
            self.notes.append(f"quality score at quick depth: {forbidden}")
        if forbidden is not None or not by_root:
            return
        if self._controller.is_distributed:
            self._say(self.plan_line())
        try:
            for path in dict.fromkeys(path for paths in by_root.values() for path in paths):
                self._deepen(path)
        finally:
            self._close()
            self._controller.spent_usd += sum(map(_known_usd, self._scored.values()))

    def finish(self) -> None:
        """Score what is not scored yet, statically, and hold all against the limit."""
        is_late = self._settings.depth is not Depth.QUICK and not self._is_asked
        if is_late:
            self.notes.append(f"quality score at quick depth: {ENDED}")
        told: set[str] = set()
        for root, paths in own_first(self._controller.runs()).items():
            found = []
            for path in paths:
                report = self._report(path)
                if report is not None:
                    # Several suites can be about one plugin: it was paid for once.
                    found.append(_without_cost(report) if path in told else report)
                told.add(path)
            self.reports[root] = tuple(found)
            self._hold_against_limit(paths, root)
        self._take_notes(told)

    def _report(self, path: str) -> QualityReport | None:
        if path not in self._scored:
            self._scored[path] = self._guarded(path, partial(_score, path, Depth.QUICK, None))
        return self._scored[path]

    def _deepen(self, path: str) -> None:
        """Replace each skill's score of a static report by that of the depth."""
        report = self._report(path)
        if report is None:
            return
        depth, asking = self._settings.depth, self._asker()
        if report.target.value == "skill":
            deep = self._as_item(path)
            deep = deep or self._guarded(path, partial(_score, path, depth, asking))
            self._keep(path, deep or report)
            return
        for number, skill in enumerate(report.skills):
            place = skill.path
            deep = self._as_item(place)
            deep = deep or self._guarded(place, partial(_score, place, depth, asking))
            if deep is not None:
                skills = (*report.skills[:number], deep, *report.skills[number + 1 :])
                costs = [one.cost_usd for one in skills]
                cost_usd = None if None in costs else sum(filter(None, costs))
                report = replace(report, depth=depth, skills=skills, cost_usd=cost_usd)
                self._keep(path, report)

    def _as_item(self, path: str) -> QualityReport | None:
        """Return what a skill was found to be worth as an item of this process, paid for there."""
        report = self._config.stash.get(asked_key, {}).get(os.path.realpath(path))
        return report and replace(report, path=path, cost_usd=0.0)

    def _keep(self, path: str, report: QualityReport) -> None:
        self._scored[path] = report
        if self._asking is not None and self._asking.refused_credential is not None:
            self._controller.note_partial("auth_failed")
        if self._ledger is not None and at_ceiling(report, self._ledger):
            self._controller.note_partial("cost_ceiling")

    def _guarded(self, path: str, score: Callable[[], QualityReport]) -> QualityReport | None:
        try:
            return score()
        except EvalError as error:
            self._why_not[path] = str(error)
        except Exception as error:  # noqa: BLE001 - border: a report; runs were paid for
            self._why_not[path] = f"{path}: {type(error).__name__}: {error}"
        return None

    def _hold_against_limit(self, paths: Sequence[str], root: str) -> None:
        limit = self._settings.min_composite
        if limit is None:
            return
        from pytest_plugin_eval.quality.composite import is_below
        from pytest_plugin_eval.reports.composite import missed_line

        if not paths:
            self.missed.append(
                f"{MIN_COMPOSITE} {limit:g}: {self._shown(root)} has no plugin under test to score"
            )
        for path in paths:
            report = self._scored[path]
            if report is None:
                self.missed.append(f"{MIN_COMPOSITE} {limit:g}: {self._shown(path)} has no score")
            elif is_below(report.composite.score, limit):
                self.missed.append(missed_line(report, limit, MIN_COMPOSITE))

    def _take_notes(self, paths: Iterable[str]) -> None:
        from pytest_plugin_eval.reports.composite import quality_notes

        reasons = map(self._shown, self._why_not.values())
        self.notes += (f"no quality score of {text}" for text in reasons)
        for path in sorted(paths):
            report = self._scored[path]
            if report is not None:
                self.notes += quality_notes(report)

    def _forbidden(self) -> str | None:
        from pytest_plugin_eval.pytest_side.judges import why_no_votes

        return why_no_votes(
            self._settings,
            is_worker=self._controller.is_distributed,
            are_asked_for=self._controller.state.are_named,
            what="judges of skills",
        )

    def _asked_text(self, sources: Sequence[SkillSource | PluginSource]) -> str:
        try:
            return asked_text(sources, self._settings, self._asker())
        except EvalError as error:
            return f"not possible: {error}"
        finally:
            if self._config.getoption("collectonly"):
                self._close()

    def _plans(self) -> Iterator[Sequence[str]]:
        for plan in self._controller.state.plans:
            if plan.nodeid in self._controller.cases:
                yield plan.plugins

    def _asker(self) -> Asking:
        if self._asking is None:
            from pytest_plugin_eval.execution.shared import Shared
            from pytest_plugin_eval.pytest_side.judges import asking_of

            shared = self._config.stash[workbench_key].shared
            if shared is None:
                controller = self._controller
                money = controller.place.money() if controller.is_distributed else None
                shared = Shared.among(money, ceiling_usd=self._settings.max_cost_usd)
                if controller.has_remote_workers:
                    # Theirs is in no ledger of this machine.
                    shared.ledger.add(max(0.0, controller.spent_usd - shared.ledger.spent_usd))
                self._config.add_cleanup(shared.close)
            self._ledger = shared.ledger
            self._asking = asking_of(self._settings, shared.ledger, shared.limiter)
        return self._asking

    def _close(self) -> None:
        if self._asking is not None:
            self._asking.close()
            self._asking = None

    def _say(self, line: str) -> None:
        """Tell before the first call what workers could not tell before their runs."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and line:
            reporter.write_line("")
            reporter.write_line(line)

    def _shown(self, path: str) -> str:
        return self._config.stash[workbench_key].shown(path)


def own_first(runs: Iterable[RunReport]) -> dict[str, tuple[str, ...]]:
    """Return the paths of the plugins under test by suite root: the root's own, the others."""
    found: dict[str, dict[str, None]] = {}
    for run in runs:
        paths = found.setdefault(run.case.root, {})
        paths.update((plugin["path"], None) for plugin in run.case.plugins)
    return {
        root: tuple(sorted(paths, key=lambda path: (not _is_same(path, root), path)))
        for root, paths in sorted(found.items())
    }


def asked_text(
    sources: Sequence[SkillSource | PluginSource], settings: Settings, asking: Asking
) -> str:
    """Return which calls the deeper layers make about *sources*, and about what they cost."""
    from pytest_plugin_eval.quality.parse import PluginSource
    from pytest_plugin_eval.quality.score import ScoreOptions, count_calls, estimate_usd

    options = ScoreOptions(depth=settings.depth, each_skill=True)
    skills = sum(len(one.skills) if isinstance(one, PluginSource) else 1 for one in sources)
    calls = sum(count_calls(one, options) for one in sources)
    costs = [estimate_usd(source, options, asking) for source in sources]
    known = [cost for cost in costs if cost is not None]
    price = f"about {dollars(sum(known))}" if len(known) == len(costs) else "cost unknown"
    return (
        f"{settings.depth.value} depth asks about {plural(skills, 'skill')}: "
        f"{plural(calls, 'call')}, {price}"
    )


def at_ceiling(report: QualityReport, ledger: Ledger) -> bool:
    """Return whether the cost ceiling kept something from being asked."""
    problems = (text for one in (report, *report.skills) for text in one.problems)
    return not ledger.may_start() and any("cost ceiling" in text for text in problems)


def _score(path: str, depth: Depth, asking: Asking | None) -> QualityReport:
    from pytest_plugin_eval.quality.score import ScoreOptions, score_target

    return score_target(path, ScoreOptions(depth=depth, explain=False), asking=asking)


def _read(path: str) -> SkillSource | PluginSource | None:
    from pytest_plugin_eval.quality.parse import read_target

    try:
        return read_target(path)
    except EvalError:
        return None  # said when it is scored


def _known_usd(report: QualityReport | None) -> float:
    from pytest_plugin_eval.reports.composite import known_quality_cost

    return 0.0 if report is None else known_quality_cost((report,))


def _without_cost(report: QualityReport) -> QualityReport:
    skills = tuple(replace(skill, cost_usd=0.0) for skill in report.skills)
    return replace(report, cost_usd=0.0, skills=skills)


def _is_same(path: str, root: str) -> bool:
    return os.path.realpath(path) == os.path.realpath(root)
