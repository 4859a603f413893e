"""`plugin-eval rescore`: saved records, graded afresh by the functions that grade a session."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import click

from pytest_plugin_eval.agents.replay import Replay
from pytest_plugin_eval.cli.interrupts import Interrupts
from pytest_plugin_eval.cli.rescore_batch import Batch, load_batch
from pytest_plugin_eval.cli.rescore_lines import case_lines, grader_lines, summary_line
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.execution.keeper import Keeper
from pytest_plugin_eval.execution.run import Made, RunMaker
from pytest_plugin_eval.graders.grade import Graded, polls
from pytest_plugin_eval.judges.base import JudgeBackend
from pytest_plugin_eval.judges.polling import Judge
from pytest_plugin_eval.reports.columns import cell
from pytest_plugin_eval.reports.document import document_chunks, document_text
from pytest_plugin_eval.results.changes import Changes, changes
from pytest_plugin_eval.results.noise import noise_lines, noise_of
from pytest_plugin_eval.results.saved import SavedResults, SuitePlace, saved_results, suite_place
from pytest_plugin_eval.results.saved_document import SavedDocument, parse_document
from pytest_plugin_eval.scoring.aggregate import case_result, suite_result
from pytest_plugin_eval.scoring.model import RunReport, SuiteResult
from pytest_plugin_eval.settings import Ablation, Mode, Settings
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter
from pytest_plugin_eval.storage.atomic_write import write_text
from pytest_plugin_eval.storage.results_dir import new_results_directory
from pytest_plugin_eval.text import plural

__all__ = ["RescoreOptions", "rescore"]

TOGETHER = 16
"""Runs whose votes are asked for, and then saved, at once."""
RESCORED = "rescored"
NO_JUDGE = "not recorded, and --no-judge asks for none"
_SIGNALLED = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoreOptions:
    """What was asked for; ``None`` means: not given."""

    results: Path
    judge_model: str | None = None
    votes: int | None = None
    case: str | None = None
    no_judge: bool = False
    max_cost_usd: float | None = None
    json: Path | None = None
    root: Path | None = None
    eval_dir: str | None = None


def rescore(options: RescoreOptions, *, find: Callable[[], JudgeBackend]) -> int:
    """Grade saved records, print and write what came of it, and return the exit code.

    *find* is called when a vote has to be asked for. Raises `EvalError` when nothing can be graded.
    """
    saved = saved_results(options.results)
    place = suite_place(saved, root=options.root, eval_dir=options.eval_dir)
    settings = _settings(options, saved)
    judge = Judge(
        find,
        votes=settings.judge_votes,
        model=settings.judge_model,
        ledger=(ledger := Ledger(options.max_cost_usd)),
        limiter=Limiter(),
        forbidden=NO_JUDGE if options.no_judge else None,
        afresh=not options.no_judge,
    )
    maker = _maker(saved, place, settings, judge, ledger)
    with contextlib.closing(maker), _directory(saved.directory) as directory:
        batch = load_batch(saved, place, settings, maker)
        _announce(batch, saved, settings)
        old = saved.document or _recorded(batch, saved, place, settings)
        _announce_judge(batch, judge, settings, forbidden=options.no_judge)
        before = sum(map(len, batch.votes()))
        with Interrupts(lambda: maker.stop("interrupted")) as interrupts:
            reports = _reports(batch, maker, interrupts)
        if interrupts.received is not None:
            kept = plural(sum(map(len, batch.votes())) - before, "vote")
            _say(f"interrupted: {kept} that were paid for are kept in the records")
            return _SIGNALLED + interrupts.received
        suite = _suite(batch, reports, settings)
        found = changes(old, suite)
        _tell(found, batch, reports)
        _say_all(noise_lines(noise_of(suite.cases, batch.votes(), needed=settings.judge_votes)))
        _write(suite, [directory / "aggregate-result.json", options.json])
        return _exit_code(batch, reports, found)


def _settings(options: RescoreOptions, saved: SavedResults) -> Settings:
    """Return the settings of the saved session, with the options where they were given."""
    suite = saved.document.suite if saved.document is not None else None
    one_arm = suite is not None and suite.ablation == Ablation.NONE.value
    # The session's judge, so that like is compared with like; recorded votes are taken whoever gave
    # them.
    model = suite.judge_model if suite is not None and not options.no_judge else None
    votes = saved.document.votes if saved.document is not None else None
    return Settings(
        mode=Mode.REPLAY,
        from_dir=saved.records,
        ablation=Ablation.NONE if one_arm else None,
        threshold=suite.threshold if suite is not None else 1.0,
        min_delta=suite.min_delta if suite is not None else None,
        judge_model=options.judge_model or model,
        judge_votes=options.votes or votes or Settings().judge_votes,
        # What was left out for want of a judge is graded now, unless there still is none.
        free_only=suite is not None and suite.free_only and options.no_judge,
        max_cost_usd=options.max_cost_usd,
        case_glob=options.case,
        eval_dir=options.eval_dir,
    )


def _maker(
    saved: SavedResults, place: SuitePlace, settings: Settings, judge: Judge, ledger: Ledger
) -> RunMaker:
    keeper = Keeper(
        Mode.REPLAY,
        results={place.root: saved.directory},
        recordings={place.root: saved.records},
    )
    backend = Replay({place.root: saved.records}, named=True)
    return RunMaker(settings, backend, keeper, ledger=ledger, limiter=Limiter(), judge=judge)


@contextlib.contextmanager
def _directory(results: Path) -> Iterator[Path]:
    """Make a directory for the new document before anything is spent; remove it if left empty."""
    try:
        directory = new_results_directory(results / RESCORED, datetime.now(UTC))
    except OSError as error:
        raise EvalError(
            f"{results}: the new document cannot be written: {error.strerror}"
        ) from error
    try:
        yield directory
    finally:
        for path in (directory, directory.parent):
            with contextlib.suppress(OSError):  # it holds something
                path.rmdir()


def _announce(batch: Batch, saved: SavedResults, settings: Settings) -> None:
    for problem in batch.problems:
        click.echo(f"Error: {_fit(problem)}", err=True)
    if not batch.runs:
        if batch.problems:
            raise EvalError(f"{saved.directory}: no record in it can be graded")
        raise EvalError(f"no case of these results matches --case {settings.case_glob!r}")
    _say(
        f"rescoring {plural(len(batch.runs), 'run')} of {plural(len(batch.cases), 'case')} in "
        f"{saved.directory}"
    )
    if saved.document is not None and saved.document.partial_reason is not None:
        _say(f"note: the session was partial ({saved.document.partial_reason})")
    _say_all(f"note: {text}" for text in batch.notes)


def _recorded(
    batch: Batch, saved: SavedResults, place: SuitePlace, settings: Settings
) -> SavedDocument:
    """Return what the records come to by the votes they hold: there is no document to compare."""
    judge = Judge(
        _nobody,
        votes=settings.judge_votes,
        ledger=Ledger(),
        limiter=Limiter(),
        forbidden=NO_JUDGE,
    )
    with contextlib.closing(_maker(saved, place, settings, judge, Ledger())) as maker:
        suite = _suite(batch, maker.reports(batch.runs), settings)
    return parse_document(document_text(suite), str(saved.directory))


def _nobody() -> JudgeBackend:
    raise AssertionError("unreachable: this judge is not to ask")


def _announce_judge(batch: Batch, judge: Judge, settings: Settings, *, forbidden: bool) -> None:
    """Say what is asked of whom at what price, before it is."""
    if settings.free_only:
        return
    asked = [
        (poll, judge.missing(run.record.votes, poll))
        for run in batch.runs
        if run.record.outcome.is_measured
        for poll in polls(Graded(run.planned.case, run.record, run.planned.plan.two_arms))
    ]
    count = sum(votes for _, votes in asked)
    if not count:
        return
    if forbidden:
        _say(f"judge: {plural(count, 'vote')} {NO_JUDGE}")
        return
    _check_writable(batch.runs)
    who = judge.check()
    cost_usd = judge.estimate_usd(asked)
    price = "at an unknown price" if cost_usd is None else f"about ${cost_usd:.4f}"
    _say(f"judge: asking for {plural(count, 'vote')} of {judge.asked_model()}, {price}, from {who}")


def _check_writable(runs: Sequence[Made]) -> None:
    for directory in {Path(run.path).parent for run in runs}:
        if not os.access(directory, os.W_OK):
            raise EvalError(
                f"{directory}: cannot be written to, and votes are kept in the records; copy the "
                "results to another place, or pass --no-judge"
            )


def _reports(batch: Batch, maker: RunMaker, interrupts: Interrupts) -> list[RunReport]:
    reports: list[RunReport] = []
    for start in range(0, len(batch.runs), TOGETHER):
        if interrupts.received is not None:
            break
        reports += maker.reports(batch.runs[start : start + TOGETHER])
    return reports


def _suite(batch: Batch, reports: Sequence[RunReport], settings: Settings) -> SuiteResult:
    from pytest_plugin_eval.pytest_side.results import suite_info

    cases = [
        case_result(
            planned.info,
            [report for report in reports if report.key.case == planned.case.id],
            threshold=settings.threshold,
            min_delta=settings.min_delta,
        )
        for planned in batch.cases
    ]
    root = str(batch.cases[0].case.root)
    info = suite_info(root, cases, settings, datetime.now(UTC))
    return suite_result(
        replace(info, mode="rescore"),
        cases,
        partial_reason=None,
        load_errors=tuple(batch.problems),
    )


def _tell(found: Changes, batch: Batch, reports: Sequence[RunReport]) -> None:
    for run, report in zip(batch.runs, reports, strict=True):
        name = f"{report.case.name} {report.key.arm.value}-{report.key.number}"
        new = (note for note in report.notes if note not in run.record.notes)
        _say_all(f"warning: {name}: {note}" for note in new)
    _say_all(grader_lines(found))
    _say_all(case_lines(found))
    _say(summary_line(found))


def _write(suite: SuiteResult, paths: Sequence[Path | None]) -> None:
    for path in paths:
        if path is None:
            continue
        try:
            write_text(path, document_chunks(suite))
        except OSError as error:
            raise EvalError(f"{path}: cannot be written: {error.strerror}") from error
        _say(f"Wrote {path}")


def _exit_code(batch: Batch, reports: Sequence[RunReport], found: Changes) -> int:
    if any(report.is_at_ceiling for report in reports):
        return 2
    ungraded = any(report.outcome.is_measured and not report.measured for report in reports)
    return 1 if batch.problems or found.lost or ungraded else 0


def _say(line: str) -> None:
    click.echo(_fit(line))


def _say_all(lines: Iterator[str] | Sequence[str]) -> None:
    for line in lines:
        _say(line)


def _fit(line: str) -> str:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    clean = cell(line)
    try:
        clean.encode(encoding)
    except UnicodeEncodeError:
        return cell(line, ascii_only=True)
    return clean
