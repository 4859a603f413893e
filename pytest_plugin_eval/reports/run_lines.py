"""The lines that explain one run: its graders, its ending, the end of its reply, its trace."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_plugin_eval.reports.causes import cause_text
from pytest_plugin_eval.reports.columns import INDENT, cell, hanging
from pytest_plugin_eval.reports.next_steps import Caller, Step, run_step, shown_path
from pytest_plugin_eval.scoring.causes import run_causes
from pytest_plugin_eval.scoring.model import RunReport, Verdict, VerdictStatus
from pytest_plugin_eval.text import cut, decimals, one_line, plural, printable, without_surrogates

__all__ = [
    "TRACE",
    "abort_text",
    "attempts",
    "below",
    "fitted",
    "grader_line",
    "has_reply",
    "reply_lines",
    "run_failure_text",
    "run_name",
    "run_problem",
    "step_lines",
]

EXPLANATION_LENGTH = 200
EVIDENCE_HEAD = 6
EVIDENCE_TAIL = 4
"""Lines shown of the text that a judge saw; both in full where no more than these."""
EVIDENCE_LINE = 200
REPLY_LINES = 10
TRACE = "  trace: "
_NEXT = "  next: "
_MARKS = {
    VerdictStatus.PASSED: "✓",
    VerdictStatus.FAILED: "✗",
    VerdictStatus.ERRORED: "!",
    VerdictStatus.SKIPPED: "\N{EN DASH}",
}


def run_failure_text(
    report: RunReport,
    *,
    threshold: float,
    ascii_only: bool = False,
    caller: Caller | None = None,
) -> str:
    """Return what is told of a run: the cause in one line, the score and a line a grader.

    Then the end of the reply, where the trace is, and, of a *caller*, what to try next. The marks
    are those of `grader_line`; with *ascii_only* they are ``+ x ! -``.
    """
    causes = run_causes(report)
    told = [cause_text(cause, report) for cause in causes]
    lines = [*told[:1], *(f"  also: {text}" for text in told[1:]), f"  {_score(report, threshold)}"]
    for verdict in report.verdicts:
        lines.append(f"  {grader_line(verdict)}")
        if verdict.status is VerdictStatus.FAILED:
            reply = _short_reply(report)
            lines += [f"      {line}" for line in _judge_lines(verdict, reply=reply)]
    if report.measured and report.outcome.error:
        lines.append(f"  ended with: {report.outcome.error}")
    lines = [cell(line, ascii_only=ascii_only) for line in lines]
    if not report.passed and has_reply(report):
        lines += reply_lines(report, ascii_only=ascii_only)
    if not report.passed and report.record_path:
        path = report.record_path if caller is None else shown_path(report.record_path, caller)
        lines.append(f"{TRACE}{cell(path, ascii_only=ascii_only)}")
    if causes and caller is not None:
        lines += step_lines(run_step(causes[0], report, caller), ascii_only=ascii_only)
    return "\n".join(lines)


def fitted(text: str, width: int) -> str:
    """Return a failure's text wrapped at *width*; what is there to be copied stays in one line.

    What continues a line stands further in than the line does.
    """
    lines: list[str] = []
    is_command = False
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        is_whole = is_command or line.startswith(TRACE)
        lines += [line] if is_whole else hanging(line, width, indent + INDENT)
        is_command = line.startswith(_NEXT)
    return "\n".join(lines)


def step_lines(step: Step | None, *, ascii_only: bool = False) -> list[str]:
    """Return what to try next: why, and the command on a line of its own."""
    if step is None:
        return []
    lines = (f"{_NEXT}{step.why}", f"    {step.command}")
    return [cell(line, ascii_only=ascii_only) for line in lines]


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


def abort_text(aborted: Mapping[str, str]) -> str:
    """Return which mock broke a run off, and why."""
    return f"aborted by mock {aborted['server']}/{aborted['tool']}: {aborted['reason']}"


def attempts(report: RunReport) -> str:
    """Return `` (2 attempts)`` of a run that needed more than one, else nothing."""
    count = report.outcome.attempts
    return f" ({count} attempts)" if count > 1 else ""


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


def _score(report: RunReport, threshold: float) -> str:
    if report.score is None:
        return f"no score: the run was not measured{attempts(report)}"
    score, limit = below(report.score, threshold)
    return f"score {score}, threshold {limit}{attempts(report)}"


def _short_reply(report: RunReport) -> str | None:
    """Return the reply where it is told in full below the graders."""
    reply = report.last_message.strip()
    is_shown = not report.passed and has_reply(report) and reply.count("\n") < REPLY_LINES
    return reply if reply and is_shown else None


def _judge_lines(verdict: Verdict, *, reply: str | None) -> list[str]:
    """Return who voted, and head and tail of the text that the judge saw, unless it is *reply*."""
    lines = []
    if verdict.votes is not None and verdict.judge_model is not None:
        unreadable = verdict.unreadable_votes
        note = f", {plural(unreadable, 'vote')} unreadable, as FAIL" if unreadable else ""
        lines.append(f"judge: {verdict.judge_model}{note}")
    if verdict.evidence is not None and verdict.evidence.strip() == reply:
        lines.append("judged: the reply")
    elif verdict.evidence is not None:
        lines += _evidence(verdict.evidence)
    return lines


def _evidence(evidence: str) -> list[str]:
    text = _clean(evidence).strip("\n")
    if not text.strip():
        return ["judged: empty text"]
    lines = text.splitlines()
    left_out = len(lines) - EVIDENCE_HEAD - EVIDENCE_TAIL
    if left_out > 1:  # one line takes no more room than the mark for it
        mark = f"[… {left_out} lines left out]"
        lines = [*lines[:EVIDENCE_HEAD], mark, *lines[-EVIDENCE_TAIL:]]
    if len(lines) == 1:
        return [f"judged: {_middle_cut(lines[0])}"]
    return ["judged:", *(f"  | {_middle_cut(line)}" for line in lines)]


def _middle_cut(line: str) -> str:
    left_out = len(line) - EVIDENCE_LINE
    if left_out <= 0:
        return line
    tail = EVIDENCE_LINE // 4
    return f"{line[: EVIDENCE_LINE - tail]} [… +{left_out} chars] {line[-tail:]}"


def has_reply(report: RunReport) -> bool:
    """Whether the agent answered by something else than the error that is told anyway."""
    problem = f"{report.outcome.error or ''} {report.unmeasured_reason or ''}"
    reply = one_line(report.last_message).strip()
    is_told = bool(reply) and reply in one_line(problem)
    return bool(report.outcome.turns) and not is_told


def reply_lines(report: RunReport, *, ascii_only: bool = False) -> list[str]:
    """Return the last lines of what the agent answered."""
    text = _clean(report.last_message).strip()
    if not text:
        return ["  reply: none"]
    shown = text.splitlines()[-REPLY_LINES:]
    lines = (cell(_middle_cut(line), ascii_only=ascii_only) for line in shown)
    return ["  reply ends:", *(f"    {line}".rstrip() for line in lines)]


def _clean(text: str) -> str:
    return printable(without_surrogates(text.replace("\r\n", "\n")))
