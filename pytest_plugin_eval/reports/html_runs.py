"""Runs as a page shows them, in short and with all that their records hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.records.model import Arm, FileEntry, FileKind, RunRecord, Vote
from pytest_plugin_eval.reports.html_anchors import Anchors
from pytest_plugin_eval.reports.html_model import (
    Fact,
    FileView,
    PairView,
    RunView,
    VerdictView,
    VoteView,
)
from pytest_plugin_eval.reports.html_records import Records
from pytest_plugin_eval.reports.html_trace import first_difference, transcript
from pytest_plugin_eval.reports.money import money
from pytest_plugin_eval.reports.run_lines import abort_text, run_name, run_problem
from pytest_plugin_eval.scoring.costs import is_judged, runs_cost
from pytest_plugin_eval.scoring.model import CaseResult, RunReport, Verdict
from pytest_plugin_eval.text import cut, decimals, dollars, plural

__all__ = ["pair_views", "run_view", "seconds_text", "verdict_note"]

EXPLANATION_LENGTH = 4_000
EVIDENCE_LENGTH = 8_000
FILE_LENGTH = 8_000
REPLY_LENGTH = 1_000
MOST_FILES = 50


def run_view(run: RunReport, anchors: Anchors) -> RunView:
    """Return a run without its record and its verdicts."""
    if not run.measured:
        status, score = "unmeasured", "not measured"
    else:
        value = run.score or 0.0
        status = "passed" if run.passed else ("partly" if value else "failed")
        score = decimals(value)
    outcome = run.outcome
    parts = [
        money(runs_cost([run])),
        plural(outcome.turns, "turn"),
        seconds_text(outcome.duration_s),
    ]
    problem = run_problem(run) or ""
    if run.aborted is not None:
        problem = abort_text(run.aborted)
    if not run.measured:
        problem = run.unmeasured_reason or problem or "no reason is known"
    return RunView(
        anchor=anchors.run(run),
        name=run_name(run),
        arm=run.key.arm.value,
        status=status,
        score=score,
        line=" · ".join(parts),
        problem=cut(problem, EXPLANATION_LENGTH),
    )


def pair_views(case: CaseResult, records: Records, anchors: Anchors) -> Iterator[PairView]:
    """Yield the runs by number with all that is known of them, each record read when it is due."""
    arms = [{run.key.number: run for run in runs} for runs in (case.with_runs, case.without_runs)]
    for number in sorted({number for arm in arms for number in arm}):
        views = [_full_view(arm[number], records, anchors) for arm in arms if number in arm]
        difference = ""
        traces = [view.transcript for view in views]
        if len(traces) == len(Arm) and traces[0] is not None and traces[1] is not None:
            *divided, difference = first_difference(traces[0], traces[1])
            views = [
                replace(view, transcript=one) for view, one in zip(views, divided, strict=True)
            ]
        yield PairView(
            number=number, anchor=f"{views[0].anchor}:", runs=tuple(views), difference=difference
        )


def seconds_text(seconds: float) -> str:
    """Return how long something took: ``1.5 s``."""
    return f"{decimals(seconds, 1)} s"


def verdict_note(verdict: Verdict) -> str:
    """Return weight and standing of a grader in words; empty for an ordinary one."""
    parts = [] if verdict.weight == 1 else [f"weight {verdict.weight:g}"]
    if verdict.with_only:
        parts.append("with-only, not scored")
    elif not verdict.scored:
        parts.append("not scored")
    return ", ".join(parts)


def _full_view(run: RunReport, records: Records, anchors: Anchors) -> RunView:
    record, missing = None, ""
    try:
        record = records.read(run)
    except RecordError as error:
        missing = str(error)
    view = replace(
        run_view(run, anchors),
        facts=tuple(_facts(run)),
        notes=run.notes,
        verdicts=tuple(_verdict(run, one, record, anchors) for one in run.verdicts),
        missing=missing,
    )
    if record is None:
        return view
    files = [entry for entry in record.files if entry.created]
    more = len(files) - MOST_FILES
    return replace(
        view,
        files=tuple(map(_file, files[:MOST_FILES])),
        files_note=f"and {plural(more, 'further file')}" if more > 0 else "",
        transcript=transcript(record.trace),
    )


def _facts(run: RunReport) -> Iterator[Fact]:
    outcome = run.outcome
    yield Fact(name="ended", value=outcome.ending.value.replace("_", " "))
    yield Fact(name="started", value=outcome.started_at)
    if outcome.attempts > 1:
        yield Fact(name="attempts", value=str(outcome.attempts))
    if is_judged(run):
        judge = run.judge_cost_usd
        value = dollars(judge) if judge is not None else "unknown"
        yield Fact(name="judge's part of the cost", value=value)
    for name in ("model", "claude_version", "recorded_at"):
        if run.provenance.get(name):
            yield Fact(name=name.replace("_", " "), value=run.provenance[name])
    if run.skipped_paid:
        yield Fact(name="graders", value="those that cost money were not evaluated")
    if run.is_taken_over:
        yield Fact(name="made by", value="an earlier session")
    if run.mocks is not None:
        yield from _mocks(run.mocks)
    if run.record_path:
        yield Fact(name="record", value=run.record_path)


def _mocks(mocks: Mapping[str, object]) -> Iterator[Fact]:
    calls = mocks.get("calls")
    if isinstance(calls, Mapping):
        text = f"{plural(int(str(calls.get('total', 0))), 'call')}, {calls.get('errors', 0)} failed"
        unmocked = calls.get("unmocked")
        if isinstance(unmocked, (list, tuple)) and unmocked:
            text += f", not mocked: {', '.join(map(str, unmocked))}"
        yield Fact(name="mocks", value=text)
    warnings = mocks.get("warnings")
    if isinstance(warnings, (list, tuple)):
        for warning in warnings:
            yield Fact(name="mock warning", value=str(warning))


def _verdict(
    run: RunReport, verdict: Verdict, record: RunRecord | None, anchors: Anchors
) -> VerdictView:
    evidence = verdict.evidence
    unreadable = verdict.unreadable_votes
    judge = verdict.judge_model or ""
    if unreadable:
        judge += f", {plural(unreadable, 'vote')} unreadable and counted as FAIL"
    return VerdictView(
        grader=verdict.grader,
        anchor=anchors.grader(run.key.case, verdict.grader),
        status=verdict.status.value,
        note=verdict_note(verdict),
        explanation=cut(verdict.explanation, EXPLANATION_LENGTH),
        votes=tuple(_votes(verdict, record.votes if record is not None else ())),
        judge=judge,
        evidence=None if evidence is None else cut(evidence, EVIDENCE_LENGTH),
    )


def _votes(verdict: Verdict, recorded: Iterable[Vote]) -> Iterator[VoteView]:
    """Yield the votes, with the judge's words where the record has them for just these votes."""
    if verdict.votes is None:
        return
    own = [vote for vote in recorded if vote.grader == verdict.grader]
    last = max((vote.judging for vote in own), default=0)
    latest = sorted((v for v in own if v.judging == last), key=lambda vote: vote.number)
    if [vote.passed for vote in latest] != list(verdict.votes):
        yield from (VoteView(passed=passed) for passed in verdict.votes)
        return
    for vote in latest:
        note = "unreadable" if vote.unreadable else ""
        yield VoteView(passed=vote.passed, note=note, reply=cut(vote.reply, REPLY_LENGTH))


def _file(entry: FileEntry) -> FileView:
    if entry.kind is FileKind.LINK:
        where = entry.target or ("outside the workspace" if entry.leaves else "nothing")
        return FileView(path=entry.path, note=f"link to {where}", text=None)
    if entry.kind is not FileKind.FILE:
        return FileView(path=entry.path, note=entry.kind.value, text=None)
    if entry.content is None:
        return FileView(path=entry.path, note="content not kept", text=None)
    size = plural(len(entry.content), "byte")
    try:
        text = entry.content.decode("utf-8")
    except UnicodeDecodeError:
        return FileView(path=entry.path, note=f"{size}, not text", text=None)
    return FileView(path=entry.path, note=size, text=cut(text, FILE_LENGTH))
