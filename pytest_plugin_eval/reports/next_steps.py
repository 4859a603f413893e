"""What to try next, by cause: a reason in words and a command to copy."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from pytest_plugin_eval.cases.case import PAID_TYPES
from pytest_plugin_eval.records.model import Ending
from pytest_plugin_eval.scoring.causes import Cause, CauseKind
from pytest_plugin_eval.scoring.model import CaseInfo, RunReport

__all__ = ["Caller", "Step", "case_step", "kept_in", "run_step", "shown_path"]

RUNS = "runs"
RUNS_OPTION = "--eval-runs"
MORE_RUNS = 10
MORE_VOTES = 4
SLOW_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """How the reader started the session, for commands that fit."""

    case_path: str = "."
    """The case's directory as the reader would type it."""
    root: str | None = None
    """Of ``plugin-eval run``: the target as the reader would type it; ``None``: plain pytest."""
    told: tuple[str, ...] = ()
    """The options of the session that a further one needs too, each ``--name=value`` or a flag."""
    is_replay: bool = False
    here: str = ""
    """Absolute: where the reader stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A thing to try."""

    why: str
    """What to do, or what the command tells; no full stop."""
    command: str
    """Quoted for a POSIX shell."""


def run_step(cause: Cause, run: RunReport, caller: Caller) -> Step | None:
    """Return what to try next for the headline cause of a run; ``None`` for causes of cases."""
    make = _STEPS.get(cause.kind)
    return None if make is None else make(_Asked(cause=cause, run=run, caller=caller))


def case_step(kind: CauseKind, case: CaseInfo, caller: Caller) -> Step | None:
    """Return what to try next for a cause that only the case as a whole has."""

    def session(*options: str, is_fresh: bool = True) -> str:
        return _session(caller, None, *options, case=case.name, is_fresh=is_fresh)

    match kind:
        case CauseKind.WORSE | CauseKind.SMALL_GAIN:
            return Step(
                why="tell chance from effect by more runs",
                command=session(f"{RUNS_OPTION}={MORE_RUNS}"),
            )
        case CauseKind.NO_GAIN:
            return Step(
                why="make the prompt need the plugin, then see whether the arms part",
                command=session(),
            )
        case CauseKind.NOT_MADE:
            return Step(why="make all of its runs", command=session(is_fresh=False))
        case _:
            return None


def kept_in(run: RunReport) -> PurePath | None:
    """Return the directory that a run's record can be graded in, ``None`` where it was not kept.

    Records are ``<directory>/runs/<case id>/<arm>-<n>.jsonl``, recordings lack the ``runs``.
    """
    above = PurePath(run.record_path).parents
    levels = run.key.case.count("/") + 1
    if len(above) <= levels:
        return None
    place = above[levels]
    return place.parent if place.name == RUNS else place


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    cause: Cause
    run: RunReport
    caller: Caller

    @property
    def source(self) -> str:
        """The case's file as the reader would type it."""
        return shown_path(self.run.case.source_file, self.caller) or "the case's file"

    def session(self, *options: str, one_run: bool = True, is_fresh: bool = True) -> str:
        """Return a command that makes this run, or all of the case, once more."""
        run = self.run.key if one_run else None
        name = None if run is None else f"{run.arm.value}-{run.number}"
        return _session(self.caller, name, *options, case=self.run.case.name, is_fresh=is_fresh)

    def rescore(self, *options: str) -> str | None:
        """Return a command that grades the kept records afresh; ``None`` where none was kept."""
        place = kept_in(self.run)
        if place is None:
            return None
        words = ["plugin-eval", "rescore", shown_path(str(place), self.caller)]
        # Of this case alone: new votes of all the others cost something.
        return shlex.join([*words, f"--case={self.run.case.name}", *options])


def _session(
    caller: Caller, run: str | None, *options: str, case: str = "", is_fresh: bool = False
) -> str:
    """Return a session's command: with *run* of that run alone, else of the whole case.

    *is_fresh*: the agent has to run, which a replay has no use for.
    """
    told = list(caller.told)
    names = {option.partition("=")[0] for option in options}
    if is_fresh and caller.is_replay:
        names |= {"--eval-mode", "--eval-from"}
        options = (*options, "--eval-mode=live")
    if "--eval-mode=record" in told and RUNS_OPTION in names:
        names |= {"--eval-mode"}  # more runs are a trial, not what is to be committed
    kept = [word for word in told if word.partition("=")[0] not in names - {"--eval-allow-tools"}]
    if caller.root is None:
        place = caller.case_path if run is None else f"{caller.case_path}::run[{run}]"
        return shlex.join(["pytest", place, *kept, *options])
    words = ["plugin-eval", "run", caller.root]
    if case:
        words.append(f"--case={case}")
        kept = [word for word in kept if not word.startswith(("--eval-case=", "--eval-tag="))]
    return shlex.join([*words, *map(_own_name, (*kept, *options))])


def _own_name(option: str) -> str:
    """Return an option in the words of ``plugin-eval run``."""
    return re.sub(r"^--eval-(?!dir\b)", "--", option)


def shown_path(path: str, caller: Caller) -> str:
    """Return a path for a reader: relative to where they stand, when below it."""
    prefix = f"{caller.here}{os.sep}"
    return path.removeprefix(prefix) if caller.here and path.startswith(prefix) else path


def _first(*steps: Step | None) -> Step | None:
    return next((step for step in steps if step is not None), None)


def _step(why: str, command: str | None) -> Step | None:
    return None if command is None else Step(why=why, command=command)


def _more_runs(asked: _Asked) -> Step | None:
    return _step(
        "sharpen the skill's description; more runs tell whether it was chance",
        asked.session(f"{RUNS_OPTION}={MORE_RUNS}", one_run=False),
    )


def _narrow(asked: _Asked) -> Step | None:
    return _step(
        "narrow the skill's description; more runs tell whether it was chance",
        asked.session(f"{RUNS_OPTION}={MORE_RUNS}", one_run=False),
    )


def _look_at_plugin(asked: _Asked) -> Step | None:
    path = next((plugin["path"] for plugin in asked.run.case.plugins if "path" in plugin), None)
    if path is None:
        return _again("see whether it loads now")(asked)
    shown = "." if path == asked.caller.here else shown_path(path, asked.caller)
    return _step(
        "see what is wrong with the plugin's files", shlex.join(["plugin-eval", "score", shown])
    )


def _keep(asked: _Asked) -> Step | None:
    return _step("see what a run leaves behind", asked.session("--eval-keep-temp"))


def _again(why: str) -> Callable[[_Asked], Step | None]:
    return lambda asked: _step(why, asked.session())


def _lost(asked: _Asked) -> Step | None:
    if asked.caller.is_replay:
        options = ("--eval-mode=record",)
        return _step("record it anew", asked.session(*options, one_run=False, is_fresh=False))
    words: Mapping[Ending, str] = {
        Ending.CREDENTIAL_REFUSED: "set a credential that is accepted, then",
        Ending.SETUP_FAILED: "mend what the message names, then",
        Ending.CONTAMINATED: "remove what the message names, then",
    }
    why = words.get(asked.run.outcome.ending, "it says nothing of the plugin; make the run again")
    return _step(why, asked.session())


def _ask_judge(why: str, *options: str) -> Callable[[_Asked], Step | None]:
    return lambda asked: _first(_step(why, asked.rescore(*options)), _again(why)(asked))


def _more_votes(asked: _Asked) -> Step | None:
    votes = max((len(v.votes) for v in asked.run.verdicts if v.votes), default=1)
    make = _ask_judge("ask the judge more often, without an agent", f"--votes={votes + MORE_VOTES}")
    return make(asked)


def _mend_grader(asked: _Asked) -> Step | None:
    types = {verdict.grader: verdict.type for verdict in asked.run.verdicts}
    if any(types.get(name) in PAID_TYPES for name in asked.cause.graders):
        return _ask_judge("ask the judge again, without an agent")(asked)
    why = "mend the grader, and grade the kept record again for nothing"
    return _first(_step(why, asked.rescore("--no-judge")), _again(why)(asked))


def _raise_turns(asked: _Asked) -> Step | None:
    return _step(
        f"raise max_turns, now {asked.run.case.max_turns}, in {asked.source}, then",
        asked.session(),
    )


def _raise_time(asked: _Asked) -> Step | None:
    return _step(
        f"raise timeout_seconds, now {asked.run.case.timeout_s}, in {asked.source}, then",
        asked.session(),
    )


def _grant(asked: _Asked) -> Step | None:
    name = asked.cause.graders[0]
    grants = asked.run.case.grader_grants.get(name, "").split()
    if not grants and name not in asked.run.case.grader_advisories:
        why = "write a min that is no more than max, and grade the kept record again for nothing"
        return _first(_step(why, asked.rescore("--no-judge")), _again(why)(asked))
    if not grants:
        why = f"change the grader, or disallowed_tools in {asked.source}, then"
        return _step(why, asked.session())
    options: Iterable[str] = (f"--eval-allow-tools={tool}" for tool in grants)
    return _step(
        f"list {' and '.join(grants)} in allowed_tools of {asked.source}, then",
        asked.session(*options, one_run=False),
    )


_STEPS: Mapping[CauseKind, Callable[[_Asked], Step | None]] = {
    CauseKind.NOT_LOADED: _look_at_plugin,
    CauseKind.NOT_JUDGED: _ask_judge("ask for the votes that are lacking, without an agent"),
    CauseKind.GRADER_ERRORED: _mend_grader,
    CauseKind.NOT_MEASURED: _lost,
    CauseKind.ABORTED: _keep,
    CauseKind.IMPOSSIBLE: _grant,
    CauseKind.TURN_LIMIT: _raise_turns,
    CauseKind.TIMED_OUT: _raise_time,
    CauseKind.STOPPED: _again("see whether it was chance"),
    CauseKind.UNWANTED: _narrow,
    CauseKind.NOT_TRIGGERED: _more_runs,
    CauseKind.OTHER_SKILL: _more_runs,
    CauseKind.TRIGGERED_WRONG: _keep,
    CauseKind.WRONG: _keep,
    CauseKind.UNREADABLE: _ask_judge("ask another judge, without an agent", "--judge-model=sonnet"),
    CauseKind.JUDGE_SPLIT: _more_votes,
}
