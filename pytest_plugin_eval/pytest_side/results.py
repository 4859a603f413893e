"""From the runs of a session to its suite results and their files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_plugin_eval.cases.discovery import eval_directory_of
from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.execution.keeper import RUNS
from pytest_plugin_eval.pytest_side.ids import run_key
from pytest_plugin_eval.pytest_side.pages import write_pages
from pytest_plugin_eval.pytest_side.progress import UNGRADED
from pytest_plugin_eval.pytest_side.stash import settings_key, workbench_key
from pytest_plugin_eval.pytest_side.verdicts import result_of
from pytest_plugin_eval.records.layout import record_path
from pytest_plugin_eval.records.model import Ending
from pytest_plugin_eval.reports.composite import known_quality_cost
from pytest_plugin_eval.reports.document import document_chunks
from pytest_plugin_eval.reports.junit import suite_properties
from pytest_plugin_eval.scoring.aggregate import suite_result
from pytest_plugin_eval.scoring.model import (
    CaseResult,
    NotStarted,
    RunReport,
    SuiteInfo,
    SuiteResult,
)
from pytest_plugin_eval.scoring.provenance import recorded_words, words
from pytest_plugin_eval.settings import Ablation, Mode, Settings
from pytest_plugin_eval.storage.atomic_write import write_text
from pytest_plugin_eval.storage.results_dir import release_results_directory

if TYPE_CHECKING:
    from pytest_plugin_eval.pytest_side.controller import EvalController
    from pytest_plugin_eval.quality.model import QualityReport
    from pytest_plugin_eval.records.model import RunKey

__all__ = ["write_results"]

ENDED = "the session ended before"


def write_results(
    controller: EvalController, config: pytest.Config, started: datetime
) -> tuple[SuiteResult, ...]:
    """Compute one result a suite root, write its document and copies, and return them all."""
    settings = config.stash[settings_key]
    by_root = _by_root(controller, settings)
    not_started = _not_started(controller, by_root)
    errors = list(_load_errors(controller, config))
    lost = "not_measured" if any(p.has_lost_runs for p in controller.cases.values()) else None
    suites = []
    for root, cases in sorted(by_root.items()):
        info = suite_info(
            root,
            cases,
            settings,
            started,
            agent_version=config.stash[workbench_key].agent_version,
            not_started=_cases_not_started(controller, not_started.get(root, ())),
            runs_not_started=not_started.get(root, ()),
            # Which of several suites it went to, the ledger does not tell.
            unreported_usd=known_quality_cost(controller.quality.get(root, ()))
            + (controller.unreported_usd if len(by_root) == 1 else 0.0),
        )
        info = replace(info, shard_cases=controller.state.shard_cases.get(root))
        suite = suite_result(
            info,
            cases,
            partial_reason=controller.partial_reason or lost,
            load_errors=tuple(text for at, text in errors if at == root or at not in by_root),
        )
        suites.append(suite)
        # Also where no run was started, as at a ceiling of 0: the file then says so.
        several = len(by_root) > 1
        _write(suite, _results_dir(cases), settings, controller, several=several)
        write_pages(suite, _results_dir(cases), controller, config, several=several)
    _add_junit_properties(config, suites, controller.quality)
    return tuple(suites)


def _by_root(controller: EvalController, settings: Settings) -> dict[str, list[CaseResult]]:
    by_root: dict[str, list[CaseResult]] = {}
    for progress in controller.cases.values():
        if progress.runs:
            result = result_of(progress, settings)
            by_root.setdefault(result.info.root, []).append(result)
    return by_root


def _not_started(
    controller: EvalController, by_root: Mapping[str, Sequence[CaseResult]]
) -> dict[str, list[NotStarted]]:
    """Return the selected runs that were not made, by suite root."""
    plans = {plan.nodeid: plan for plan in controller.state.plans}
    results = {root: _results_dir(cases) for root, cases in by_root.items()}
    found: dict[str, list[NotStarted]] = {}
    for nodeid, progress in controller.cases.items():
        plan = plans.get(nodeid)
        if plan is not None and plan.skipped:
            continue
        # Workers elsewhere that were interrupted left no plan; with one suite its root is known
        # all the same, and any run knows the id of its case.
        info = next((run.case for run in progress.runs.values()), None)
        root, case = next(iter(by_root), ""), nodeid
        if plan is not None:
            root, case = plan.root, plan.case
        elif info is not None:
            root, case = info.root, info.id
        by_reason: dict[str, list[RunKey]] = {}
        for run_id in progress.expected - progress.failed:
            run = progress.runs.get(run_key(run_id, case))
            if run is None or run.outcome.ending is Ending.NOT_STARTED:
                key = run_key(run_id, case)
                reason = (
                    run.outcome.error if run is not None else _unheard_of(key, results.get(root))
                )
                by_reason.setdefault(reason or ENDED, []).append(key)
        found.setdefault(root, []).extend(
            NotStarted(
                case=case,
                runs=tuple(map(_short, sorted(keys))),
                reason=reason,
                is_made=reason == UNGRADED,
            )
            for reason, keys in sorted(by_reason.items())
        )
    return found


def _unheard_of(key: RunKey, results: str | None) -> str:
    """Return why a run has no report: its worker was stopped before it made it, or after."""
    if not results:
        return ENDED
    try:
        path = record_path(Path(results, RUNS), key)
    except RecordError:  # without a plan the id is a node's, which may be a path from the root
        return ENDED
    return UNGRADED if path.is_file() else ENDED


def _short(key: RunKey) -> str:
    return f"{key.arm.value}-{key.number}"


def _cases_not_started(controller: EvalController, runs: Iterable[NotStarted]) -> set[str]:
    """Return the ids of the cases of which no run was made."""
    begun = {
        run.key.case for run in controller.runs() if run.outcome.ending is not Ending.NOT_STARTED
    }
    listed = tuple(runs)
    begun.update(one.case for one in listed if one.is_made)
    return {one.case for one in listed} - begun


def suite_info(
    root: str,
    cases: list[CaseResult],
    settings: Settings,
    started: datetime,
    *,
    agent_version: str = "",
    not_started: Iterable[str] = (),
    runs_not_started: Iterable[NotStarted] = (),
    unreported_usd: float = 0.0,
) -> SuiteInfo:
    """Return what the document says of the session; *agent_version* is for one without a run.

    *unreported_usd* was paid for what is among no case's runs.
    """
    runs = _runs(cases)
    plugins = {plugin["path"]: plugin for case in cases for plugin in case.info.plugins}
    return SuiteInfo(
        root=root,
        eval_dir=cases[0].info.eval_dir,
        ablation=_ablation(cases, settings).value,
        threshold=settings.threshold,
        concurrency=settings.concurrency,
        mode=settings.mode.value,
        plugin_id=settings.plugin_id,
        model=settings.model,
        judge_model=settings.judge_model,
        case_filter=settings.case_glob,
        tag_filters=settings.tags,
        plugins=tuple(plugins[path] for path in sorted(plugins)),
        free_only=settings.free_only,
        min_delta=settings.min_delta,
        claude_version=words(run.provenance.get("claude_version", "") for run in runs)
        or agent_version,
        started_at=_iso(started),
        duration_s=(datetime.now(UTC) - started).total_seconds(),
        not_started=tuple(sorted(not_started)),
        runs_not_started=tuple(runs_not_started),
        ceiling_usd=settings.max_cost_usd,
        shard=f"{settings.shard[0]}/{settings.shard[1]}" if settings.shard[1] > 1 else None,
        recorded=recorded_words(runs) if settings.mode is Mode.REPLAY else "",
        spent_usd=sum(run.spent_usd for run in runs) + unreported_usd,
        resumed=sum(run.is_taken_over for run in runs),
    )


def _ablation(cases: Iterable[CaseResult], settings: Settings) -> Ablation:
    """Return what was asked for: cases with a history have one arm all the same."""
    two_arms = any(
        case.info.plan.two_arms or (settings.ablation is None and case.info.plugins)
        for case in cases
    )
    return Ablation.WITH_WITHOUT if two_arms else Ablation.NONE


def _write(
    suite: SuiteResult,
    directory: str,
    settings: Settings,
    controller: EvalController,
    *,
    several: bool,
) -> None:
    targets = [Path(directory, "aggregate-result.json")] if directory else []
    if settings.json_path is not None:
        copy = settings.json_path
        if several:
            copy = copy.with_stem(f"{copy.stem}-{Path(suite.info.root).name}")
        targets.append(copy)
    if directory:
        release_results_directory(Path(directory))
    for target in targets:
        try:
            quality = controller.quality.get(suite.info.root, ())
            write_text(target, document_chunks(suite, quality=quality))
        except OSError as error:
            controller.unwritten.append(f"{target}: {error.strerror}")
            continue
        controller.written.append(target)


def _add_junit_properties(
    config: pytest.Config,
    suites: list[SuiteResult],
    quality: Mapping[str, Sequence[QualityReport]],
) -> None:
    # The fixture `record_testsuite_property` is of no use outside tests; the plugin object is the
    # one way left (decisions, 23).
    for _, plugin in config.pluginmanager.list_name_plugin():
        add = getattr(plugin, "add_global_property", None)
        if add is not None:
            for suite in suites:
                scores = quality.get(suite.info.root, ())
                for name, value in suite_properties(suite, quality=scores):
                    add(name, value)


def _load_errors(controller: EvalController, config: pytest.Config) -> Iterator[tuple[str, str]]:
    """Yield the load errors of the session, each with the suite root that it belongs to."""
    for nodeid, texts in controller.state.broken.items():
        root = _root_of(config.rootpath / nodeid, config)
        yield from ((root, text) for text in texts)
    for text in controller.state.loose:
        yield _root_of(Path(text.partition(": ")[0]), config), text


def _root_of(path: Path, config: pytest.Config) -> str:
    settings = config.stash[settings_key]
    place = eval_directory_of(path, eval_dir=settings.eval_dir, root=settings.root)
    return str(place.root) if place else ""


def _runs(cases: Iterable[CaseResult]) -> list[RunReport]:
    return [run for case in cases for run in case.runs]


def _results_dir(cases: Iterable[CaseResult]) -> str:
    return next((run.results_dir for run in _runs(cases) if run.results_dir), "")


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
