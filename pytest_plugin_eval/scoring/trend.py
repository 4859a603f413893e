"""How the cases of a suite did over many sessions.

A session that was stopped before its end is left out, and so are one of several shards and what was
not measured: none of them says how the suite did. A replay grades runs that an earlier session
made, and is left out as well unless it is asked for; so is a copy of a result that counts already.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_plugin_eval.scoring.model import CaseResult, SuiteResult
from pytest_plugin_eval.scoring.provenance import plugin_words, provenance_of, words
from pytest_plugin_eval.scoring.runs import mean

__all__ = ["CaseTrend", "Condition", "Point", "Session", "Trend", "conditions_changed", "trends"]

SHARD = "of one shard alone (plugin-eval merge joins them)"
COPY = "that are a copy of another"
REPLAYED = ("replay", "rescore")
_STOPPED = {
    "interrupted": "interrupted",
    "auth_failed": "stopped by a refused credential",
    "cost_ceiling": "stopped by the cost ceiling",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One session that counts, as a whole."""

    started_at: str
    """UTC, ISO 8601; sessions are in this order."""
    plugin: str
    """Names and versions."""
    model: str
    """Models that answered, in words; empty where none is known."""
    claude_version: str
    cases: int
    cases_passed: int
    with_score: float | None
    """Mean of the cases' WITH."""
    without_score: float | None
    """Mean of the cases' W/OUT, over those that have one."""
    delta: float | None
    unmeasured: int
    """Runs left out."""
    cost_usd: float | None
    composite: float | None = None
    """Of the plugin under test, 0 to 100, where the result has it."""
    judge: str = ""
    """Models that voted, in words; empty where nothing was voted on."""
    arms: str = ""
    threshold: str = ""
    llm_graders: str = ""
    """``evaluated`` or ``left out``."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that is not as it was in the session before."""

    what: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Point:
    """A case in one session."""

    with_score: float | None
    without_score: float | None
    delta: float | None
    runs: int
    """Measured with-runs behind `with_score`."""
    passed: bool
    version: str = ""
    """Tells prompt and graders of one session from others: scores by other graders are no trend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseTrend:
    """A case over all sessions; ``None`` for a session that did not have it."""

    case: str
    name: str
    points: tuple[Point | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """A suite over all sessions that count."""

    suite: str
    """The plugins' names, else the eval directory."""
    sessions: tuple[Session, ...]
    cases: tuple[CaseTrend, ...]
    left_out: Mapping[str, int]
    """Sessions that do not count, by reason."""
    unmeasured: int
    """Runs that do not count, of the sessions that do."""


@dataclass(frozen=True, slots=True)
class _Reduced:
    """What a trend keeps of a result: documents may be large, and there may be many."""

    session: Session
    points: Mapping[str, Point | None]
    names: Mapping[str, str]


_CONDITIONS = {
    "model": "model",
    "Claude Code": "claude_version",
    "judge": "judge",
    "arms": "arms",
    "threshold": "threshold",
    "llm graders": "llm_graders",
}


def conditions_changed(before: Session, after: Session) -> tuple[Condition, ...]:
    """Return under which conditions the later session was another; what either lacks is no change.

    The plugin is what a trend is about, and not among them.
    """
    pairs = (
        Condition(what, getattr(before, name), getattr(after, name))
        for what, name in _CONDITIONS.items()
    )
    return tuple(pair for pair in pairs if pair.old and pair.new and pair.old != pair.new)


def trends(
    results: Iterable[tuple[SuiteResult, float | None]], *, with_replays: bool = False
) -> tuple[Trend, ...]:
    """Return a trend for each suite among the results, by name.

    A result comes with the composite score of its plugin, where it has one. Results are looked at
    one after the other, in any order.
    """
    counted: dict[str, list[_Reduced]] = {}
    left_out: dict[str, Counter[str]] = {}
    begun: dict[tuple[str, str], list[_Reduced]] = {}
    for suite, composite in results:
        name = _name(suite)
        counted.setdefault(name, [])
        reasons = left_out.setdefault(name, Counter())
        reason = _why_left_out(suite, with_replays=with_replays)
        if reason is not None:
            reasons[reason] += 1
            continue
        reduced = _reduced(suite, composite)
        at_once = begun.setdefault((name, reduced.session.started_at), [])
        if reduced in at_once:
            reasons[COPY] += 1
            continue
        at_once.append(reduced)
        counted[name].append(reduced)
    return tuple(_trend(name, counted[name], left_out[name]) for name in sorted(counted))


def _reduced(suite: SuiteResult, composite: float | None) -> _Reduced:
    return _Reduced(
        session=_session(suite, composite),
        points={case.info.id: _point(case) for case in suite.cases},
        names={case.info.id: case.info.name for case in suite.cases},
    )


def _trend(name: str, listed: Sequence[_Reduced], left_out: Mapping[str, int]) -> Trend:
    listed = sorted(listed, key=lambda one: one.session.started_at)
    names = {case: name for one in listed for case, name in one.names.items()}
    return Trend(
        suite=name,
        sessions=tuple(one.session for one in listed),
        cases=tuple(
            CaseTrend(
                case=case,
                name=names[case],
                points=tuple(one.points.get(case) for one in listed),
            )
            for case in sorted(names)
        ),
        left_out=dict(left_out),
        unmeasured=sum(one.session.unmeasured for one in listed),
    )


def _why_left_out(suite: SuiteResult, *, with_replays: bool) -> str | None:
    if not any(run.measured for case in suite.cases for run in case.runs):
        return "without a measured run"
    if suite.info.mode in REPLAYED and not with_replays:
        return "graded again from earlier runs"
    if suite.info.shard is not None:
        return SHARD
    return _STOPPED.get(suite.partial_reason or "")


def _session(suite: SuiteResult, composite: float | None) -> Session:
    runs = [run for case in suite.cases for run in case.runs]
    without = [case.score_without for case in suite.cases if case.score_without is not None]
    return Session(
        started_at=suite.info.started_at,
        plugin=plugin_words(suite.info.plugins),
        model=words(provenance_of(runs, "model")),
        claude_version=suite.info.claude_version,
        cases=len(suite.cases),
        cases_passed=suite.cases_passed,
        with_score=suite.overall_score,
        without_score=mean(without),
        delta=suite.mean_delta,
        unmeasured=sum(not run.measured for run in runs),
        cost_usd=suite.cost_usd,
        composite=composite,
        judge=words({v.judge_model for run in runs for v in run.verdicts}),
        arms=suite.info.ablation,
        threshold=f"{suite.info.threshold:g}",
        llm_graders="left out" if suite.info.free_only else "evaluated",
    )


def _point(case: CaseResult) -> Point | None:
    if case.score is None:
        return None
    return Point(
        with_score=case.score,
        without_score=case.score_without,
        delta=case.delta,
        runs=sum(run.measured for run in case.with_runs),
        passed=case.passed,
        version=_version(case),
    )


def _version(case: CaseResult) -> str:
    graders = [dict(one) for one in case.info.graders]
    told = json.dumps([case.info.prompt, graders], sort_keys=True, default=str)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _name(suite: SuiteResult) -> str:
    names = ", ".join(str(one.get("name", "")) for one in suite.info.plugins)
    return names or suite.info.eval_dir or suite.info.root
