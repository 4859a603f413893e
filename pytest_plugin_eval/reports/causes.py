"""Words for the causes of `scoring.causes`: a headline of one line for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pytest_plugin_eval.scoring.causes import CaseCause, Cause, CauseKind
from pytest_plugin_eval.scoring.model import CaseResult, RunReport, Verdict
from pytest_plugin_eval.text import cut, decimals, one_line, plural

__all__ = ["TITLES", "case_cause_text", "cause_text"]

NAMED = 3
REASON = 200

TITLES = {
    CauseKind.NOT_LOADED: "not loaded",
    CauseKind.NOT_JUDGED: "not judged",
    CauseKind.GRADER_ERRORED: "a grader errored",
    CauseKind.NOT_MEASURED: "not measured",
    CauseKind.ABORTED: "aborted by a mock",
    CauseKind.IMPOSSIBLE: "a grader that cannot pass",
    CauseKind.TURN_LIMIT: "turn cap",
    CauseKind.TIMED_OUT: "time limit",
    CauseKind.STOPPED: "the model stopped",
    CauseKind.UNWANTED: "triggered where it should not be",
    CauseKind.NOT_TRIGGERED: "not triggered",
    CauseKind.OTHER_SKILL: "another skill was triggered",
    CauseKind.TRIGGERED_WRONG: "triggered but wrong",
    CauseKind.WRONG: "wrong",
    CauseKind.UNREADABLE: "unreadable votes",
    CauseKind.JUDGE_SPLIT: "the judge is split",
    CauseKind.WORSE: "worse than without the plugin",
    CauseKind.NO_GAIN: "the base model does it already",
    CauseKind.SMALL_GAIN: "too small a difference",
    CauseKind.NOT_MADE: "not every planned run was made",
}
"""In the fewest words: what the runs of a case share."""


def cause_text(cause: Cause, run: RunReport) -> str:
    """Return the cause of a run's result in one line: what it is, then what shows it."""
    make = _DETAILS.get(cause.kind)
    detail = "" if make is None else cut(one_line(make(cause, run)), REASON)
    return f"{TITLES[cause.kind]}: {detail}" if detail else TITLES[cause.kind]


def case_cause_text(cause: CaseCause, case: CaseResult) -> str:
    """Return the cause of a case's result in one line, with the number of runs that have it."""
    title = TITLES[cause.kind]
    if not cause.runs:
        detail = _case_detail(cause.kind, case)
        return f"{title}: {detail}" if detail else title
    detail = cause_text(cause.cause, cause.runs[0]).removeprefix(title)
    share = f" in {len(cause.runs)} of {plural(cause.of, 'run')}" if cause.of > 1 else ""
    return f"{title}{share}{detail}"


def _case_detail(kind: CauseKind, case: CaseResult) -> str:
    match kind:
        case CauseKind.NO_GAIN:
            return f"{_arms(case)}, so it is as good without the plugin"
        case CauseKind.SMALL_GAIN:
            return "Δ is not known" if case.delta is None else _arms(case)
        case CauseKind.WORSE:
            return _arms(case)
        case _:
            return ""


def _arms(case: CaseResult) -> str:
    score, without = case.score, case.score_without
    told = (("WITH", score), ("W/OUT", without))
    return ", ".join(f"{name} {decimals(value)}" for name, value in told if value is not None)


def _reason(_: Cause, run: RunReport) -> str:
    return run.unmeasured_reason or "no reason is known"


def _errored(cause: Cause, run: RunReport) -> str:
    return f"{_named(cause.graders)} came to no verdict, {_explanation(run, cause.graders)}"


def _aborted(_: Cause, run: RunReport) -> str:
    told = run.aborted
    return "" if told is None else f"{told['server']}/{told['tool']}: {told['reason']}"


def _impossible(cause: Cause, run: RunReport) -> str:
    name = cause.graders[0]
    advice = run.case.grader_advisories.get(name)
    return advice or f"grader {name} asks for more calls than its max allows"


def _turns(_: Cause, run: RunReport) -> str:
    return f"the agent was stopped after {plural(run.case.max_turns, 'turn')}"


def _unwanted(cause: Cause, run: RunReport) -> str:
    return f"{_called(run)}, and {_named(cause.graders)} forbids it"


def _not_triggered(cause: Cause, _: RunReport) -> str:
    return f"no skill was called, and {_named(cause.graders)} {_asks(cause.graders)} for one"


def _other(cause: Cause, run: RunReport) -> str:
    names = cause.graders
    return f"{_called(run)}, and {_named(names)} {_asks(names)} for a different one"


def _wrong(cause: Cause, run: RunReport) -> str:
    unused = run.skills_called == () and bool(run.case.plugins)
    return f"{_named(cause.graders)} failed" + (", and no skill was called" if unused else "")


def _split(cause: Cause, run: RunReport) -> str:
    return f"{_named(cause.graders)}, {_explanation(run, cause.graders)}"


_DETAILS: Mapping[CauseKind, Callable[[Cause, RunReport], str]] = {
    CauseKind.NOT_LOADED: _reason,
    CauseKind.NOT_JUDGED: _reason,
    CauseKind.GRADER_ERRORED: _errored,
    CauseKind.NOT_MEASURED: _reason,
    CauseKind.ABORTED: _aborted,
    CauseKind.IMPOSSIBLE: _impossible,
    CauseKind.TURN_LIMIT: _turns,
    CauseKind.TIMED_OUT: lambda _, run: f"the agent was stopped after {run.case.timeout_s} s",
    CauseKind.STOPPED: lambda _, run: run.outcome.error or "output limit or refusal",
    CauseKind.UNWANTED: _unwanted,
    CauseKind.NOT_TRIGGERED: _not_triggered,
    CauseKind.OTHER_SKILL: _other,
    CauseKind.TRIGGERED_WRONG: lambda cause, run: (
        f"{_called(run)}, and {_named(cause.graders)} failed"
    ),
    CauseKind.WRONG: _wrong,
    CauseKind.UNREADABLE: lambda cause, _: (
        f"what is neither PASS nor FAIL counts as FAIL, {_named(cause.graders)}"
    ),
    CauseKind.JUDGE_SPLIT: _split,
}


def _named(names: Sequence[str]) -> str:
    word = "grader" if len(names) == 1 else "graders"
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{word} {', '.join(names[:NAMED])}{more}"


def _asks(names: Sequence[str]) -> str:
    return "asks" if len(names) == 1 else "ask"


def _called(run: RunReport) -> str:
    called = run.skills_called
    if not called:
        return "the skill was called"
    more = f" and {len(called) - NAMED} more" if len(called) > NAMED else ""
    return f"{', '.join(called[:NAMED])}{more} {'was' if len(called) == 1 else 'were'} called"


def _explanation(run: RunReport, names: Iterable[str]) -> str:
    by_name: dict[str, Verdict] = {verdict.grader: verdict for verdict in run.verdicts}
    return next((by_name[name].explanation for name in names if name in by_name), "")
