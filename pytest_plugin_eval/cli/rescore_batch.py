"""What `plugin-eval rescore` grades: saved records, and the cases as they are on disk now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from pytest_plugin_eval.agents.replay import changed_since
from pytest_plugin_eval.cases.loader import load_case
from pytest_plugin_eval.errors import CaseError, RecordError
from pytest_plugin_eval.execution.planning import PlannedCase, plan_case
from pytest_plugin_eval.execution.run import Made, RunMaker
from pytest_plugin_eval.graders.grade import Graded, polls
from pytest_plugin_eval.graders.javascript import compile_errors
from pytest_plugin_eval.judges.polling import Judge
from pytest_plugin_eval.records.codec import read_record
from pytest_plugin_eval.records.model import Ending, RunKey
from pytest_plugin_eval.results.saved import SavedResults, SuitePlace
from pytest_plugin_eval.results.unfinished import Unfinished
from pytest_plugin_eval.settings import Settings
from pytest_plugin_eval.text import name_pattern, plural

__all__ = ["Batch", "Job", "load_batch"]


Job: TypeAlias = tuple[PlannedCase, RunKey]


@dataclass(slots=True, kw_only=True)
class Batch:
    """The records of some cases, looked through before they are graded.

    They are read again for that: those of a large suite do not fit into memory.
    """

    jobs: list[Job] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """Why records cannot be graded, a line each."""
    notes: list[str] = field(default_factory=list)
    """What is graded although it is not as it was."""
    votes_missing: int = 0
    """Votes that a judge would have to be asked for."""
    cost_usd: float | None = 0.0
    """About what they would cost; ``None`` when it is unknown."""

    @property
    def cases(self) -> list[PlannedCase]:
        """The cases, each once."""
        return list({planned.case.id: planned for planned, _ in self.jobs}.values())


def load_batch(
    saved: SavedResults,
    place: SuitePlace,
    settings: Settings,
    maker: RunMaker,
    judge: Judge,
    *,
    unfinished: Unfinished | None = None,
) -> Batch:
    """Load the cases that records are of, as far as the glob of *settings* matches.

    What *judge* would have to be asked is counted, and nothing is asked. *unfinished* tells of
    which votes it need not be asked again.
    """
    batch = Batch()
    for case, keys in _by_case(saved.keys):
        try:
            planned = _planned(case, keys, place, settings)
        except CaseError as error:
            if _matches(settings.case_glob, case.rpartition("/")[2]):
                batch.problems += error.problems
            continue
        if _matches(settings.case_glob, planned.case.name):
            _load(batch, planned, maker, None if settings.free_only else judge, unfinished)
    return batch


def _by_case(keys: Sequence[RunKey]) -> Iterator[tuple[str, list[RunKey]]]:
    by_case: dict[str, list[RunKey]] = {}
    for key in keys:
        by_case.setdefault(key.case, []).append(key)
    yield from by_case.items()


def _matches(glob: str | None, name: str) -> bool:
    return not glob or bool(name_pattern(glob).fullmatch(name))


def _planned(case: str, keys: list[RunKey], place: SuitePlace, settings: Settings) -> PlannedCase:
    found = place.case(case)
    if found is None:
        records = plural(len(keys), "record")
        raise CaseError((f"{place.root / case}: is no case any more, {records} cannot be graded",))
    return plan_case(load_case(*found, check_patterns=compile_errors), settings, keys)


def _load(
    batch: Batch,
    planned: PlannedCase,
    maker: RunMaker,
    judge: Judge | None,
    unfinished: Unfinished | None,
) -> None:
    changed: dict[str, int] = {}
    for key in planned.keys:
        made = maker.make(planned, key)
        batch.jobs.append((planned, key))
        problem = _problem(made)
        if problem is not None:
            batch.problems.append(problem)
        for part in changed_since(planned.case, made.record):
            changed[part] = changed.get(part, 0) + 1
        if judge is not None and made.record.outcome.is_gradable:
            if unfinished is not None:
                judge.count(unfinished.votes_of(key, made.record.votes))
            _count_votes(batch, made, judge)
    if changed:
        batch.notes.append(
            f"{planned.case.name}: {' and '.join(changed)} changed since "
            f"{plural(max(changed.values()), 'run')} of {len(planned.keys)}; graded all the same"
        )


def _count_votes(batch: Batch, made: Made, judge: Judge) -> None:
    planned, record = made.planned, made.record
    for poll in polls(Graded(planned.case, record, planned.plan.two_arms)):
        count = judge.missing(record.votes, poll)
        batch.votes_missing += count
        if count and judge.forbidden is None and batch.cost_usd is not None:
            cost_usd = judge.estimate_usd([(poll, count)])
            batch.cost_usd = None if cost_usd is None else batch.cost_usd + cost_usd


def _problem(made: Made) -> str | None:
    """Return why a record file could not be used, where that is why the run has no score."""
    outcome = made.record.outcome
    if outcome.ending is not Ending.SETUP_FAILED or made.record.provenance:
        return None
    try:
        # A run whose set-up failed in its session is what the file says, and no fault of the file.
        return None if read_record(Path(made.path)).outcome == outcome else outcome.error
    except RecordError:
        return outcome.error
