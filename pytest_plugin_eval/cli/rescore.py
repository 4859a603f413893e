"""`plugin-eval rescore`: saved records, graded afresh by the functions that grade a session."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from pytest_plugin_eval.agents.replay import Replay
from pytest_plugin_eval.cli.interrupts import Interrupts
from pytest_plugin_eval.cli.output import say, say_all
from pytest_plugin_eval.cli.rescore_batch import Batch, load_batch
from pytest_plugin_eval.cli.rescore_lines import case_lines, grader_lines, spent_line, summary_line
from pytest_plugin_eval.errors import EvalError, RecordError
from pytest_plugin_eval.execution.keeper import Keeper
from pytest_plugin_eval.execution.run import Made, RunMaker
from pytest_plugin_eval.execution.shared import Shared
from pytest_plugin_eval.judges.base import JudgeBackend, SlowDown
from pytest_plugin_eval.judges.polling import Judge
from pytest_plugin_eval.records.codec import read_record
from pytest_plugin_eval.records.layout import record_path
from pytest_plugin_eval.records.model import Vote
from pytest_plugin_eval.reports.document import document_chunks, document_text
from pytest_plugin_eval.results.changes import Changes, changes
from pytest_plugin_eval.results.noise import noise_lines, noise_of
from pytest_plugin_eval.results.saved import SavedResults, SuitePlace, saved_results, suite_place
from pytest_plugin_eval.results.saved_document import SavedDocument, parse_document
from pytest_plugin_eval.results.unfinished import Unfinished
from pytest_plugin_eval.scoring.aggregate import case_result, suite_result
from pytest_plugin_eval.scoring.model import RunReport, SuiteResult
from pytest_plugin_eval.settings import Ablation, Mode, Settings
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter
from pytest_plugin_eval.storage.atomic_write import write_text
from pytest_plugin_eval.storage.marker import LOCK, other_live_session
from pytest_plugin_eval.storage.results_dir import new_results_directory
from pytest_plugin_eval.text import plural

__all__ = ["RescoreOptions", "rescore"]

TOGETHER = 16
"""Runs whose votes are asked for, and then saved, at once."""
RESCORED = "rescored"
NO_JUDGE = "not recorded, and --no-judge asks for none"
AT_CEILING = 2
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


@dataclass(slots=True)
class _Graded:
    """What came of the records that were graded."""

    reports: list[RunReport] = field(default_factory=list)
    votes: list[tuple[Vote, ...]] = field(default_factory=list)
    """Of each record, the new ones included."""
    fresh: int = 0
    """Votes that were asked for just now and are kept."""
    warnings: list[str] = field(default_factory=list)


def rescore(options: RescoreOptions, *, find: Callable[[SlowDown], JudgeBackend]) -> int:
    """Grade saved records, print and write what came of it, and return the exit code.

    *find* is called when a vote has to be asked for, with what the back end is to tell of pauses
    that the service asks for. Raises `EvalError` when nothing can be graded.
    """
    started = datetime.now(UTC)
    saved = saved_results(options.results)
    place = suite_place(saved, root=options.root, eval_dir=options.eval_dir)
    settings = _settings(options, saved)
    limiter = Limiter()
    judge = Judge(
        partial(find, limiter.slow_down),
        votes=settings.judge_votes,
        model=settings.judge_model,
        ledger=(ledger := Ledger(options.max_cost_usd)),
        limiter=limiter,
        forbidden=NO_JUDGE if options.no_judge else None,
        afresh=not options.no_judge,
    )
    maker = _maker(saved, place, settings, judge, ledger)
    place_of_document = _directory(saved, started, no_judge=options.no_judge)
    with contextlib.closing(maker), place_of_document as directory:
        unfinished = _unfinished(saved, settings, judge)
        batch = load_batch(saved, place, settings, maker, judge, unfinished=unfinished)
        _announce(batch, saved, settings)
        old = saved.document or _recorded(batch, saved, place, settings)
        _announce_judge(batch, saved, judge, unfinished)
        if unfinished is not None and batch.votes_missing:
            unfinished.begin()
        with Interrupts(lambda: maker.stop("interrupted")) as interrupts:
            graded = _graded(batch, maker, interrupts)
        if interrupts.received is not None:
            _tell_of_interrupt(graded, ledger)
            return _SIGNALLED + interrupts.received
        suite = _suite(batch, graded.reports, settings, started)
        found = changes(old, suite)
        _tell(found, graded)
        needed = min(settings.judge_votes, old.votes or settings.judge_votes)
        say_all(noise_lines(noise_of(suite.cases, graded.votes, needed=needed)))
        _write(suite, [directory and directory / "aggregate-result.json", options.json])
        if not options.no_judge:
            say(spent_line(ledger))
        code = _exit_code(batch, graded.reports, found)
        if unfinished is not None and code != AT_CEILING:
            unfinished.finish()
        return code


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


def _unfinished(saved: SavedResults, settings: Settings, judge: Judge) -> Unfinished | None:
    """Return what is known of a rescore that did not get to its end, to go on with it."""
    if judge.forbidden is not None:
        return None
    place = saved.directory if saved.is_recordings else saved.directory / RESCORED
    return Unfinished(place, size=settings.judge_votes, model=judge.asked_model)


def _maker(
    saved: SavedResults, place: SuitePlace, settings: Settings, judge: Judge, ledger: Ledger
) -> RunMaker:
    keeper = Keeper(
        Mode.REPLAY,
        results={place.root: saved.directory},
        recordings={place.root: saved.records},
    )
    backend = Replay({place.root: saved.records}, named=True)
    return RunMaker(settings, backend, keeper, shared=Shared(ledger=ledger), judge=judge)


@contextlib.contextmanager
def _directory(saved: SavedResults, now: datetime, *, no_judge: bool) -> Iterator[Path | None]:
    """Make a directory for the new document before anything is spent; remove it if left empty.

    Recordings are in version control, and get nothing but votes: there is none for these.
    """
    results = saved.directory
    if saved.is_recordings:
        with contextlib.nullcontext() if no_judge else _alone(results, results):
            yield None
        return
    try:
        directory = new_results_directory(results / RESCORED, now)
    except OSError as error:
        raise EvalError(
            f"{results}: the new document cannot be written: {error.strerror}; copy the results to "
            "another place"
        ) from error
    try:
        with _alone(results, directory.parent):
            yield directory
    finally:
        for path in (directory, directory.parent):
            with contextlib.suppress(OSError):  # it holds something
                path.rmdir()


@contextlib.contextmanager
def _alone(results: Path, place: Path) -> Iterator[None]:
    """Keep others out: of two that add votes to one record, one would lose what it paid for.

    Raises `EvalError` when a session or another rescoring is at work in *results*.
    """
    from filelock import FileLock, Timeout

    process = other_live_session(results, "")
    if process is not None:
        raise EvalError(f"{results} is in use by a session, process {process}; wait for its end")
    lock = FileLock(place / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise EvalError(f"{results} is being rescored already; wait for the end of that") from None
    except OSError as error:
        raise EvalError(_unwritable(place)) from error
    try:
        yield
    finally:
        lock.release()
        (place / LOCK).unlink(missing_ok=True)


def _announce(batch: Batch, saved: SavedResults, settings: Settings) -> None:
    for problem in batch.problems:
        say(f"Error: {problem}", err=True)
    if not batch.jobs:
        if batch.problems:
            raise EvalError(f"{saved.directory}: no record in it can be graded")
        raise EvalError(f"no case of these results matches --case {settings.case_glob!r}")
    say(
        f"rescoring {plural(len(batch.jobs), 'run')} of {plural(len(batch.cases), 'case')} in "
        f"{saved.directory}"
    )
    if saved.document is not None and saved.document.partial_reason is not None:
        say(f"note: the session was partial ({saved.document.partial_reason})")
    say_all(f"note: {text}" for text in batch.notes)


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
        graded = _graded(batch, maker, Interrupts(lambda: None))
        suite = _suite(batch, graded.reports, settings, datetime.now(UTC))
    return parse_document(document_text(suite), str(saved.directory))


def _nobody() -> JudgeBackend:
    raise AssertionError("unreachable: this judge is not to ask")


def _announce_judge(
    batch: Batch, saved: SavedResults, judge: Judge, unfinished: Unfinished | None
) -> None:
    """Say what is asked of whom at what price, before it is."""
    if unfinished is not None and unfinished.counted:
        votes = plural(unfinished.counted, "vote")
        say(f"going on with a rescore that was not finished: {votes} of it count")
    if not batch.votes_missing:
        return
    votes = plural(batch.votes_missing, "vote")
    if judge.forbidden is not None:
        say(f"judge: {votes} {judge.forbidden}")
        return
    _check_writable({record_path(saved.records, key).parent for _, key in batch.jobs})
    who, model = judge.check(), judge.asked_model()
    price = "at an unknown price" if batch.cost_usd is None else f"about ${batch.cost_usd:.4f}"
    say(f"judge: asking for {votes} of {model}, {price}, from {who}")


def _check_writable(directories: Iterable[Path]) -> None:
    for directory in directories:
        if not os.access(directory, os.W_OK):
            raise EvalError(_unwritable(directory))


def _unwritable(directory: Path) -> str:
    return (
        f"{directory}: cannot be written to, and votes are kept in the records; copy the results "
        "to another place, or pass --no-judge"
    )


def _graded(batch: Batch, maker: RunMaker, interrupts: Interrupts) -> _Graded:
    graded = _Graded()
    for start in range(0, len(batch.jobs), TOGETHER):
        if interrupts.received is not None:
            break
        runs = [maker.make(*job) for job in batch.jobs[start : start + TOGETHER]]
        reports = maker.reports(runs)
        graded.reports += reports
        for run, report in zip(runs, reports, strict=True):
            votes = _votes(run)
            graded.votes.append(votes)
            graded.fresh += len(votes) - len(run.record.votes)
            name = f"{report.case.name} {report.key.arm.value}-{report.key.number}"
            new = (note for note in report.notes if note not in run.record.notes)
            graded.warnings += [f"warning: {name}: {note}" for note in new]
    return graded


def _votes(run: Made) -> tuple[Vote, ...]:
    """Return the votes that the file of a record holds now."""
    try:
        return read_record(Path(run.path)).votes
    except RecordError:  # said when it was looked through
        return run.record.votes


def _suite(
    batch: Batch, reports: Sequence[RunReport], settings: Settings, started: datetime
) -> SuiteResult:
    from pytest_plugin_eval.pytest_side.results import suite_info

    by_case: dict[str, list[RunReport]] = {}
    for report in reports:
        by_case.setdefault(report.key.case, []).append(report)
    cases = [
        case_result(
            planned.info,
            by_case[planned.case.id],
            threshold=settings.threshold,
            min_delta=settings.min_delta,
        )
        for planned in batch.cases
    ]
    info = suite_info(str(batch.cases[0].case.root), cases, settings, started)
    return suite_result(
        replace(info, mode="rescore"),
        cases,
        partial_reason=None,
        load_errors=tuple(batch.problems),
    )


def _tell_of_interrupt(graded: _Graded, ledger: Ledger) -> None:
    kept = plural(graded.fresh, "vote")
    say(f"interrupted: {kept} that were paid for are kept in the records")
    if graded.fresh:
        say("the same command goes on from there")
    say(spent_line(ledger))


def _tell(found: Changes, graded: _Graded) -> None:
    say_all(graded.warnings)
    say_all(grader_lines(found))
    say_all(case_lines(found))
    say(summary_line(found))


def _write(suite: SuiteResult, paths: Sequence[Path | None]) -> None:
    for path in paths:
        if path is None:
            continue
        try:
            write_text(path, document_chunks(suite))
        except OSError as error:
            raise EvalError(f"{path}: cannot be written: {error.strerror}") from error
        say(f"Wrote {path}")


def _exit_code(batch: Batch, reports: Sequence[RunReport], found: Changes) -> int:
    if any(report.is_at_ceiling for report in reports):
        return AT_CEILING
    ungraded = any(report.outcome.is_measured and not report.measured for report in reports)
    return 1 if batch.problems or found.lost or ungraded else 0
