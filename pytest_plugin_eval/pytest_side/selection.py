"""Which of the collected runs are made, in the process that collects them."""

from __future__ import annotations

import sys
from collections.abc import Generator
from functools import cache
from typing import TYPE_CHECKING

import pytest

from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.pytest_side.ids import VERDICT, case_of
from pytest_plugin_eval.pytest_side.stash import (
    collection_key,
    picked_key,
    settings_key,
    workbench_key,
)
from pytest_plugin_eval.settings import Mode
from pytest_plugin_eval.text import name_pattern

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_plugin_eval.pytest_side.collector import EvalRun

__all__ = ["EvalSelection", "eval_runs"]

_pattern = cache(name_pattern)


class EvalSelection:
    """Applies ids, filters and the spend rule, and opens the workbench for what is left."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(tryfirst=True)  # before xdist starts its workers
    def pytest_sessionstart(self) -> None:
        """Refuse ids that select nothing, as pytest does for its own.

        Said here and not once the items are known: under xdist these are in the workers, where a
        usage error would look like a crash.
        """
        picked = self._config.stash[picked_key]
        if hasattr(self._config, "workerinput"):
            return
        option = self._config.option
        if getattr(option, "dist", "no") != "no" and not option.collectonly:
            self._check_trust_for_workers()
        if not picked.names:
            return
        from pytest_plugin_eval.pytest_side.planning import names_of

        for case, names in picked.names.items():
            known = names_of(case, self._config)
            for name in sorted(names - known) if known else ():
                raise pytest.UsageError(
                    f"not found: {picked.shown[case]}::{name}\n"
                    f"(the case has {', '.join(sorted(known))})"
                )

    def _check_trust(self, runs: list[EvalRun]) -> None:
        from pytest_plugin_eval.pytest_side.trust import check_trust

        cases = {run.place_case: run.planned.case for run in runs}.values()
        check_trust(self._config, {plugin.path: None for case in cases for plugin in case.plugins})

    def _check_trust_for_workers(self) -> None:
        """Ask here what workers cannot: about the plugins around the evals that were named."""
        from pytest_plugin_eval.cases.discovery import eval_directory_of
        from pytest_plugin_eval.pytest_side.trust import check_trust

        settings = self._config.stash[settings_key]
        places = (
            eval_directory_of(path, eval_dir=settings.eval_dir, root=settings.root)
            for path in self._config.stash[picked_key].inside
        )
        roots = {place.root for place in places if place is not None}
        try:
            check_trust(self._config, sorted(filter(_holds_a_plugin, roots)))
        except EvalError as error:
            raise pytest.UsageError(str(error)) from None

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Deselect the runs that were not asked for."""
        runs = eval_runs(items)
        if not runs:
            return
        wanted = [run for run in runs if self._is_asked_for(run) and self._passes_filters(run)]
        # A replay costs nothing, so all of it runs; only judges ask whether it was named.
        is_free = self._config.stash[settings_key].mode is Mode.REPLAY
        unnamed = [] if is_free else self._unnamed(wanted)
        state = config.stash[collection_key]
        state.unnamed.extend(dict.fromkeys(case_of(run.nodeid) for run in unnamed))
        if unnamed or len(wanted) < len(runs):
            dropped = set(runs) - (set(wanted) - set(unnamed))
            config.hook.pytest_deselected(items=[run for run in runs if run in dropped])
            items[:] = [item for item in items if item not in dropped]

    @pytest.hookimpl(tryfirst=True)  # before pytest asks for the lines that follow the collection
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Get everything ready that the selected runs need, before the first of them starts."""
        runs = eval_runs(session.items)
        if not runs or self._config.getoption("collectonly"):
            return
        bench = self._config.stash[workbench_key]
        try:
            wanted = [run for run in runs if run.planned.skip_reason is None]
            self._check_trust(wanted)
            judged = [run for run in wanted if run.planned.has_paid_graders]
            bench.open(wanted, are_asked_for=not self._unnamed(judged))
            self._config.stash[collection_key].are_named = not self._unnamed(wanted)
        except EvalError as error:
            if hasattr(self._config, "workerinput"):
                # A usage error would look like a crash of the worker; so each run says why instead.
                bench.refusal = str(error)
                return
            raise pytest.UsageError(str(error)) from None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """End whatever is still running when the loop is left, however it is left."""
        try:
            return (yield)
        finally:
            self._config.stash[workbench_key].close()

    def _is_asked_for(self, run: EvalRun) -> bool:
        names = self._config.stash[picked_key].names.get(run.place_case)
        return names is None or VERDICT in names or run.name in names

    def _passes_filters(self, run: EvalRun) -> bool:
        settings = self._config.stash[settings_key]
        if settings.tags and not set(settings.tags) & set(run.planned.case.tags):
            return False
        return not settings.case_glob or bool(
            _pattern(settings.case_glob).fullmatch(run.planned.case.name)
        )

    def _unnamed(self, runs: list[EvalRun]) -> list[EvalRun]:
        """Return the runs that would spend money although no argument names their case."""
        settings = self._config.stash[settings_key]
        if settings.evals:
            return []
        picked = self._config.stash[picked_key]
        places = {run.place_case: run.place.path for run in runs}
        eval_dirs = {path: path.resolve() for path in set(places.values())}
        if all(eval_dir in picked.named for eval_dir in eval_dirs.values()):
            return []  # known without a look at each case
        unnamed = {
            case
            for case, place in places.items()
            if not picked.is_named(case.resolve(), eval_dirs[place])
        }
        return [run for run in runs if run.place_case in unnamed]


def _holds_a_plugin(root: Path) -> bool:
    from pytest_plugin_eval.cases.plugin_roots import manifest_file, skill_root

    return manifest_file(str(root)) is not None or skill_root(str(root)) == str(root)


def eval_runs(items: list[pytest.Item]) -> list[EvalRun]:
    """Return the runs among the items of a session."""
    # Imported already where a case was met; a session without one pays nothing.
    if "pytest_plugin_eval.pytest_side.collector" not in sys.modules:
        return []
    from pytest_plugin_eval.pytest_side.collector import EvalRun

    return [item for item in items if isinstance(item, EvalRun)]
