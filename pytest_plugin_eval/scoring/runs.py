"""The score of one run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pytest_plugin_eval.records.model import Ending, RunKey, RunOutcome
from pytest_plugin_eval.scoring.model import CaseInfo, RunReport, Verdict, VerdictStatus

__all__ = ["mean", "meets_threshold", "run_report", "sinks_case", "total"]


def run_report(
    *,
    key: RunKey,
    case: CaseInfo,
    outcome: RunOutcome,
    verdicts: tuple[Verdict, ...],
    record_path: str,
    provenance: Mapping[str, str],
    last_message: str,
    judge_cost_usd: float | None = 0.0,
) -> RunReport:
    """Return the graded run: its score, or why it has none.

    A run has no score when its outcome cannot be graded, when a scored grader came to no verdict,
    or when nothing was left to score. Spec: behaviour-evals, 5.1; deviations, D1, D2, D4, D10.
    """
    score, reason = _scored(outcome, verdicts)
    return RunReport(
        key=key,
        case=case,
        outcome=outcome,
        verdicts=verdicts,
        score=score,
        passed=bool(score) and all(_passed(v) for v in verdicts if _counts(v)),
        measured=score is not None,
        unmeasured_reason=reason,
        skipped_paid=any(v.status is VerdictStatus.SKIPPED for v in verdicts),
        judge_cost_usd=judge_cost_usd,
        record_path=record_path,
        provenance=provenance,
        last_message=last_message,
    )


def _scored(outcome: RunOutcome, verdicts: tuple[Verdict, ...]) -> tuple[float | None, str | None]:
    """Return the score of a run, or why it has none."""
    if outcome.ending is Ending.ABORTED:
        return 0.0, None  # an ordinary 0 in every mean (spec: 6)
    if not outcome.is_measured:
        return None, outcome.error or f"run ended: {outcome.ending.value}"
    reason = _no_verdict(verdicts)
    if reason is not None:
        return None, reason
    score = _score(verdicts)
    return score, "no scored grader was evaluated" if score is None else None


def sinks_case(score: float, threshold: float, planned: int) -> bool:
    """Return whether a run of this score alone makes its case miss the threshold.

    ``(planned - 1 + score) / planned < threshold``.
    """
    return not meets_threshold((planned - 1 + score) / planned, threshold)


def meets_threshold(score: float, threshold: float) -> bool:
    """Return whether *score* is at or above *threshold*.

    Compared as it stands, without an allowance for rounding, as the reference does: its verdicts
    and ours must not differ. Spec: behaviour-evals, 5.3.
    """
    return score >= threshold


def total(values: Iterable[float]) -> float:
    """Return the plain sum from left to right.

    `sum` compensates for rounding from Python 3.12 on: it would give other digits there.
    """
    result = 0.0
    for value in values:
        result += value
    return result


def mean(values: Iterable[float]) -> float | None:
    """Return the mean, or ``None`` of nothing."""
    listed = tuple(values)
    return total(listed) / len(listed) if listed else None


def _no_verdict(verdicts: tuple[Verdict, ...]) -> str | None:
    """Return why a scored grader came to no verdict, or ``None`` when each did.

    Graders left out on purpose are not scored; a scored one that was skipped met the cost ceiling.
    """
    for verdict in verdicts:
        if not verdict.scored or _reached(verdict):
            continue
        word = "errored" if verdict.status is VerdictStatus.ERRORED else "skipped"
        return f"grader {verdict.grader!r} {word}: {verdict.explanation}"
    return None


def _score(verdicts: tuple[Verdict, ...]) -> float | None:
    """Return Σ weight of passed / Σ weight over the scored verdicts, or ``None`` without any."""
    weight = total(v.weight for v in verdicts if _counts(v))
    if not weight:
        return None
    return total(v.weight for v in verdicts if _counts(v) and _passed(v)) / weight


def _counts(verdict: Verdict) -> bool:
    return verdict.scored and _reached(verdict)


def _reached(verdict: Verdict) -> bool:
    return verdict.status in {VerdictStatus.PASSED, VerdictStatus.FAILED}


def _passed(verdict: Verdict) -> bool:
    return verdict.status is VerdictStatus.PASSED
