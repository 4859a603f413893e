"""The result document, ``aggregate-result.json``. Spec: behaviour-evals, 9."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pytest_plugin_eval import __version__
from pytest_plugin_eval.quality.model import QualityReport
from pytest_plugin_eval.records.model import Arm
from pytest_plugin_eval.reports.composite import composite_document, quality_cost
from pytest_plugin_eval.reports.json_text import json_chunks
from pytest_plugin_eval.reports.judging import judge_models
from pytest_plugin_eval.scoring.costs import costs_of, run_cost
from pytest_plugin_eval.scoring.hints import judge_hints
from pytest_plugin_eval.scoring.model import (
    CaseResult,
    NotStarted,
    RunReport,
    SuiteResult,
    Verdict,
    VerdictStatus,
)
from pytest_plugin_eval.text import without_surrogates

__all__ = ["SCHEMA_VERSION", "document", "document_chunks", "document_text"]

SCHEMA_VERSION = 1
_REACHED = (VerdictStatus.PASSED, VerdictStatus.FAILED)


def document(
    suite: SuiteResult, *, quality: Sequence[QualityReport] | None = None
) -> dict[str, object]:
    """Return the document as plain values.

    The fields of the reference come in its order; ours stand between them (``harness``,
    ``loadErrors``) or at the end of their object. *quality*: the scores of the plugins under test,
    the main one first; ``None`` where they were not asked for.
    """
    return {**_fields(suite, quality), "cases": [_case(case) for case in suite.cases]}


def _fields(suite: SuiteResult, quality: Sequence[QualityReport] | None) -> dict[str, object]:
    """Return the document with an iterator of its cases, each made when it is asked for."""
    info = suite.info
    fields: dict[str, object] = {
        "schemaVersion": SCHEMA_VERSION,
        "claudeVersion": info.claude_version,
        "harness": {"name": "pytest-plugin-eval", "version": __version__, "mode": info.mode},
        "startedAt": info.started_at,
        "durationSeconds": _whole_seconds(info.duration_s),
        "costUsd": suite.cost_usd,
        "partial": suite.partial_reason is not None,
    }
    if suite.partial_reason is not None:
        fields["partialReason"] = suite.partial_reason
    fields["suite"] = _suite(suite)
    fields["loadErrors"] = list(suite.load_errors)
    fields["cases"] = map(_case, suite.cases)
    fields["aggregates"] = _suite_aggregates(suite)
    costs = fields["costs"] = _costs(run for case in suite.cases for run in case.runs)
    if quality is not None:
        costs["qualityUsd"] = quality_cost(quality)
        fields |= _composites(quality)
    return fields


def document_text(suite: SuiteResult, *, quality: Sequence[QualityReport] | None = None) -> str:
    """Return the document as JSON: two-space indentation, non-ASCII as it is, a final newline.

    Whole numbers are written without a fraction, as the reference writes them. A number that
    is not finite is written as null.
    """
    return "".join(document_chunks(suite, quality=quality))


def document_chunks(
    suite: SuiteResult, *, quality: Sequence[QualityReport] | None = None
) -> Iterator[str]:
    """Yield the parts of `document_text`, a case at a time: a large suite's is tens of MB."""
    yield from map(without_surrogates, json_chunks(_fields(suite, quality)))
    yield "\n"


def _composites(quality: Sequence[QualityReport]) -> dict[str, object]:
    """Return ``composite``, null where no plugin could be scored, and all where there are more."""
    found = [composite_document(report) for report in quality]
    fields: dict[str, object] = {"composite": found[0] if found else None}
    return fields | ({"composites": found} if len(found) > 1 else {})


def _suite(suite: SuiteResult) -> dict[str, object]:
    info = suite.info
    fields: dict[str, object] = {"root": info.root, "ablation": info.ablation}
    optional = {
        "pluginId": info.plugin_id,
        "modelOverride": info.model,
        "judgeModel": info.judge_model,
        "caseFilter": info.case_filter,
        "tagFilters": list(info.tag_filters) or None,
    }
    fields |= {name: value for name, value in optional.items() if value is not None}
    fields["threshold"] = info.threshold
    fields["concurrency"] = info.concurrency
    fields["plugins"] = [_plugin(plugin) for plugin in info.plugins]
    fields["evalDir"] = info.eval_dir
    fields["freeOnly"] = info.free_only
    if info.min_delta is not None:
        fields["minDelta"] = info.min_delta
    fields["spentUsd"] = info.spent_usd
    ours: dict[str, object] = {
        "maxCostUsd": info.ceiling_usd,
        "shard": info.shard,
        "shardCases": info.shard_cases,
        "notStarted": list(info.not_started) or None,
        "runsNotStarted": [_not_started(runs) for runs in info.runs_not_started] or None,
        "runsTakenOver": info.resumed or None,
        "judgeModels": list(judge_models(suite)) or None,
        "recorded": info.recorded or None,
    }
    return fields | {name: value for name, value in ours.items() if value is not None}


def _not_started(runs: NotStarted) -> dict[str, object]:
    return {"case": runs.case, "runs": list(runs.runs), "reason": runs.reason}


def _costs(runs: Iterable[RunReport]) -> dict[str, object]:
    """Return the sums by arm and of agent and judge; a sum with an unknown part is null.

    ``withUsd`` and ``withoutUsd``, as ``agentUsd`` and ``judgeUsd``, make up ``costUsd``. What the
    deeper layers of the quality score cost is no run's: ``qualityUsd`` is beside that sum, and in
    ``spentUsd``.
    """
    listed = tuple(runs)
    costs = costs_of(listed)
    fields: dict[str, object] = {"withUsd": costs.with_arm.usd}
    if any(run.key.arm is Arm.WITHOUT for run in listed):
        fields["withoutUsd"] = costs.without_arm.usd
    return fields | {
        "agentUsd": costs.agent.usd,
        "judgeUsd": costs.judge.usd,
        "knownUsd": costs.total.known_usd,
        "unknownRuns": costs.total.unknown_runs,
    }


def _plugin(plugin: Mapping[str, str]) -> dict[str, str]:
    return {name: plugin[name] for name in ("name", "version", "path", "problem") if name in plugin}


def _suite_aggregates(suite: SuiteResult) -> dict[str, object]:
    fields: dict[str, object] = {
        "casesTotal": len(suite.cases),
        "casesPassed": suite.cases_passed,
        "overallScore": suite.overall_score,
        "overallPassRate": suite.overall_pass_rate,
    }
    if not suite.cases:
        fields |= {"overallScore": 0, "overallPassRate": 0}  # As in the reference: nothing ran.
    if suite.mean_delta is not None:
        fields["meanDelta"] = suite.mean_delta
    runs = [run for case in suite.cases for run in case.runs]
    fields["runsTotal"] = len(runs)
    fields["runsMeasured"] = sum(run.measured for run in runs)
    return fields


def _case(case: CaseResult) -> dict[str, object]:
    info = case.info
    fields: dict[str, object] = {
        "name": info.name,
        "dir": info.id,
        "source": info.source,
        "promptMarkdown": info.prompt,
    }
    if info.model is not None:
        fields["model"] = info.model
    fields |= {
        "runsPerCase": info.own_runs,
        "runsPlanned": info.plan.with_runs or info.plan.without_runs,
        "timeoutSeconds": info.timeout_s,
        "maxTurns": info.max_turns,
        "graders": [dict(grader) for grader in info.graders],
        "arms": _arms(case),
    }
    if info.advisories:
        fields["advisories"] = list(info.advisories)
    if info.grader_advisories:
        fields["graderAdvisories"] = dict(info.grader_advisories)
    hints = (*info.hints, *judge_hints(case.runs))
    if hints:
        fields["hints"] = list(hints)
    fields["aggregates"] = _case_aggregates(case)
    fields["costs"] = _costs(case.runs)
    fields["passed"] = case.passed
    fields["tags"] = list(info.tags)
    fields["notGranted"] = list(info.not_granted)
    fields["warnings"] = list(info.warnings)
    fields["plan"] = {
        "with": info.plan.with_runs,
        "without": info.plan.without_runs,
        "twoArms": info.plan.two_arms,
    }
    return fields


def _arms(case: CaseResult) -> dict[str, object]:
    arms: dict[str, object] = {"with": [_run(run) for run in case.with_runs]}
    if case.without_runs:
        arms["without"] = [_run(run) for run in case.without_runs]
    return arms


def _case_aggregates(case: CaseResult) -> dict[str, object]:
    """Return the numbers of the case; those that the arms do not allow are left out (5.3.1)."""
    fields: dict[str, object] = {"score": case.score, "passRate": case.pass_rate}
    optional = {
        "scoreWithout": case.score_without,
        "passRateWithout": case.pass_rate_without,
        "delta": case.delta,
        "withheld": case.withheld,
    }
    fields |= {name: value for name, value in optional.items() if value is not None}
    return fields


def _run(run: RunReport) -> dict[str, object]:
    outcome = run.outcome
    fields: dict[str, object] = {
        "score": run.score,
        "passed": run.passed,
        "turns": outcome.turns,
        "costUsd": run_cost(run),
        "judgeCostUsd": run.judge_cost_usd,
        "durationSeconds": _whole_seconds(outcome.duration_s),
        "startedAt": outcome.started_at,
        "error": outcome.error or run.unmeasured_reason,
        "tracePath": run.record_path,
        "skippedPaidGraders": run.skipped_paid,
    }
    if run.aborted is not None:
        fields["aborted"] = dict(run.aborted)
    if run.mocks is not None:
        fields["mocks"] = dict(run.mocks)
    fields |= {
        "graders": [_verdict(v) for v in run.verdicts if v.status in _REACHED],
        "run": run.key.number,
        "measured": run.measured,
    }
    if run.unmeasured_reason is not None:
        fields["unmeasuredReason"] = run.unmeasured_reason
    fields["ending"] = outcome.ending.value
    fields["attempts"] = outcome.attempts
    if run.skills_called is not None:
        fields["skillsCalled"] = list(run.skills_called)
    if run.is_taken_over:
        fields["takenOver"] = True
    # Not to be had from the sum by subtraction, which rounds.
    fields["agentCostUsd"] = outcome.cost_usd
    known = {"agentKnownUsd": outcome.known_cost_usd, "judgeKnownUsd": run.judge_known_usd}
    fields |= {name: usd for name, usd in known.items() if usd}
    without_verdict = [v for v in run.verdicts if v.status not in _REACHED]
    if without_verdict:
        fields["gradersWithoutVerdict"] = [_no_verdict(v) for v in without_verdict]
    if run.provenance:
        fields["provenance"] = dict(sorted(run.provenance.items()))
    if run.notes:
        fields["notes"] = list(run.notes)
    return fields


def _verdict(verdict: Verdict) -> dict[str, object]:
    fields: dict[str, object] = {
        "name": verdict.grader,
        "passed": verdict.status is VerdictStatus.PASSED,
        "weight": verdict.weight,
        "explanation": verdict.explanation,
        "withOnly": verdict.with_only,
        "scored": verdict.scored,
    }
    if verdict.votes is not None:
        fields["judgeVotes"] = list(verdict.votes)
    if verdict.evidence is not None and verdict.type != "baseline":
        fields["evidence"] = verdict.evidence
    if verdict.unreadable_votes:
        fields["unreadableVotes"] = verdict.unreadable_votes
    if verdict.judge_model is not None:
        fields["judgeModel"] = verdict.judge_model
    return fields


def _no_verdict(verdict: Verdict) -> dict[str, object]:
    return {
        "name": verdict.grader,
        "status": verdict.status.value,
        "explanation": verdict.explanation,
        "scored": verdict.scored,
    }


def _whole_seconds(duration_s: float) -> int | None:
    return math.floor(duration_s + 0.5) if math.isfinite(duration_s) else None
