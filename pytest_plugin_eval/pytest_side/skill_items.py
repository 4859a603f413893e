"""What pytest sees of a skill: a collector of its SKILL.md, and one item, the skill's quality."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import pytest

from pytest_plugin_eval.cases.discovery import eval_directory_of
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.pytest_side.quality import MIN_COMPOSITE, asked_key, at_ceiling
from pytest_plugin_eval.pytest_side.stash import picked_key, settings_key, workbench_key
from pytest_plugin_eval.settings import Depth
from pytest_plugin_eval.text import one_line, without_surrogates

if TYPE_CHECKING:
    from pytest_plugin_eval.execution.shared import Shared
    from pytest_plugin_eval.pytest_side.quality import SkillSent
    from pytest_plugin_eval.quality.asking import Asking
    from pytest_plugin_eval.quality.model import QualityReport

__all__ = ["SkillFile", "SkillItem", "collect_skill"]

QUALITY = "quality"
LOWEST_BADGE = 60.0
"""The limit where `MIN_COMPOSITE` sets none: the least for bronze. Spec: quality-score, 11."""
asking_key: pytest.StashKey[Asking] = pytest.StashKey()


class SkillBelow(Exception):
    """A skill whose composite misses the limit; the text is the whole explanation."""


def collect_skill(path: Path, parent: pytest.Collector) -> SkillFile | None:
    """Return the collector of a SKILL.md that is asked for, ``None`` for any other.

    One is asked for by name, or by ``--eval-score`` where it is no fixture of an eval directory.
    """
    config = parent.config
    settings = config.stash.get(settings_key, None)
    if settings is None:
        return None
    if not parent.session.isinitpath(path):
        place = path.parent
        if not settings.score or eval_directory_of(
            place, eval_dir=settings.eval_dir, root=settings.root
        ):
            return None
    from pytest_plugin_eval.pytest_side.session import activate

    activate(config, parent.session)
    file: SkillFile = SkillFile.from_parent(parent, path=path)
    if one_line(file.nodeid) == file.nodeid:
        return file
    # As the ids of cases: pytest writes them as they are, to the terminal and into JUnit XML.
    return SkillFile.from_parent(parent, path=path, nodeid=one_line(file.nodeid))


class SkillFile(pytest.File):
    """A SKILL.md."""

    def collect(self) -> Iterator[SkillItem]:
        """Yield the one item."""
        yield SkillItem.from_parent(self, name=QUALITY)


class SkillItem(pytest.Item):
    """The quality of a skill. To score it is the set-up, the assertion is the call.

    So a skill that cannot be read is an error, and one below the limit is a failure.
    """

    eval_skill: SkillSent | None = None
    """What its report carries to the session's end, once it is scored: plain values."""
    _report: QualityReport | None = None

    @property
    def limit(self) -> float:
        """The composite that the skill has to reach."""
        chosen = self.config.stash[settings_key].min_composite
        return LOWEST_BADGE if chosen is None else chosen

    @property
    def why_quick(self) -> str | None:
        """Why no model is asked about this skill, ``None`` when the depth asks and may."""
        from pytest_plugin_eval.pytest_side.judges import why_no_votes

        settings = self.config.stash[settings_key]
        if settings.depth is Depth.QUICK:
            return "quick depth"
        if self.path.resolve() not in self.config.stash[picked_key].named:
            return f"{settings.depth.value} depth costs money and is for a SKILL.md that is named"
        is_worker = hasattr(self.config, "workerinput")
        return why_no_votes(
            settings, is_worker=is_worker, are_asked_for=True, what="judges of skills"
        )

    def setup(self) -> None:
        """Score the skill."""
        if self.config.getoption("setuponly", False) or self.config.getoption("setupplan", False):
            pytest.skip("the quality of a skill has no fixtures to set up")
        from pytest_plugin_eval.quality.composite import is_below
        from pytest_plugin_eval.reports.composite import quality_notes, skill_row
        from pytest_plugin_eval.reports.junit import skill_properties

        report = self._report = self._scored()
        self.user_properties[:] = skill_properties(report, limit=self.limit)
        notes = list(quality_notes(report))
        if self.why_quick is not None and self._depth is not Depth.QUICK:
            notes.append(f"scored at quick depth: {self.why_quick}")
        row = skill_row(report)._replace(name=str(PurePosixPath(self.nodeid).parent))
        self.eval_skill = {
            "name": row.name,
            "score": row.score,
            "badge": row.badge,
            "label": row.label,
            "flags": list(row.flags),
            "notes": list(map(without_surrogates, notes)),
            "cost_usd": report.cost_usd,
            "partial": self._partial(report),
            "missed": is_below(report.composite.score, self.limit)
            and self.config.stash[settings_key].report_only,
        }

    def runtest(self) -> None:
        """Fail when the composite is below the limit."""
        from pytest_plugin_eval.quality.composite import is_below
        from pytest_plugin_eval.reports.composite import skill_failure_text

        report = self._report
        assert report is not None
        settings = self.config.stash[settings_key]
        if settings.report_only or not is_below(report.composite.score, self.limit):
            return
        bench = self.config.stash[workbench_key]
        by_option = settings.min_composite is not None
        # Findings name files of the skill; a reader and an editor want them from where one stands.
        shown = replace(report, path=bench.shown(str(self.path.parent)))
        text = skill_failure_text(
            shown,
            limit=self.limit,
            whose=MIN_COMPOSITE if by_option else "the least for a badge,",
            ascii_only=bench.ascii_only,
        )
        raise SkillBelow(text)

    def repr_failure(  # type: ignore[override]  # a plain text, as pytest allows
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> object:
        """Return the text of a skill's own outcome, and a traceback for anything else."""
        if isinstance(excinfo.value, SkillBelow | EvalError):
            return self.config.stash[workbench_key].shown(str(excinfo.value))
        return super().repr_failure(excinfo)

    def setup_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> object:
        """Return what is told of a skill that cannot be scored."""
        return self.repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where the skill is and its headline."""
        place = Path(one_line(str(self.path)))
        return place, 0, f"{place.parent.name} {QUALITY}"

    @property
    def _depth(self) -> Depth:
        return self.config.stash[settings_key].depth

    def _scored(self) -> QualityReport:
        from pytest_plugin_eval.quality.score import ScoreOptions, score_target

        place = str(self.path.parent)
        if self.why_quick is not None:
            return score_target(place, ScoreOptions())
        asking = _asking(self.config)
        report = score_target(place, ScoreOptions(depth=self._depth), asking=asking)
        self.config.stash.setdefault(asked_key, {})[os.path.realpath(place)] = report
        return report

    def _partial(self, report: QualityReport) -> str | None:
        """Return why the session is incomplete by this skill, if it is."""
        asking = self.config.stash.get(asking_key, None)
        if self.why_quick is not None or asking is None:
            return None
        if asking.refused_credential is not None:
            return "auth_failed"
        shared = _shared(self.config)
        return "cost_ceiling" if at_ceiling(report, shared.ledger) else None


def _asking(config: pytest.Config) -> Asking:
    """Return what asks models in this process; one for all of its skills."""
    if asking_key not in config.stash:
        from pytest_plugin_eval.pytest_side.judges import asking_of

        shared = _shared(config)
        asking = asking_of(config.stash[settings_key], shared.ledger, shared.limiter)
        config.add_cleanup(asking.close)
        config.stash[asking_key] = asking
    return config.stash[asking_key]


def _shared(config: pytest.Config) -> Shared:
    """Return the ledger and the pace of the session, those of its runs where there are any."""
    bench = config.stash[workbench_key]
    if bench.shared is None:
        from pytest_plugin_eval.execution.shared import Shared

        given = getattr(config, "workerinput", {}).get("plugin_eval", {}).get("money")
        money = None if given is None else Path(given)
        ceiling_usd = config.stash[settings_key].max_cost_usd
        bench.shared = Shared.among(money, ceiling_usd=ceiling_usd)
        config.add_cleanup(bench.shared.close)
    return bench.shared
