"""A suite result made again from its document, so that it can be rendered, merged and compared.

The numbers are computed by the functions that computed them for the session. What a document does
not hold is not to be had: the length of a run below a second, the reply of a run (its record has
it).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pytest_plugin_eval.records.model import Arm, Ending, RunKey, RunOutcome
from pytest_plugin_eval.results.saved_document import SavedCase, SavedDocument, SavedRun, Standing
from pytest_plugin_eval.scoring.aggregate import case_result, suite_result
from pytest_plugin_eval.scoring.hints import judge_hints
from pytest_plugin_eval.scoring.model import (
    CaseInfo,
    CaseResult,
    NotStarted,
    Plan,
    RunReport,
    SuiteInfo,
    SuiteResult,
    Verdict,
)

__all__ = ["rebuilt_case", "rebuilt_suite"]


def rebuilt_suite(document: SavedDocument, *, results_dir: str = "") -> SuiteResult:
    """Return the suite that a document was written of; *results_dir* is where it lies."""
    return suite_result(
        _suite_info(document),
        [rebuilt_case(case, document, results_dir=results_dir) for case in document.cases],
        partial_reason=document.partial_reason,
        load_errors=document.load_errors,
    )


def rebuilt_case(
    case: SavedCase, document: SavedDocument, *, results_dir: str = "", expected: Plan | None = None
) -> CaseResult:
    """Return a case with its runs; *expected* is what was selected, by default as documented."""
    info = _case_info(case, document)
    runs = [
        _run(RunKey(case=case.id, arm=arm, number=number), run, info, results_dir)
        for (arm, number), run in case.runs().items()
    ]
    if info.hints:
        # Some are about the runs, and are made anew from them.
        made = judge_hints(runs)
        info = replace(info, hints=tuple(hint for hint in info.hints if hint not in made))
        runs = [replace(run, case=info) for run in runs]
    return case_result(
        info,
        runs,
        threshold=document.suite.threshold,
        min_delta=document.suite.min_delta,
        expected=expected or _selected(case, document, info.plan),
    )


def _suite_info(document: SavedDocument) -> SuiteInfo:
    suite = document.suite
    return SuiteInfo(
        root=suite.root,
        eval_dir=suite.eval_dir or "",
        ablation=suite.ablation,
        threshold=suite.threshold,
        concurrency=suite.concurrency,
        mode=document.mode or "live",
        plugin_id=suite.plugin_id,
        model=suite.model,
        judge_model=suite.judge_model,
        case_filter=suite.case_filter,
        tag_filters=suite.tag_filters,
        plugins=suite.plugins,
        free_only=suite.free_only,
        min_delta=suite.min_delta,
        claude_version=document.claude_version,
        started_at=document.started_at,
        duration_s=document.duration_s or 0.0,
        not_started=suite.not_started,
        runs_not_started=tuple(
            NotStarted(case=one.case, runs=one.runs, reason=one.reason)
            for one in suite.runs_not_started
        ),
        resumed=suite.runs_taken_over,
        spent_usd=suite.spent_usd,
        ceiling_usd=suite.ceiling_usd,
        shard=suite.shard,
        shard_cases=suite.shard_cases,
        recorded=suite.recorded,
    )


def _case_info(case: SavedCase, document: SavedDocument) -> CaseInfo:
    return CaseInfo(
        id=case.id,
        name=case.name,
        source=case.source,
        prompt=case.prompt,
        graders=case.graders,
        root=document.suite.root,
        eval_dir=document.suite.eval_dir or "",
        plan=_plan(case),
        own_runs=case.own_runs,
        max_turns=case.max_turns,
        timeout_s=case.timeout_s,
        model=case.model,
        tags=case.tags,
        advisories=case.advisories,
        grader_advisories=case.grader_advisories,
        warnings=case.warnings,
        hints=case.hints,
        not_granted=case.not_granted,
        plugins=document.suite.plugins,
    )


def _plan(case: SavedCase) -> Plan:
    if case.plan is not None:
        return Plan(
            with_runs=case.plan.with_runs,
            without_runs=case.plan.without_runs,
            two_arms=case.plan.two_arms,
        )
    with_runs, without_runs = len(case.arms.with_runs), len(case.arms.without_runs)
    return Plan(with_runs=with_runs, without_runs=without_runs, two_arms=without_runs > 0)


def _selected(case: SavedCase, document: SavedDocument, plan: Plan) -> Plan:
    """Return what the session had selected: the runs that were made, and those that it owed."""
    keys = set(case.runs())
    for owed in document.suite.runs_not_started:
        if owed.case == case.id:
            keys.update(_key(run) for run in owed.runs)
    with_runs = sum(arm is Arm.WITH for arm, _ in keys)
    return replace(plan, with_runs=with_runs, without_runs=len(keys) - with_runs)


def _key(name: str) -> tuple[Arm, int]:
    arm, _, number = name.rpartition("-")
    return Arm(arm), int(number)


def _run(key: RunKey, run: SavedRun, info: CaseInfo, results_dir: str) -> RunReport:
    reason = run.unmeasured_reason
    if not run.measured and reason is None:
        reason = run.error
    return RunReport(
        key=key,
        case=info,
        outcome=_outcome(run),
        verdicts=_verdicts(run, info.graders),
        score=run.score if run.measured else None,
        passed=run.passed,
        measured=run.measured,
        unmeasured_reason=reason,
        skipped_paid=run.skipped_paid,
        judge_cost_usd=run.judge_cost_usd,
        judge_known_usd=run.judge_known_usd,
        is_taken_over=run.is_taken_over,
        record_path=run.trace_path or "",
        results_dir=results_dir,
        provenance=run.provenance,
        notes=run.notes,
        mocks=run.mocks,
        aborted=run.aborted,
        skills_called=run.skills_called,
    )


def _outcome(run: SavedRun) -> RunOutcome:
    cost_usd = run.agent_cost_usd
    if "agent_cost_usd" not in run.model_fields_set:  # the reference's, or of an early version
        known = run.cost_usd is not None and run.judge_cost_usd is not None
        cost_usd = (run.cost_usd or 0.0) - (run.judge_cost_usd or 0.0) if known else None
    ending = run.ending or (Ending.COMPLETED if run.measured else Ending.AGENT_ERROR)
    # Of one that ended normally the document's error is why it has no score.
    is_reason = run.unmeasured_reason is not None and run.error == run.unmeasured_reason
    return RunOutcome(
        ending=ending,
        error=None if is_reason and Ending(ending) is Ending.COMPLETED else run.error,
        turns=run.turns,
        cost_usd=cost_usd,
        duration_s=run.duration_s if run.duration_s is not None else float("nan"),
        started_at=run.started_at,
        attempts=run.attempts,
        known_cost_usd=run.agent_known_usd,
    )


def _verdicts(run: SavedRun, graders: tuple[Mapping[str, object], ...]) -> tuple[Verdict, ...]:
    """Return the verdicts in the order of the case's graders; others come last."""
    order = {str(one.get("name")): position for position, one in enumerate(graders)}
    definitions = {str(one.get("name")): one for one in graders}
    listed = sorted(
        (*run.graders, *run.without_verdict), key=lambda one: order.get(one.name, len(order))
    )
    return tuple(_verdict(one, definitions.get(one.name, {})) for one in listed)


def _verdict(standing: Standing, definition: Mapping[str, object]) -> Verdict:
    weight = standing.weight
    if weight is None:
        written = definition.get("weight", 1.0)
        weight = float(written) if isinstance(written, int | float) else 1.0
    return Verdict(
        grader=standing.name,
        type=str(definition.get("type", "")),
        status=standing.outcome,
        weight=weight,
        explanation=standing.explanation,
        with_only=standing.with_only,
        scored=standing.scored,
        evidence=standing.evidence,
        votes=standing.votes,
        unreadable_votes=standing.unreadable_votes,
        judge_model=standing.judge_model,
    )
