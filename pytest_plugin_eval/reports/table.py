"""The summary table in pytest's own summary. Spec: behaviour-evals, 8.2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_plugin_eval.quality.model import QualityReport
from pytest_plugin_eval.records.model import Arm
from pytest_plugin_eval.reports.causes import TITLES, case_cause_text
from pytest_plugin_eval.reports.columns import (
    INDENT,
    cell,
    display_width,
    hanging,
    padded,
    signed,
    wrapped,
)
from pytest_plugin_eval.reports.composite import composite_lines, known_quality_cost
from pytest_plugin_eval.reports.money import short_money
from pytest_plugin_eval.reports.next_steps import Caller, case_step, run_step, shown_path
from pytest_plugin_eval.reports.run_lines import (
    TRACE,
    abort_text,
    attempts,
    below,
    grader_line,
    has_reply,
    reply_lines,
    run_failure_text,
    run_name,
    run_problem,
    step_lines,
)
from pytest_plugin_eval.reports.summary import summary_lines, unmeasured
from pytest_plugin_eval.scoring.causes import case_causes, run_causes
from pytest_plugin_eval.scoring.costs import runs_cost
from pytest_plugin_eval.scoring.model import CaseResult, RunReport, SuiteResult, VerdictStatus
from pytest_plugin_eval.scoring.runs import meets_threshold, sinks_case
from pytest_plugin_eval.text import cut, decimals, plural

__all__ = ["case_reasons", "case_rows", "run_failure_text", "table_lines", "verdict_text"]

ONE_ARM = (("SCORE", 5), ("PASS%", 5), ("RUNS", 4), ("COST", 7))
TWO_ARMS = (("WITH", 5), ("W/OUT", 5), ("Δ", 6), ("RUNS", 4), ("COST", 7))
NOTE_LENGTH = 1000
ABSENT = "—"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    name: str
    cells: tuple[str, ...]
    note: str = ""


def table_lines(
    suite: SuiteResult,
    *,
    width: int,
    heading: bool = False,
    ascii_only: bool = False,
    quality: Sequence[QualityReport] = (),
) -> list[str]:
    """Return the table of a suite and its summary, no line longer than *width* where words allow.

    A name or a note that does not fit its row stands on lines of its own, in full. *heading* puts
    the suite's root above, for sessions with several; the composites of *quality* come last.
    """
    two_arms = any(case.without_runs for case in suite.cases)
    planned_two = any(case.info.plan.two_arms for case in suite.cases)
    rows = [_row(case, two_arms=two_arms, note=_note(case)) for case in suite.cases]
    lines = _table(rows, two_arms=two_arms, width=width, ascii_only=ascii_only)
    if heading:
        lines = [cell(_heading(suite), ascii_only=ascii_only), *lines]
    lines.append("")
    if planned_two and not two_arms:
        lines += hanging("no run without the plugin was made, so there is no W/OUT and no Δ", width)
    for text in summary_lines(suite, quality_usd=known_quality_cost(quality)):
        lines += hanging(cell(text, ascii_only=ascii_only), width)
    composites = composite_lines(quality, width=width, ascii_only=ascii_only)
    return [*lines, "", *composites] if composites else lines


def case_rows(suite: SuiteResult) -> list[tuple[str, ...]]:
    """Return the cells of the table: the titles, then a row a case with its whole note last."""
    two_arms = any(case.without_runs for case in suite.cases)
    titles = [title for title, _ in (TWO_ARMS if two_arms else ONE_ARM)]
    rows = [_row(case, two_arms=two_arms, note=_note(case)) for case in suite.cases]
    return [("CASE", *titles, "NOTES"), *((row.name, *row.cells, row.note) for row in rows)]


def verdict_text(
    case: CaseResult,
    *,
    threshold: float,
    selected: int,
    planned: int,
    width: int = 80,
    ascii_only: bool = False,
    caller: Caller | None = None,
) -> str:
    """Return why a case failed: the causes, its table row, then the failing graders by run.

    *selected* and *planned* count runs of both arms. Of a *caller* it ends with what to try next.
    """
    two_arms = bool(case.without_runs)
    causes = case_causes(case, threshold)
    told = [case_cause_text(cause, case) for cause in causes]
    told = [*told[:1], *(f"also {text}" for text in told[1:]), *case_reasons(case, threshold)]
    lines = [cell(reason, ascii_only=ascii_only) for reason in told]
    if selected < planned:
        lines.append(f"only {selected} of {plural(planned, 'planned run')} were selected")
    lines.append("")
    row = _row(case, two_arms=two_arms, note=_delta_note(case))
    lines += _table([row], two_arms=two_arms, width=width, ascii_only=ascii_only)
    for run in case.runs:
        lines += [cell(line, ascii_only=ascii_only) for line in _run_lines(run, caller)]
    shown = next((run for cause in causes for run in cause.runs), None)
    if shown is not None and has_reply(shown) and not _is_told(shown, case, threshold):
        lines.append(f"of {run_name(shown)}:")
        lines += reply_lines(shown, ascii_only=ascii_only)
    if causes and caller is not None:
        first = causes[0]
        step = run_step(first.cause, first.runs[0], caller) if first.runs else None
        step = step or case_step(first.kind, case.info, caller)
        lines += step_lines(step, ascii_only=ascii_only)
    return "\n".join(line.rstrip() for line in lines)


def _is_told(run: RunReport, case: CaseResult, threshold: float) -> bool:
    """Whether the run failed or erred by itself, so that its own text holds its reply."""
    planned = case.info.plan.with_runs
    return run.score is None or sinks_case(run.score, threshold, planned)


def case_reasons(case: CaseResult, threshold: float) -> list[str]:
    """Return why a case did not pass, a sentence each; empty when it did."""
    if case.passed:
        return []
    reasons = []
    if case.score is not None and not meets_threshold(case.score, threshold):
        score, limit = below(case.score, threshold)
        count = sum(run.measured for run in case.with_runs)
        reasons.append(
            f"{case.info.name}: WITH {score} is below the threshold {limit} "
            f"({plural(count, 'run')})"
        )
    lost = unmeasured(case.runs)
    if lost:
        total = len(case.with_runs) + len(case.without_runs)
        reasons.append(
            f"{case.info.name}: {lost} of {plural(total, 'run')} not measured; "
            "a case passes only when all its runs are"
        )
    if case.missed_delta is not None:
        reasons.append(f"{case.info.name}: {_missed_delta(case, case.missed_delta)}")
    return reasons or [f"{case.info.name}: not every planned run was made"]


def _missed_delta(case: CaseResult, asked: float) -> str:
    if case.delta is None:
        why = case.withheld or "the case was run in one arm"
        return f"Δ is not known ({why}), and --eval-min-delta asks for {asked:g}"
    delta, limit = below(case.delta, asked)
    return f"Δ {delta} is below --eval-min-delta {limit}"


def _run_lines(run: RunReport, caller: Caller | None) -> list[str]:
    """Return the failing graders of a with-run, or why a run of either arm was not measured."""
    path = run.record_path if caller is None else shown_path(run.record_path, caller)
    trace = [f"{TRACE}{path}"] if path else []
    if not run.measured:
        return [f"{run_name(run)}  not measured{attempts(run)}: {run.unmeasured_reason}", *trace]
    if run.key.arm is not Arm.WITH or run.passed:
        return []
    failed = [v for v in run.verdicts if v.status is VerdictStatus.FAILED]
    score = decimals(run.score or 0)
    head = f"{run_name(run)}  score {score}{attempts(run)}"
    if run.aborted is not None:
        return [f"{head}: {abort_text(run.aborted)}", *trace]
    causes = ", ".join(TITLES[cause.kind] for cause in run_causes(run))
    return [f"{head}: {causes}", *(f"  {grader_line(v)}" for v in failed), *trace]


def _table(rows: Sequence[_Row], *, two_arms: bool, width: int, ascii_only: bool) -> list[str]:
    columns = TWO_ARMS if two_arms else ONE_ARM
    titles = tuple(cell(title, ascii_only=ascii_only) for title, _ in columns)
    cells = [tuple(cell(text, ascii_only=ascii_only) for text in row.cells) for row in rows]
    widths = [
        max(least, *(len(line[i]) for line in [titles, *cells]))
        for i, (_, least) in enumerate(columns)
    ]
    names = [cell(row.name, ascii_only=ascii_only) for row in rows]
    room = width - sum(widths) - len(widths) - 2
    name_width = max([4, *(display_width(name) for name in names if display_width(name) <= room)])
    lines = [_line("CASE", titles, name_width, widths) + " NOTES"]
    for row, name, line_cells in zip(rows, names, cells, strict=True):
        fits = display_width(name) <= name_width
        if not fits:
            lines += wrapped(name, width, "")
        line = _line(name if fits else "", line_cells, name_width, widths)
        note = cut(cell(row.note, ascii_only=ascii_only), NOTE_LENGTH)
        if display_width(line) + 1 + display_width(note) <= width:
            lines.append(f"{line} {note}".rstrip())
        else:
            lines += [line.rstrip(), *wrapped(note, width, INDENT)]
    return lines


def _line(name: str, cells: Sequence[str], name_width: int, widths: Sequence[int]) -> str:
    numbers = " ".join(padded(text, width) for text, width in zip(cells, widths, strict=True))
    return f"{padded(name, name_width)}  {numbers}"


def _row(case: CaseResult, *, two_arms: bool, note: str) -> _Row:
    score = ABSENT if case.score is None else decimals(case.score)
    if two_arms:
        without = ABSENT if case.score_without is None else decimals(case.score_without)
        rates: tuple[str, ...] = (
            score,
            without,
            ABSENT if case.delta is None else signed(case.delta),
        )
    else:
        share = case.pass_rate
        rates = (score, ABSENT if share is None else f"{decimals(share * 100, 0)}%")
    runs = case.runs
    return _Row(
        name=case.info.name,
        cells=(*rates, _runs(case), short_money(runs_cost(runs))),
        note=note,
    )


def _runs(case: CaseResult) -> str:
    """Return the n of the rates: the runs measured, and of how many planned when not all were."""
    measured = sum(run.measured for run in case.runs)
    planned = case.info.plan.with_runs + case.info.plan.without_runs
    return str(measured) if measured == planned else f"{measured}/{planned}"


def _note(case: CaseResult) -> str:
    """Return what the reader has to know of a case, the run that failed first last."""
    parts = []
    total = len(case.with_runs) + len(case.without_runs)
    lost = unmeasured(case.runs)
    if lost:
        parts.append(f"{lost} of {plural(total, 'run')} not measured")
    missing = case.info.plan.with_runs + case.info.plan.without_runs - total
    if missing > 0:
        parts.append(f"{plural(missing, 'planned run')} not made")
    if case.missed_delta is not None and case.delta is not None:
        parts.append(_missed_delta(case, case.missed_delta))
    parts += [note for note in (_delta_note(case), _failure_note(case)) if note]
    return "; ".join(parts)


def _delta_note(case: CaseResult) -> str:
    return f"Δ withheld: {case.withheld}" if case.withheld and case.without_runs else ""


def _failure_note(case: CaseResult) -> str:
    """Return the first error of a with-run, else the heaviest failing grader of the first such run.

    Spec: behaviour-evals, 8.2; a grader that is not scored takes part. That a mock broke a run off
    is told as an error would be.
    """
    runs = case.with_runs if not _lost_without_only(case) else case.without_runs
    for run in runs:
        problem = run_problem(run)
        if problem is None and run.aborted is not None:
            problem = abort_text(run.aborted)
        if problem:
            return f"{run_name(run)}: {problem}"
    for run in runs:
        failed = [v for v in run.verdicts if v.status is VerdictStatus.FAILED]
        if failed:
            worst = max(failed, key=lambda verdict: verdict.weight)
            advisory = case.info.grader_advisories.get(worst.grader)
            return advisory or f"{worst.grader}: {worst.explanation}"
    return ""


def _lost_without_only(case: CaseResult) -> bool:
    lost_with = any(not run.measured for run in case.with_runs)
    return not lost_with and any(not run.measured for run in case.without_runs)


def _heading(suite: SuiteResult) -> str:
    names = ", ".join(plugin["name"] for plugin in suite.info.plugins if "name" in plugin)
    return f"{names}: {suite.info.root}" if names else suite.info.root
