"""The lines below the table: the sum, and a line for each thing that qualifies the numbers."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

from pytest_plugin_eval.records.model import Arm
from pytest_plugin_eval.reports.columns import signed
from pytest_plugin_eval.reports.judging import judge_models, runs_without_votes, unreadable_votes
from pytest_plugin_eval.reports.money import money
from pytest_plugin_eval.reports.next_steps import kept_in
from pytest_plugin_eval.scoring.aggregate import is_skipped_at_ceiling
from pytest_plugin_eval.scoring.costs import Cost, costs_of, is_judged
from pytest_plugin_eval.scoring.hints import judge_hints
from pytest_plugin_eval.scoring.model import NotStarted, RunReport, SuiteInfo, SuiteResult
from pytest_plugin_eval.text import decimals, dollars, plural

__all__ = ["summary_lines", "unmeasured"]

LISTED_CASES = 8
"""Cases that are named where runs of theirs were not started; the document names all."""
SHOWN_HINTS = 5
"""Of all cases together; the document has those of each case."""
HARDLY_USD = 1e-6
_PARTIAL = {
    "interrupted": "interrupted, what had not finished is not counted",
    "auth_failed": "credentials refused, the session stopped there",
    "cost_ceiling": "cost ceiling reached, the rest was not started",
}
_ALL_RUN = "the cost ceiling kept models from being asked for the quality score"
_ALL_STARTED = "the cost ceiling kept judges from being asked"


def summary_lines(suite: SuiteResult, *, quality_usd: float = 0.0) -> list[str]:
    """Return the summary line and what the reader has to know besides, each not yet wrapped.

    *quality_usd* is what the deeper layers of the quality score cost, as far as it is known.
    """
    runs = [run for case in suite.cases for run in case.runs]
    return [
        _sum_line(suite, runs),
        *_cost_lines(suite, runs, quality_usd),
        *_partial_lines(suite, runs),
        *_run_counts(suite, runs),
        *_judge_lines(suite, runs),
        *_source_lines(suite, runs, quality_usd),
    ]


def unmeasured(runs: Iterable[RunReport]) -> int:
    """Return how many of the runs were not measured."""
    return sum(not run.measured for run in runs)


def _sum_line(suite: SuiteResult, runs: Sequence[RunReport]) -> str:
    info = suite.info
    parts = [plural(len(suite.cases), "case")]
    if suite.cases:
        parts.append(f"{suite.cases_passed} passed")
    if suite.mean_delta is not None:
        count = sum(case.delta is not None for case in suite.cases)
        parts.append(f"mean Δ {signed(suite.mean_delta)} over {plural(count, 'case')}")
    total = costs_of(runs).total
    cost = money(total)
    if total.unknown_runs:
        cost += f" ({plural(total.unknown_runs, 'run')})"
    if _is_replay(info):
        cost += " when recorded"
    return " · ".join([*parts, f"{decimals(info.duration_s, 0)}s", cost])


def _cost_lines(suite: SuiteResult, runs: Sequence[RunReport], quality_usd: float) -> Iterator[str]:
    """Yield what the sum is made of, where it has parts."""
    info = suite.info
    costs = costs_of(runs)
    parts = []
    if {run.key.arm for run in runs} == set(Arm):
        parts.append(f"with {money(costs.with_arm)}, without {money(costs.without_arm)}")
    if any(map(is_judged, runs)):
        parts.append(f"judge {money(costs.judge)}")
    if parts and costs.total != Cost():
        yield f"cost: {'; '.join(parts)}"
    ceiling, spent = info.ceiling_usd, info.spent_usd
    if quality_usd:
        yield f"quality score: {dollars(quality_usd)} besides"
    # What is left of a float after the same sum in another order is no money.
    if spent > costs.total.known_usd + quality_usd + HARDLY_USD:
        yield f"spent: {dollars(spent)}, with what led to no result"
    is_cut = suite.partial_reason == "cost_ceiling" or _is_cut(info, runs)
    if ceiling is not None and spent >= ceiling and spent and not is_cut:
        yield (
            f"cost ceiling {dollars(ceiling)} crossed by what was already under way, "
            f"{dollars(spent)} spent: nothing was left out"
        )


def _is_cut(info: SuiteInfo, runs: Sequence[RunReport]) -> bool:
    """Return whether anything was not started or not judged."""
    missing = info.not_started or info.runs_not_started
    return bool(missing) or any(map(is_skipped_at_ceiling, runs))


def _partial_lines(suite: SuiteResult, runs: Sequence[RunReport]) -> Iterator[str]:
    info = suite.info
    reason = suite.partial_reason or ""
    if reason in _PARTIAL:
        skipped_only = any(map(is_skipped_at_ceiling, runs)) and not (
            info.not_started or info.runs_not_started
        )
        text = _PARTIAL[reason]
        if reason == "cost_ceiling" and suite.cases and not _is_cut(info, runs):
            text = _ALL_RUN
        elif reason == "cost_ceiling" and skipped_only:
            text = _ALL_STARTED
        yield f"⚠ partial: {text}"
    yield from _cases_not_started_lines(info)
    yield from _not_started_lines(info)


def _cases_not_started_lines(info: SuiteInfo) -> Iterator[str]:
    """Yield, for each reason, the cases of which no run was made."""
    reasons: dict[str, list[str]] = {}
    for entry in info.runs_not_started:
        reasons.setdefault(entry.case, []).append(entry.reason)
    by_reason: dict[str, list[str]] = {}
    for case in info.not_started:
        why = "; ".join(dict.fromkeys(reasons.get(case, ())))
        by_reason.setdefault(f" ({why})" if why else "", []).append(case)
    for why, cases in by_reason.items():
        yield (
            f"⚠ {plural(len(cases), 'case')} not started{why}, in no number here: "
            f"{', '.join(cases)}"
        )


def _not_started_lines(info: SuiteInfo) -> Iterator[str]:
    """Yield, for each reason, which runs of the cases that were started are missing."""
    by_reason: dict[str, list[NotStarted]] = {}
    for entry in info.runs_not_started:
        if entry.case not in info.not_started:
            by_reason.setdefault(entry.reason, []).append(entry)
    for reason, entries in by_reason.items():
        count = sum(len(entry.runs) for entry in entries)
        named = "; ".join(f"{one.case}: {_ranges(one.runs)}" for one in entries[:LISTED_CASES])
        more = len(entries) - LISTED_CASES
        rest = f"; and of {plural(more, 'further case')}" if more > 0 else ""
        word = "not graded" if entries[0].is_made else "not started"
        yield f"⚠ {plural(count, 'run')} {word} ({reason}): {named}{rest}"


def _ranges(names: Iterable[str]) -> str:
    """Return ``with-3, without-1 to 3`` for run names in order."""
    found: list[tuple[str, int, int]] = []
    for name in names:
        arm, _, digits = name.rpartition("-")
        number = int(digits)
        if found and found[-1][0] == arm and found[-1][2] == number - 1:
            found[-1] = (arm, found[-1][1], number)
        else:
            found.append((arm, number, number))
    return ", ".join(
        f"{arm}-{low}" if low == high else f"{arm}-{low} to {high}" for arm, low, high in found
    )


def _run_counts(suite: SuiteResult, runs: Sequence[RunReport]) -> Iterator[str]:
    lost = unmeasured(runs)
    if lost:
        partial = "⚠ partial: " if suite.partial_reason == "not_measured" else ""
        yield (
            f"{partial}{lost} of {plural(len(runs), 'run')} not measured: left out of every mean, "
            "and their cases cannot pass"
        )
    ended = sum(run.measured and run.outcome.error is not None for run in runs)
    if ended:
        yield (
            f"{plural(ended, 'run')} ended with an error of the agent's own (turn cap, time limit, "
            "refusal), graded on what was there"
        )
    aborted = sum(run.aborted is not None for run in runs)
    if aborted:
        was, counts = ("was", "counts") if aborted == 1 else ("were", "count")
        yield f"{plural(aborted, 'run')} {was} aborted by a mock and {counts} as 0, not graded"
    repeated = sum(run.outcome.attempts > 1 for run in runs)
    if repeated:
        yield f"{plural(repeated, 'run')} took more than one attempt: the cost of all is counted"


def _judge_lines(suite: SuiteResult, runs: Sequence[RunReport]) -> Iterator[str]:
    unreadable = unreadable_votes(suite)
    if unreadable:
        votes, count = ("vote was", "counts") if unreadable == 1 else ("votes were", "count")
        yield f"⚠ {unreadable} {votes} unreadable and {count} as FAIL"
    models = judge_models(suite)
    if len(models) > 1:
        yield f"⚠ {len(models)} models judged, and need not agree: {', '.join(models)}"
    missing = runs_without_votes(runs)
    if missing:
        lack = "lacks" if len(missing) == 1 else "lack"
        asks = _who_asks(missing, is_replay=_is_replay(suite.info))
        yield f"{plural(len(missing), 'run')} {lack} only a judge's votes: {asks}"
    hints = judge_hints(runs)
    yield from (f"hint: {hint}" for hint in hints[:SHOWN_HINTS])
    if len(hints) > SHOWN_HINTS:
        yield f"and {plural(len(hints) - SHOWN_HINTS, 'more such hint')}, see the result document"


def _who_asks(runs: Iterable[RunReport], *, is_replay: bool) -> str:
    """Return how the votes come to be asked for that runs lack."""
    place = next((place for run in runs if (place := kept_in(run)) is not None), None)
    command = "plugin-eval rescore"
    if place is not None:
        command += f" {shlex.quote(str(place))}"
    if is_replay:
        return f"a replay that names the evals asks for them (without -n), and {command} for all"
    return f"{command} asks for them, without an agent"


def _source_lines(
    suite: SuiteResult, runs: Sequence[RunReport], quality_usd: float
) -> Iterator[str]:
    info = suite.info
    paid_usd = info.spent_usd - quality_usd
    if info.resumed:
        yield (
            f"{plural(info.resumed, 'run')} taken over from an earlier session, "
            f"{len(runs) - info.resumed} made now for {dollars(max(paid_usd, 0.0))}"
        )
    if info.free_only:
        yield "free graders only: llm and baseline graders were not evaluated or counted"
    if _is_replay(info):
        detail = f" ({info.recorded})" if info.recorded else ""
        is_paid = paid_usd > HARDLY_USD
        paid = f"; votes not recorded cost {dollars(paid_usd)} now" if is_paid else ""
        yield f"replay: recorded runs, graded afresh{detail}{paid}"


def _is_replay(info: SuiteInfo) -> bool:
    return info.mode == "replay"
