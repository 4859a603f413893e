"""What is not the same of two sessions as a whole, and what limits their comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PureWindowsPath

from pytest_plugin_eval.results.attribution import RECORDED, models_of
from pytest_plugin_eval.scoring.model import RunReport, SuiteResult
from pytest_plugin_eval.scoring.provenance import plugin_words, provenance_of
from pytest_plugin_eval.text import plural

__all__ = ["Fact", "facts", "notes"]

NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something that differs between the two sessions, or is known of one of them only."""

    what: str
    old: str
    """Empty: not known."""
    new: str

    @property
    def is_known(self) -> bool:
        """Whether both results tell it."""
        return bool(self.old and self.new)


def facts(old: SuiteResult, new: SuiteResult) -> Iterator[Fact]:
    """Yield what differs; what neither tells is left out."""
    votes = [_votes(suite) for suite in (old, new)]
    asked = (old.info.model or "", new.info.model or "")
    models = (models_of(_runs(old)), models_of(_runs(new)))
    for what, before, after in (
        ("plugin", plugin_words(old.info.plugins) or NONE, plugin_words(new.info.plugins) or NONE),
        ("plugin's files", _hashes(old), _hashes(new)),
        ("model", *models),
        *(() if any(models) else (("model asked for", *asked),)),
        ("Claude Code", old.info.claude_version, new.info.claude_version),
        *(
            (("judge", _judge(old), _judge(new)), ("votes of a verdict", *votes))
            if all(votes)
            else ()
        ),
        ("arms", old.info.ablation, new.info.ablation),
        ("mode", old.info.mode, new.info.mode),
        ("threshold", f"{old.info.threshold:g}", f"{new.info.threshold:g}"),
        ("smallest Δ", _least(old), _least(new)),
        ("llm graders", _paid(old), _paid(new)),
    ):
        if before != after:
            yield Fact(what=what, old=before, new=after)
    names = _suite_name(old), _suite_name(new)
    if all(names) and names[0] != names[1]:
        yield Fact(what="eval directory", old=names[0], new=names[1])


def notes(old: SuiteResult, new: SuiteResult) -> Iterator[str]:
    """Yield what limits the comparison, in words."""
    yield from (*_own_notes("old", old), *_own_notes("new", new))
    before, after = (
        {(run.key, moment) for run in _runs(suite) if (moment := _moment(run))}
        for suite in (old, new)
    )
    if before & after:
        yield f"{len(before & after)} of {len(_runs(new))} new runs are runs of the old results too"


def _own_notes(which: str, suite: SuiteResult) -> Iterator[str]:
    if suite.partial_reason is not None:
        yield f"the {which} results are partial ({suite.partial_reason})"
    lost = sum(not run.measured for run in _runs(suite))
    if lost:
        yield f"{lost} of {len(_runs(suite))} {which} runs were not measured and count for nothing"
    mixed = sum(_is_mixed(case.with_runs, case.without_runs) for case in suite.cases)
    if mixed:
        where = f"{plural(mixed, 'case')} of the {which} results"
        yield f"the two arms of {where} ran on different models, which Δ shows as well"


def _is_mixed(with_runs: Iterable[RunReport], without_runs: Iterable[RunReport]) -> bool:
    arms = [provenance_of(runs, "model") for runs in (with_runs, without_runs)]
    return all(arms) and arms[0] != arms[1]


def _moment(run: RunReport) -> str | None:
    return run.provenance.get(RECORDED)


def _suite_name(suite: SuiteResult) -> str:
    """Return the last part of the eval directory, whichever way its slashes lean."""
    return PureWindowsPath(suite.info.eval_dir).name


def _hashes(suite: SuiteResult) -> str:
    values = provenance_of((run for case in suite.cases for run in case.with_runs), "plugin")
    return ", ".join(value[:12] for value in sorted(values))


def _judge(suite: SuiteResult) -> str:
    found = {v.judge_model for run in _runs(suite) for v in run.verdicts if v.judge_model}
    return ", ".join(sorted(found)) or suite.info.judge_model or ""


def _votes(suite: SuiteResult) -> str:
    counts = {len(v.votes) for run in _runs(suite) for v in run.verdicts if v.votes}
    return ", ".join(map(str, sorted(counts)))


def _least(suite: SuiteResult) -> str:
    return NONE if suite.info.min_delta is None else f"{suite.info.min_delta:g}"


def _paid(suite: SuiteResult) -> str:
    return "left out" if suite.info.free_only else "evaluated"


def _runs(suite: SuiteResult) -> list[RunReport]:
    return [run for case in suite.cases for run in case.runs]
