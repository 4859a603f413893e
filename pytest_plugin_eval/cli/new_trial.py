"""New cases tried once, live, where they are to live, by the machinery of `plugin-eval run`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_plugin_eval.cli.run import collect, run_target
from pytest_plugin_eval.cli.run_options import RunOptions
from pytest_plugin_eval.cli.target import Target, resolve_target
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.pytest_side.session_plan import session_plan_lines
from pytest_plugin_eval.scoring.model import CaseResult
from pytest_plugin_eval.text import plural

__all__ = ["SIGNALLED", "Trial", "trial_plan", "tried"]

SIGNALLED = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of a try."""

    code: int
    """As `plugin-eval run` exits; 128 and above: a signal ended it."""
    spent_usd: float
    """As far as it is known."""
    unknown: int
    """Runs of unknown cost."""
    cases: dict[Path, CaseResult]
    """By the case's directory; a case of which no run was made is missing."""


def trial_plan(root: Path, directories: Sequence[Path], options: RunOptions) -> list[str]:
    """Return what a try would be and cost, a line each; nothing is started.

    Raises `EvalError` when it could not be made.
    """
    target = _target(root, directories, options)
    found = collect(target, options)
    problems = [*found.state.loose, *(p for ps in found.state.broken.values() for p in ps)]
    if problems:
        raise EvalError("; ".join(problems))
    if len(found.planned) != len(directories):
        got = plural(len(found.planned), "case")
        raise EvalError(f"{got} of {len(directories)} found where they were written")
    lines = session_plan_lines(found.plans, replay=False)
    return lines[len(found.plans) :]


def tried(root: Path, directories: Sequence[Path], options: RunOptions) -> Trial:
    """Run the cases in *directories* once an arm; what happens is printed as for any run."""
    ended = run_target(_target(root, directories, options), options)
    found = [case for suite in ended.suites for case in suite.cases]
    return Trial(
        code=ended.code,
        spent_usd=ended.spent_usd,
        unknown=sum(run.outcome.cost_usd is None for case in found for run in case.runs),
        cases={Path(case.info.root) / case.info.id: case for case in found},
    )


def _target(root: Path, directories: Sequence[Path], options: RunOptions) -> Target:
    target = resolve_target(str(root), options.eval_dir)
    return replace(target, paths=tuple(directories), notes=())
