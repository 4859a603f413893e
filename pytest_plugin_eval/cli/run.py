"""Runs pytest underneath `plugin-eval run` and puts what came of it in the reference's terms."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from pytest_plugin_eval.cli.run_document import document_of, document_of_nothing, hand_out
from pytest_plugin_eval.cli.run_options import RunOptions
from pytest_plugin_eval.cli.target import Target, TargetError, resolve_target
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.storage.results_dir import new_results_directory

if TYPE_CHECKING:
    from pytest_plugin_eval.execution.planning import PlannedCase
    from pytest_plugin_eval.pytest_side.controller import EvalController
    from pytest_plugin_eval.pytest_side.state import CollectionState
    from pytest_plugin_eval.reports.plan import CasePlan
    from pytest_plugin_eval.scoring.model import SuiteResult
    from pytest_plugin_eval.settings import Settings

__all__ = ["Collected", "Ended", "collect", "exit_code", "run_evals", "run_target"]

_SIGNALLED = 128
_INTERRUPTED = _SIGNALLED + signal.SIGINT
_ERROR = "ERROR: "
_PARTIAL = frozenset(("auth_failed", "cost_ceiling"))
_TOLD_BY_PYTEST = frozenset((pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.INTERNAL_ERROR))

# No configuration file, conftest, environment or further plugin has a say: a line for this command
# means the same in every checkout. Python test files below an eval directory are not collected.
_ISOLATED = (
    *("-c", os.devnull, "--noconftest", "--disable-plugin-autoload"),
    *("-p", "pytest_plugin_eval.plugin", "-p", "no:cacheprovider"),
    *("--capture=no", "--no-header", "--disable-warnings", "-o", "python_files="),
)
_FOREIGN_VARIABLES = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS")


@dataclass(slots=True, eq=False)  # pluggy puts plugins into sets
class _Watcher:
    """A plugin that keeps hold of the session's controller."""

    controller: EvalController | None = None
    config: pytest.Config | None = None
    settings: Settings | None = None
    planned: list[PlannedCase] = field(default_factory=list)
    """Of the cases that were collected."""
    is_interrupted: bool = False
    """Whether pytest took a Ctrl-C for itself, in whatever phase."""

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Take the controller, which is registered by now."""
        from pytest_plugin_eval.pytest_side.stash import settings_key

        self.config = config
        self.controller = config.pluginmanager.get_plugin("plugin_eval_controller")
        self.settings = config.stash.get(settings_key, None)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take the cases, each once."""
        found = (getattr(item, "planned", None) for item in session.items)
        self.planned = list({id(one): one for one in found if one is not None}.values())

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note a Ctrl-C; pytest calls this for its own ways to stop as well."""
        self.is_interrupted |= excinfo.type is KeyboardInterrupt


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """What a session would have found and planned."""

    settings: Settings
    state: CollectionState
    planned: tuple[PlannedCase, ...]
    plans: tuple[CasePlan, ...]
    """Of the selected cases."""
    results_base: Path | None
    """Where results would go, when that is not the eval directory in which a case lies."""


def collect(target: Target, options: RunOptions, *, more: Sequence[str] = ()) -> Collected:
    """Return what `run_evals` would run; nothing is started and nothing printed.

    Raises `EvalError` with what pytest says where it refuses to collect, and `KeyboardInterrupt`
    also where pytest made an exit status of it.
    """
    options = _of_installed(options, target.plugin_id)
    watcher, said = _Watcher(), io.StringIO()
    words = ["--collect-only", "-q", *more]
    with _text_out(options), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = _session(target, options, words, watcher)
    if watcher.is_interrupted:
        raise KeyboardInterrupt
    if watcher.controller is None or watcher.settings is None or status in _TOLD_BY_PYTEST:
        errors = [line for line in said.getvalue().splitlines() if line.startswith(_ERROR)]
        raise EvalError("; ".join(line.removeprefix(_ERROR) for line in errors) or said.getvalue())
    from pytest_plugin_eval.pytest_side.session_plan import selected_plans

    state = watcher.controller.state
    return Collected(
        settings=watcher.settings,
        state=state,
        planned=tuple(watcher.planned),
        plans=tuple(selected_plans(state.plans, watcher.controller.cases)),
        results_base=options.output_dir or target.results_base,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What came of a session."""

    code: int
    spent_usd: float = 0.0
    suites: tuple[SuiteResult, ...] = ()
    """Of which a run was made."""


def run_target(target: Target, options: RunOptions) -> Ended:
    """Run the cases of a target, printing what `run_evals` prints but for its last line.

    A Ctrl-C is an exit code too, since what was spent until then is to be told.
    """
    watcher = _Watcher()
    status: int = pytest.ExitCode.INTERRUPTED
    try:
        with _results(target, options) as arguments, _text_out(options):
            status = _session(target, options, arguments, watcher)
    except KeyboardInterrupt:  # outside of what pytest takes for its session
        watcher.is_interrupted = True
    controller = watcher.controller
    if controller is None or status in _TOLD_BY_PYTEST:
        return Ended(code=_INTERRUPTED if watcher.is_interrupted else 1)
    return Ended(
        code=_code(status, watcher, controller),
        spent_usd=controller.spent_usd,
        suites=controller.suites,
    )


def run_evals(text: str, options: RunOptions, *, more: Sequence[str] = ()) -> int:
    """Run the cases that a target names and return the exit code; *more* are pytest arguments."""
    try:
        target = resolve_target(text, options.eval_dir)
    except TargetError as error:
        click.echo(f"Error: {error}", err=True)
        if error.root is not None:
            options = _of_installed(options, error.plugin_id)
            hand_out(document_of_nothing(error.root, options, plugin_id=error.plugin_id), options)
        return 1
    options = _of_installed(options, target.plugin_id)
    for note in target.notes:
        click.echo(note, err=True)
    watcher = _Watcher()
    with _results(target, options) as arguments, _text_out(options):
        status = _session(target, options, [*arguments, *more], watcher)
    controller = watcher.controller
    if controller is None or status in _TOLD_BY_PYTEST:
        click.echo("exit status 1: pytest refused to go on, see its message", err=True)
        return 1
    if status == pytest.ExitCode.NO_TESTS_COLLECTED and not controller.state.broken:
        click.echo(f"Error: {_no_match(options)}", err=True)
    hand_out(document_of(controller, target, options), options)
    code = _code(status, watcher, controller)
    _say_why(watcher, controller, code, options)
    return code


def _say_why(watcher: _Watcher, controller: EvalController, code: int, options: RunOptions) -> None:
    """Say in words why the exit code is what it is, beside the table."""
    from pytest_plugin_eval.pytest_side.last_word import last_line

    line = "" if watcher.config is None else last_line(watcher.config, controller, code)
    if line:
        click.echo(line, err=options.json is not None)


def _of_installed(options: RunOptions, plugin_id: str | None) -> RunOptions:
    """Have an installed plugin compared with none also where cases find no plugin.

    As in the reference.
    """
    if plugin_id is None:
        return options
    return replace(options, ablation=options.ablation or "with-without")


def _code(status: int, watcher: _Watcher, controller: EvalController) -> int:
    """Return the exit code of a session; before its first run, Ctrl-C is pytest's alone."""
    is_early = watcher.is_interrupted and controller.signal is None
    reason = "interrupted" if is_early else controller.partial_reason
    return exit_code(int(status), reason, controller.signal)


def exit_code(status: int, partial_reason: str | None, signalled: int | None) -> int:
    """Return the reference's exit code for a pytest session. Spec: behaviour-evals, 5.5."""
    if signalled is not None:
        return _SIGNALLED + signalled
    if partial_reason == "interrupted":
        return _INTERRUPTED
    if partial_reason in _PARTIAL:
        return 2
    return 0 if status == pytest.ExitCode.OK else 1


def _arguments(target: Target, options: RunOptions) -> list[str]:
    words = [*_ISOLATED, f"--rootdir={target.root}", f"--eval-root={target.root}"]
    if target.eval_dir is not None:
        words.append(f"--eval-dir={target.eval_dir}")
    if target.plugin_id is not None:
        words.append(f"--eval-plugin-id={target.plugin_id}")
    return [*words, *options.pytest_arguments()]


def _session(target: Target, options: RunOptions, more: Sequence[str], watcher: _Watcher) -> int:
    """Run pytest on the paths of a target and return its exit status."""
    with _standing_near(target.paths) as paths:
        return pytest.main([*_arguments(target, options), *paths, *more], plugins=[watcher])


@contextlib.contextmanager
def _standing_near(paths: Sequence[Path]) -> Iterator[list[str]]:
    """Give the paths in words that pytest takes for paths.

    It reads ``[`` in one as the beginning of a test's parameters (pytest 9.2, and before). Where a
    path holds it, the session stands in the directory that all have in common, and names them from
    there; all other paths that we hand over are absolute.
    """
    if not any("[" in str(path) for path in paths):
        yield list(map(str, paths))
        return
    common = Path(os.path.commonpath(paths))
    base = common if common.is_dir() else common.parent
    with contextlib.chdir(base):
        yield [os.path.relpath(path, base) for path in paths]


@contextlib.contextmanager
def _results(target: Target, options: RunOptions) -> Iterator[list[str]]:
    """Give the option for the results directory, where pytest would choose another one."""
    if options.output_dir is not None:
        yield [f"--eval-results-dir={options.output_dir}"]
    elif target.results_base is None:
        yield []
    else:
        base = target.results_base
        made = [one for one in (base, *base.parents) if not one.exists()]
        directory = _new_results_directory(base)
        try:
            yield [f"--eval-results-dir={directory}"]
        finally:
            with contextlib.suppress(OSError):  # it holds results
                for empty in (directory, *made):
                    empty.rmdir()


def _new_results_directory(base: Path) -> Path:
    try:
        return new_results_directory(base, datetime.now(UTC))
    except OSError as error:  # before anything is spent
        raise click.ClickException(
            f"results cannot be written to {base}: {error.strerror}; "
            "name another place with --output-dir"
        ) from error


@contextlib.contextmanager
def _text_out(options: RunOptions) -> Iterator[None]:
    """Keep the user's pytest variables out, and stdout free where it is to carry the document."""
    kept = {name: os.environ.pop(name) for name in _FOREIGN_VARIABLES if name in os.environ}
    stream = sys.stdout if options.json is None else sys.stderr
    try:
        with contextlib.redirect_stdout(stream):
            yield
    finally:
        os.environ.update(kept)


def _no_match(options: RunOptions) -> str:
    filters = [f"--case {options.case!r}"] if options.case else []
    filters += [f"--tag {' '.join(options.tag)}"] if options.tag else []
    return f"no case matches {' and '.join(filters)}" if filters else "no case was run"
