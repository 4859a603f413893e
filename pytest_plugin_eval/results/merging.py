"""Results of one suite from several machines, put together into one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.records.model import Arm, RunKey
from pytest_plugin_eval.results.rebuilt import rebuilt_suite
from pytest_plugin_eval.results.saved_document import SavedDocument
from pytest_plugin_eval.scoring.aggregate import PARTIAL_REASONS, case_result, suite_result
from pytest_plugin_eval.scoring.model import (
    CaseInfo,
    CaseResult,
    NotStarted,
    RunReport,
    SuiteInfo,
    SuiteResult,
)
from pytest_plugin_eval.scoring.provenance import provenance_of, recorded_words
from pytest_plugin_eval.settings import Ablation
from pytest_plugin_eval.text import shown

__all__ = ["Merged", "Part", "merged"]

LISTED = 10
"""Disagreements that a refusal names."""
OWED = "made by none of the merged sessions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One of the results that are merged."""

    name: str
    """As the user named it."""
    document: SavedDocument
    results_dir: str = ""
    """Where it lies; empty for a document alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What several results come to."""

    suite: SuiteResult
    sources: Mapping[RunKey, int]
    """The position of the part that each run was taken from."""
    missing: tuple[RunKey, ...]
    """Planned runs that are in no part."""
    doubled: tuple[RunKey, ...]
    """Runs that were in several parts, the same in each; they count once."""
    missing_shards: tuple[str, ...]
    """Such as ``3/4``, where the parts are shards and not all are there."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing that was planned is missing."""
        return not (self.missing or self.missing_shards)


def merged(parts: Sequence[Part]) -> Merged:
    """Return the parts as one result.

    Raises `EvalError`, which lists what differs, for parts that are not of one suite with one
    plugin, model, judge and set of options, and for a run that is in two of them and not the same.
    """
    suites = [rebuilt_suite(one.document, results_dir=one.results_dir) for one in parts]
    found = [*_differences(parts, suites), *_case_differences(parts, suites)]
    runs, sources, doubled, disagreeing = _runs(parts, suites)
    found += disagreeing
    if found:
        more = [f"and {len(found) - LISTED} more"] if len(found) > LISTED else []
        raise EvalError("\n  ".join(["these results do not merge:", *found[:LISTED], *more]))
    cases = {case.info.id: case.info for suite in suites for case in suite.cases}
    missing = tuple(sorted(_missing(cases.values(), runs)))
    owed = _owed(suites, runs, missing)
    there = cases.keys() | {one.case for one in owed}
    shards = tuple(_missing_shards([suite.info for suite in suites], len(there)))
    paying = [suite.info for suite in _paying(suites)]
    info = _suite_info([suite.info for suite in suites], paying, owed, runs.values())
    return Merged(
        suite=suite_result(
            info,
            _cases(cases, runs, info),
            partial_reason=_partial_reason(suites, is_complete=not (owed or shards)),
            load_errors=tuple(dict.fromkeys(text for one in suites for text in one.load_errors)),
        ),
        sources=sources,
        missing=missing,
        doubled=doubled,
        missing_shards=shards,
    )


def _cases(
    cases: Mapping[str, CaseInfo], runs: Mapping[RunKey, RunReport], info: SuiteInfo
) -> Iterator[CaseResult]:
    by_case: dict[str, list[RunReport]] = {case: [] for case in cases}
    for key, run in runs.items():
        by_case[key.case].append(replace(run, case=cases[key.case]))
    for case, listed in by_case.items():
        # All that is planned is expected: a part of it is no whole result.
        yield case_result(cases[case], listed, threshold=info.threshold, min_delta=info.min_delta)


# What has to agree


def _differences(parts: Sequence[Part], suites: Sequence[SuiteResult]) -> Iterator[str]:
    """Yield in which respects the sessions were not the same."""
    for what, value_of in _RESPECTS.items():
        first = value_of(suites[0].info)
        for part, suite in zip(parts[1:], suites[1:], strict=True):
            if (value := value_of(suite.info)) != first:
                names = f"({parts[0].name}, {part.name})"
                yield f"{what}: {_word(first)} and {_word(value)} {names}"
    counts = {part.name: count for part in parts if (count := part.document.votes) is not None}
    if len(set(counts.values())) > 1:
        yield "votes of a verdict: " + ", ".join(f"{n} ({name})" for name, n in counts.items())
    yield from _other_plugins(parts, suites)
    yield from _other_judges(parts, suites)
    yield from _conditions(parts, suites)


def _other_plugins(parts: Sequence[Part], suites: Sequence[SuiteResult]) -> Iterator[str]:
    """Yield where the plugin in the suite's root, or the version of any plugin, is another one."""
    owners: dict[str, str] = {}
    versions: dict[str, tuple[str, str]] = {}
    for part, suite in zip(parts, suites, strict=True):
        for plugin in suite.info.plugins:
            name, version = plugin.get("name", ""), plugin.get("version", "none")
            earlier = versions.setdefault(name, (version, part.name))
            if earlier[0] != version:
                both = f"{earlier[0]} and {version} ({earlier[1]}, {part.name})"
                yield f"version of plugin {name}: {both}"
            if plugin.get("path") == suite.info.root:
                owners.setdefault(name, part.name)
    if len(owners) > 1:
        yield "plugin: " + " and ".join(f"{name} ({part})" for name, part in owners.items())


def _other_judges(parts: Sequence[Part], suites: Sequence[SuiteResult]) -> Iterator[str]:
    """Yield where another model voted: none may have been asked for, and the default be another."""
    first: tuple[str, frozenset[str]] | None = None
    for part, suite in zip(parts, suites, strict=True):
        runs = (run for case in suite.cases for run in case.runs)
        found = frozenset(v.judge_model for run in runs for v in run.verdicts if v.judge_model)
        if not found:
            continue
        first = first or (part.name, found)
        if found.isdisjoint(first[1]):
            yield f"judge: {_listed(first[1])} and {_listed(found)} ({first[0]}, {part.name})"


_RESPECTS: Mapping[str, Callable[[SuiteInfo], object]] = {
    "threshold": lambda info: info.threshold,
    "smallest Δ": lambda info: info.min_delta,
    "model asked for": lambda info: info.model,
    "judge asked for": lambda info: info.judge_model,
    "llm graders left out": lambda info: info.free_only,
    "mode": lambda info: info.mode,
    "Claude Code": lambda info: info.claude_version,
    "number of shards": lambda info: (info.shard or "").rpartition("/")[2],
    "cases of all shards": lambda info: info.shard_cases,
}


def _word(value: object) -> str:
    return "none" if value in (None, "") else str(value)


def _conditions(parts: Sequence[Part], suites: Sequence[SuiteResult]) -> Iterator[str]:
    """Yield where the same kind of case met another model, or another state of the plugin."""
    seen: dict[tuple[str, object], tuple[str, frozenset[str]]] = {}
    for part, suite in zip(parts, suites, strict=True):
        plugins = tuple((one.get("name"), one.get("version")) for one in suite.info.plugins)
        found: dict[tuple[str, object], frozenset[str]] = {
            ("plugin", plugins): _provenance(suite.cases, "plugin")
        }
        for model in {case.info.model for case in suite.cases}:
            cases = [case for case in suite.cases if case.info.model == model]
            found["model", model] = _provenance(cases, "model")
        for kind, values in found.items():
            name, earlier = seen.setdefault(kind, (part.name, values))
            # Of several plugins each shard may have met others.
            if values and earlier and values.isdisjoint(earlier):
                both = f"{_listed(earlier)} and {_listed(values)}"
                what = "the plugin's files differ" if kind[0] == "plugin" else f"model: {both}"
                yield f"{what} ({name}, {part.name})"


def _provenance(cases: Iterable[CaseResult], name: str) -> frozenset[str]:
    """Return the values of a field of the runs with the plugin: the others know of no plugin."""
    return provenance_of((run for case in cases for run in case.with_runs), name)


def _listed(values: Iterable[str]) -> str:
    return ", ".join(sorted(values))


def _case_differences(parts: Sequence[Part], suites: Sequence[SuiteResult]) -> Iterator[str]:
    """Yield which cases are not the same in all parts that have them."""
    seen: dict[str, tuple[str, CaseInfo]] = {}
    hashes: dict[tuple[str, str], frozenset[str]] = {}
    for part, suite in zip(parts, suites, strict=True):
        for case in suite.cases:
            name, info = seen.setdefault(case.info.id, (part.name, case.info))
            for field, what in _OF_A_CASE.items():
                if getattr(info, field) != getattr(case.info, field):
                    yield f"case {case.info.id}: {what} ({name}, {part.name})"
            for what in ("settings", "mocks", "scaffold"):
                if not _provenance([case], "settings"):
                    continue  # of its runs nothing is known
                values = _provenance([case], what)
                earlier = hashes.setdefault((case.info.id, what), values)
                if values.isdisjoint(earlier) and (values or earlier):
                    yield f"case {case.info.id}: other {what} ({name}, {part.name})"


_OF_A_CASE = {
    "prompt": "another prompt",
    "graders": "other graders",
    "plan": "another plan of runs",
    "max_turns": "another turn cap",
    "timeout_s": "another time limit",
    "model": "another model",
    "not_granted": "other tools were granted",
}


def _runs(
    parts: Sequence[Part], suites: Sequence[SuiteResult]
) -> tuple[dict[RunKey, RunReport], dict[RunKey, int], tuple[RunKey, ...], list[str]]:
    """Return the runs, the part that each is from, those that are in several, and disputed ones."""
    runs: dict[RunKey, RunReport] = {}
    sources: dict[RunKey, int] = {}
    doubled: dict[RunKey, None] = {}
    disagreeing = []
    for position, suite in enumerate(suites):
        for run in (run for case in suite.cases for run in case.runs):
            earlier = runs.setdefault(run.key, run)
            if sources.setdefault(run.key, position) == position:
                continue
            doubled[run.key] = None
            if _essence(run) != _essence(earlier):
                names = f"{parts[sources[run.key]].name}, {parts[position].name}"
                disagreeing.append(
                    f"{run.key.case} {_name(run.key)} is in two of them and not the same: "
                    f"{_apart(earlier, run)} ({names})"
                )
    return runs, sources, tuple(doubled), disagreeing


def _apart(run: RunReport, other: RunReport) -> str:
    """Return what tells two runs apart, in words."""
    if run.score == other.score and run.outcome.started_at != other.outcome.started_at:
        return f"started {run.outcome.started_at} and {other.outcome.started_at}"
    return f"score {shown(run.score)} and {shown(other.score)}"


def _essence(run: RunReport) -> RunReport:
    """Return a run without what depends on where its results lie."""
    return replace(
        run,
        case=replace(run.case, root="", eval_dir="", plugins=(), warnings=(), hints=()),
        record_path="",
        results_dir="",
        is_taken_over=False,
    )


# What is lacking


def _missing(cases: Iterable[CaseInfo], runs: Mapping[RunKey, RunReport]) -> Iterator[RunKey]:
    for case in cases:
        for arm, count in ((Arm.WITH, case.plan.with_runs), (Arm.WITHOUT, case.plan.without_runs)):
            keys = (RunKey(case=case.id, arm=arm, number=n) for n in range(1, count + 1))
            yield from (key for key in keys if key not in runs)


def _missing_shards(infos: Iterable[SuiteInfo], cases: int) -> Iterator[str]:
    """Yield the shards that are not there; one without a case leaves no results, and is not due."""
    totals = {info.shard_cases for info in infos if info.shard_cases is not None}
    if totals and cases >= max(totals):
        return
    listed = [info.shard.split("/") for info in infos if info.shard]
    present = {int(index) for index, _ in listed}
    for count in {int(count) for _, count in listed}:
        yield from (f"{n}/{count}" for n in range(1, count + 1) if n not in present)


def _owed(
    suites: Sequence[SuiteResult],
    runs: Mapping[RunKey, RunReport],
    missing: Iterable[RunKey],
) -> tuple[NotStarted, ...]:
    """Return the runs that no session made, with the reason of a session that had to make them."""
    reasons = {key: OWED for key in missing}
    for suite in suites:
        for one in suite.info.runs_not_started:
            for name in one.runs:
                arm, _, number = name.rpartition("-")
                key = RunKey(case=one.case, arm=Arm(arm), number=int(number))
                if key not in runs:
                    reasons[key] = one.reason
    grouped: dict[tuple[str, str], list[RunKey]] = {}
    for key in sorted(reasons):
        grouped.setdefault((key.case, reasons[key]), []).append(key)
    return tuple(
        NotStarted(case=case, runs=tuple(map(_name, keys)), reason=reason)
        for (case, reason), keys in grouped.items()
    )


def _name(key: RunKey) -> str:
    return f"{key.arm.value}-{key.number}"


def _partial_reason(suites: Iterable[SuiteResult], *, is_complete: bool) -> str | None:
    """Return why something is missing; what one session did not get to, another may have made."""
    if is_complete:
        return None
    found = [suite.partial_reason for suite in suites if suite.partial_reason is not None]
    return min(found, key=PARTIAL_REASONS.index, default="not_measured")


# What is said of the session


def _paying(suites: Sequence[SuiteResult]) -> Iterator[SuiteResult]:
    """Yield the sessions whose money counts: not those whose runs all are in another of them.

    Such are shards that were merged before, beside the result of that merge.
    """
    keys = [{run.key for case in suite.cases for run in case.runs} for suite in suites]
    for position, (suite, own) in enumerate(zip(suites, keys, strict=True)):
        larger = any(own < other for other in keys)
        if not own or not (larger or own in keys[:position]):
            yield suite


def _suite_info(
    infos: Sequence[SuiteInfo],
    paying: Sequence[SuiteInfo],
    owed: tuple[NotStarted, ...],
    runs: Iterable[RunReport],
) -> SuiteInfo:
    first = infos[0]
    untouched = {case for info in infos for case in info.not_started}
    plugins = {one.get("name", ""): one for info in infos for one in info.plugins}
    ceilings = [info.ceiling_usd for info in paying if info.ceiling_usd is not None]
    two_arms = any(info.ablation == Ablation.WITH_WITHOUT.value for info in infos)
    started = min(infos, key=lambda info: _moment(info.started_at))
    return replace(
        first,
        ablation=(Ablation.WITH_WITHOUT if two_arms else Ablation.NONE).value,
        concurrency=max(info.concurrency for info in infos),
        case_filter=first.case_filter if len({info.case_filter for info in infos}) == 1 else None,
        tag_filters=first.tag_filters if len({info.tag_filters for info in infos}) == 1 else (),
        started_at=started.started_at,
        duration_s=_duration(infos),
        plugins=tuple(plugins.values()),
        not_started=tuple(sorted(untouched & {one.case for one in owed})),
        runs_not_started=owed,
        resumed=sum(info.resumed for info in paying),
        spent_usd=sum(info.spent_usd for info in paying),
        ceiling_usd=sum(ceilings) if len(ceilings) == len(paying) else None,
        shard=None,
        shard_cases=None,
        recorded=recorded_words(runs) if any(info.recorded for info in infos) else "",
    )


def _duration(infos: Sequence[SuiteInfo]) -> float:
    """Return the seconds from the first start to the last end: the sessions ran side by side."""
    starts = [_moment(info.started_at).timestamp() for info in infos]
    ends = [start + info.duration_s for start, info in zip(starts, infos, strict=True)]
    return max(ends) - min(starts)


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
