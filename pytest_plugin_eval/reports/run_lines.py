"""The lines that explain one run: its graders, its ending, the end of its reply, its trace."""

from __future__ import annotations

from pytest_plugin_eval.reports.columns import cell, decimals
from pytest_plugin_eval.scoring.model import RunReport, Verdict, VerdictStatus
from pytest_plugin_eval.text import cut, printable, without_surrogates

__all__ = ["below", "grader_line", "run_failure_text", "run_name", "run_problem"]

EXPLANATION_LENGTH = 200
EVIDENCE_LENGTH = 500
REPLY_LINES = 10
_MARKS = {
    VerdictStatus.PASSED: "✓",
    VerdictStatus.FAILED: "✗",
    VerdictStatus.ERRORED: "!",
    VerdictStatus.SKIPPED: "\N{EN DASH}",
}


def run_failure_text(report: RunReport, *, threshold: float, ascii_only: bool = False) -> str:
    """Return what is told of a run: the score, a line a grader and, on failures, where to look.

    The marks are those of `grader_line`; with *ascii_only* they are ``+ x ! -``.
    """
    lines = [_headline(report, threshold)]
    for verdict in report.verdicts:
        lines.append(f"  {grader_line(verdict)}")
        if verdict.status is VerdictStatus.FAILED and verdict.evidence:
            lines.append(f"      judged: {cut(verdict.evidence, EVIDENCE_LENGTH)}")
    if report.measured and report.outcome.error:
        lines.append(f"  ended with: {report.outcome.error}")
    lines = [cell(line, ascii_only=ascii_only) for line in lines]
    if not report.passed and report.outcome.turns:
        lines += _reply(report.last_message, ascii_only=ascii_only)
    if not report.passed and report.record_path:
        lines.append(f"  trace: {cell(report.record_path, ascii_only=ascii_only)}")
    return "\n".join(lines)


def grader_line(verdict: Verdict) -> str:
    """Return mark, name, weight and explanation of a grader.

    ``✓`` passed, ``✗`` failed, ``!`` came to no verdict, a dash: left out on purpose.
    """
    if verdict.scored or not verdict.with_only:
        note = f"weight {verdict.weight:g}" + ("" if verdict.scored else ", not scored")
    else:
        note = "with-only, not scored"
    explanation = cut(verdict.explanation, EXPLANATION_LENGTH)
    return f"{_MARKS[verdict.status]} {verdict.grader} ({note}): {explanation}"


def run_name(report: RunReport) -> str:
    """Return the run's name within its case, as in its node id: ``with-2``."""
    return f"{report.key.arm.value}-{report.key.number}"


def run_problem(report: RunReport) -> str | None:
    """Return the run's error, or why it was not measured; ``None`` when it ended normally."""
    return report.outcome.error or report.unmeasured_reason


def below(score: float, threshold: float) -> tuple[str, str]:
    """Return score and threshold with as many decimals, two at least, as tell them apart."""
    for digits in range(2, 17):
        texts = decimals(score, digits), decimals(threshold, digits)
        if texts[0] != texts[1]:
            return texts
    return decimals(score), decimals(threshold)


def _headline(report: RunReport, threshold: float) -> str:
    name = f"{report.case.name} {run_name(report)}"
    if report.score is None:
        return f"{name}: not measured: {report.unmeasured_reason or 'no reason is known'}"
    score, limit = below(report.score, threshold)
    return f"{name}: score {score}, threshold {limit}"


def _reply(message: str, *, ascii_only: bool) -> list[str]:
    text = printable(without_surrogates(message)).strip()
    if not text:
        return ["  reply: none"]
    shown = text.splitlines()[-REPLY_LINES:]
    return ["  reply ends:", *(f"    {cell(line, ascii_only=ascii_only)}" for line in shown)]
