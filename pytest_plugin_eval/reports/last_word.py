"""Why a session ended with the exit status that it has, in one line; it follows the status."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_plugin_eval.scoring.model import CaseResult
from pytest_plugin_eval.scoring.runs import meets_threshold
from pytest_plugin_eval.text import one_line, plural

__all__ = ["Ended", "last_word"]

NAMED = 5
SIGNALLED = 128
_STOPPED = {
    "interrupted": "the session was interrupted",
    "auth_failed": "the credential was refused",
    "cost_ceiling": "the cost ceiling was reached",
}
_OTHER = {
    3: "an internal error of pytest or of a plugin, see above",
    4: "a bad option, argument or configuration, see the message",
}
FAILED, INTERRUPTED, NONE_COLLECTED = 1, 2, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a session ended."""

    status: int
    cases: tuple[CaseResult, ...] = ()
    """Those with runs, of every suite."""
    total: int = 0
    """All cases of the session, those without a run included; 0: no others."""
    threshold: float = 1.0
    min_delta: float | None = None
    report_only: bool = False
    """Whether scores fail nothing."""
    partial_reason: str | None = None
    broken: int = 0
    """Cases that did not load."""
    loose: int = 0
    """Problems of eval directories that belong to no case."""
    unwritten: int = 0
    """Result files that could not be written."""
    quality: tuple[str, ...] = ()
    """Which composite scores are below the one asked for, a sentence each."""
    other_failures: int = 0
    """Failures and errors of tests that are no evals."""
    skills: int = 0
    """Skills collected as items that ran, whatever came of them."""
    skills_failed: int = 0
    """Those that are below their limit."""
    skills_lost: int = 0
    """Those that could not be scored."""
    stopped: str = ""
    """Why pytest ended early, in its words."""
    unnamed: int = 0
    """Cases that were not run, since no argument names them."""


def last_word(ended: Ended) -> str:
    """Return ``exit status 1: 2 of 8 cases missed the threshold (a, b)``."""
    return one_line(f"exit status {ended.status}: {'; '.join(_reasons(ended))}")


def _reasons(ended: Ended) -> list[str]:
    reasons = [*_problems(ended)]
    scores = [*_scores(ended)]
    status = ended.status
    if status == 0:
        return _good(ended, scores)
    if not ended.report_only:
        reasons = [*scores, *reasons]
    if status == INTERRUPTED or status > SIGNALLED:
        first = _STOPPED.get(ended.partial_reason or "") or ended.stopped
        return [first or "the session was stopped", *reasons]
    if status == NONE_COLLECTED:
        return [_nothing(ended)]
    if status in _OTHER:
        return [_OTHER[status]]
    if status == FAILED and reasons:
        return [*reasons, ended.stopped] if ended.stopped else reasons
    if status == FAILED and not ended.cases and not ended.stopped:
        return [_nothing(ended)]
    return [ended.stopped or "a check of pytest's or of another plugin failed"]


def _good(ended: Ended, scores: Sequence[str]) -> list[str]:
    if scores:
        return [f"scores are only reported (--eval-report-only): {'; '.join(scores)}"]
    judged = [case for case in ended.cases if case.passed]
    skills = [f"{plural(ended.skills, 'skill')} reached the least composite score"]
    if not ended.cases and ended.skills:
        return skills
    if not judged:
        return ["no case got a verdict, since runs that it needs were not selected"]
    who = "the one case" if len(judged) == 1 else f"each of the {len(judged)} cases"
    delta = " and the Δ asked for" if ended.min_delta is not None else ""
    rest = len(ended.cases) - len(judged)
    texts = [f"{who} met its threshold{delta}"]
    if rest:
        texts.append(f"{plural(rest, 'case')} got no verdict")
    return [*texts, *skills] if ended.skills else texts


def _scores(ended: Ended) -> Iterator[str]:
    """Yield what ``--eval-report-only`` excuses."""
    total = ended.total or len(ended.cases)
    below = [case for case in ended.cases if _is_below(case, ended.threshold)]
    if below:
        yield f"{_share(below, total)} missed the threshold ({_names(below)})"
    told = [*below, *(case for case in _lost(ended) if case.delta is None)]
    delta = [case for case in ended.cases if case.missed_delta is not None and case not in told]
    if delta:
        yield f"{_share(delta, total)} missed --eval-min-delta ({_names(delta)})"
    if ended.quality:
        yield "; ".join(ended.quality)
    if ended.skills_failed:
        are = "is" if ended.skills_failed == 1 else "are"
        share = f"{ended.skills_failed} of {plural(ended.skills, 'skill')}"
        yield f"{share} {are} below the least composite score"


def _problems(ended: Ended) -> Iterator[str]:
    """Yield what fails a session whatever the scores are."""
    runs = [run for case in ended.cases for run in case.runs]
    lost = _lost(ended)
    if lost:
        count = sum(not run.measured for run in runs)
        were = "was" if count == 1 else "were"
        yield f"{count} of {plural(len(runs), 'run')} {were} not measured ({_names(lost)})"
    elif ended.partial_reason == "not_measured":
        yield "not every run could be made"
    if ended.broken:
        yield f"{plural(ended.broken, 'case')} did not load"
    if ended.loose:
        yield f"{plural(ended.loose, 'problem')} of an eval directory"
    if ended.skills_lost:
        yield f"{plural(ended.skills_lost, 'skill')} could not be scored"
    if ended.unwritten:
        yield "results could not be written"
    if ended.other_failures:
        yield f"{plural(ended.other_failures, 'other test')} failed"


def _lost(ended: Ended) -> list[CaseResult]:
    return [case for case in ended.cases if any(not run.measured for run in case.runs)]


def _is_below(case: CaseResult, threshold: float) -> bool:
    return case.score is not None and not meets_threshold(case.score, threshold)


def _share(cases: Sequence[CaseResult], total: int) -> str:
    return "the one case" if total == 1 else f"{len(cases)} of {plural(total, 'case')}"


def _names(cases: Sequence[CaseResult]) -> str:
    more = f" and {len(cases) - NAMED} more" if len(cases) > NAMED else ""
    return f"{', '.join(case.info.name for case in cases[:NAMED])}{more}"


def _nothing(ended: Ended) -> str:
    if ended.unnamed:
        return "no case was run, since no argument names the evals"
    return "no case was run"
