"""`plugin-eval doctor`: what a session would meet, looked at before any money is spent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_plugin_eval.cli.doctor_checks import (
    Check,
    Sign,
    machine_checks,
    place_checks,
    refused,
    run_root_check,
)
from pytest_plugin_eval.cli.doctor_suite import grant_checks, results_bases, suite_checks
from pytest_plugin_eval.cli.output import say, say_all
from pytest_plugin_eval.cli.run import Collected, collect
from pytest_plugin_eval.cli.run_options import RunOptions
from pytest_plugin_eval.cli.target import TargetError, resolve_target
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.settings import Settings
from pytest_plugin_eval.text import plural

__all__ = ["DoctorOptions", "examine", "report"]

_SIGN_WIDTH = max(map(len, Sign))
_INDENT = " " * (_SIGN_WIDTH + 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorOptions:
    """What a session is to be looked at for."""

    target: str
    run: RunOptions
    agent_path: Path | None = None
    run_root: Path | None = None

    def pytest_arguments(self) -> list[str]:
        """Return the options that `plugin-eval run` has not, in pytest's words."""
        given = {"--eval-agent-path": self.agent_path, "--eval-run-root": self.run_root}
        return [f"{name}={value}" for name, value in given.items() if value is not None]


def examine(options: DoctorOptions, env: Mapping[str, str], now_s: float) -> Iterator[Check]:
    """Yield what was looked at, each as soon as it is known.

    No model is asked and no request made; the agent is started for its version alone.
    """
    settings = Settings(
        allow_tools=options.run.allow_tools,
        disallow_tools=options.run.disallow_tools,
        agent_path=options.agent_path,
        run_root=options.run_root,
    )
    yield from machine_checks(settings, env, now_s)
    found = _found(options)
    if not isinstance(found, Collected):
        yield found
        yield run_root_check(settings)
        yield from grant_checks(settings, None, env)
        yield from place_checks((), options.run_root)
        return
    bases = results_bases(found)
    yield from suite_checks(found, bases, env)
    yield from grant_checks(found.settings, found, env)
    yield from place_checks(bases, options.run_root)


def report(checks: Iterator[Check], *, as_json: bool) -> int:
    """Print the checks and return the exit code: 1 when a problem would stop a session."""
    seen: list[Check] = []
    for check in checks:
        seen.append(check)
        if not as_json:
            say_all(_lines(check))
    problems = [check.name for check in seen if check.sign is Sign.PROBLEM]
    if as_json:
        fields = {"ready": not problems, "checks": [check.fields() for check in seen]}
        say_json(fields)
    else:
        say(_verdict(seen, problems))
    return 1 if problems else 0


def say_json(fields: Mapping[str, object]) -> None:
    """Print JSON in ASCII, which every terminal and pipe takes."""
    say_all(json.dumps(fields, indent=2).splitlines())


def _found(options: DoctorOptions) -> Collected | Check:
    try:
        target = resolve_target(options.target, options.run.eval_dir)
    except TargetError as error:
        remedy = "name a plugin with evals, or write one: plugin-eval new"
        return refused("suite", error, remedy)
    try:
        return collect(target, options.run, more=options.pytest_arguments())
    except EvalError as error:
        return refused("suite", error)


def _lines(check: Check) -> Iterator[str]:
    yield f"{check.sign.value:{_SIGN_WIDTH}}  {check.name}: {check.text}"
    yield from (f"{_INDENT}- {detail}" for detail in check.details)
    if check.remedy:
        yield f"{_INDENT}> {check.remedy}"


def _verdict(seen: Sequence[Check], problems: Sequence[str]) -> str:
    warnings = sum(check.sign is Sign.WARNING for check in seen)
    more = f", {plural(warnings, 'warning')}" if warnings else ""
    if problems:
        return f"not ready: {plural(len(problems), 'problem')} ({', '.join(problems)}){more}"
    return f"ready{more}"
