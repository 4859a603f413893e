"""What pytest sees of a case: a directory collector and one item for each run."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pluggy
import pytest

from pytest_plugin_eval.cases.discovery import EvalDirectory, eval_directory_of
from pytest_plugin_eval.errors import CaseError, EvalError, PytestPluginEvalWarning
from pytest_plugin_eval.pytest_side.ids import run_name
from pytest_plugin_eval.pytest_side.stash import (
    collection_key,
    report_key,
    settings_key,
    workbench_key,
)
from pytest_plugin_eval.records.model import Arm, Ending, RunKey
from pytest_plugin_eval.text import one_line, printable

if TYPE_CHECKING:
    from pytest_plugin_eval.execution.planning import PlannedCase
    from pytest_plugin_eval.scoring.model import RunReport

__all__ = ["EvalCase", "EvalRun", "RunFailed"]


class RunFailed(Exception):
    """A run whose score alone sinks its case; the text is the whole explanation."""


class RunNotMeasured(Exception):
    """A run of which no score can be given; the text says why."""


class EvalCase(pytest.Directory):
    """A case directory; its files are never walked by pytest."""

    @property
    def ihook(self) -> pluggy.HookRelay:
        """The hooks of the directory above: a case's own `conftest.py` is not for this session.

        pytest looks conftest files up by directory and knows those of this one only if it imported
        its `conftest.py`.
        """
        assert self.parent is not None
        return self.parent.ihook

    def eval_report(self) -> pytest.CollectReport:
        """Return the report of collecting this case.

        pytest 9.2 imports the `conftest.py` of any directory collector before it collects, but the
        files of a case belong to the agent's task, not to this session.
        """
        call: pytest.CallInfo[list[pytest.Item | pytest.Collector]] = pytest.CallInfo.from_call(
            lambda: list(self.collect()), "collect", reraise=(KeyboardInterrupt, SystemExit)
        )
        if call.excinfo is None:
            return pytest.CollectReport(self.nodeid, "passed", None, call.result)
        return pytest.CollectReport(self.nodeid, "failed", self.repr_failure(call.excinfo), None)

    def collect(self) -> Iterator[EvalRun]:
        """Yield the planned runs: all of the with-arm, then all of the other."""
        from pytest_plugin_eval.pytest_side.planning import plan
        from pytest_plugin_eval.pytest_side.tags import marker_names

        settings = self.config.stash[settings_key]
        place = eval_directory_of(self.path, eval_dir=settings.eval_dir, root=settings.root)
        assert place is not None
        try:
            planned = plan(self.path, place, self.nodeid, self.config)
        except CaseError as error:
            self._fail(error.problems)
        except EvalError as error:
            self._fail((f"{self.path}: {error}",))
        tags, tag_warnings = marker_names(planned.case, self.config)
        self._warn((*planned.case.warnings, *tag_warnings))
        # Its runs inherit them.
        for tag in tags:
            self.add_marker(tag)
        if planned.skip_reason is not None:
            self.add_marker(pytest.mark.skip(reason=planned.skip_reason))
        for key in planned.keys:
            yield EvalRun.make(self, planned, key, place)

    def _fail(self, problems: tuple[str, ...]) -> NoReturn:
        texts = tuple(self.relative(problem) for problem in problems)
        self.config.stash[collection_key].broken[self.nodeid] = texts
        raise self.CollectError("\n".join(texts))

    def _warn(self, texts: tuple[str, ...]) -> None:
        told = self.config.stash[collection_key].warned
        try:
            for text in texts:
                if text in told:  # of a file that cases share
                    continue
                # As `self.warn` does, with a path that can be shown on a terminal.
                warnings.warn_explicit(
                    PytestPluginEvalWarning(self.relative(text)),
                    category=None,
                    filename=one_line(str(self.path)),
                    lineno=0,
                )
                told.add(text)
        except PytestPluginEvalWarning as warning:  # the user made an error of it
            self._fail((str(warning),))

    def relative(self, text: str) -> str:
        """Return a message for a terminal, its path relative to where pytest was started."""
        return printable(self.config.stash[workbench_key].shown(text))


class EvalRun(pytest.Item):
    """One run of one arm. The agent session is its set-up, the assertion its call.

    So a run that could not be measured is an error, and one that was measured and found wanting is
    a failure, in every output of pytest's.
    """

    planned: PlannedCase
    key: RunKey
    place: EvalDirectory

    @classmethod
    def make(
        cls, parent: EvalCase, planned: PlannedCase, key: RunKey, place: EvalDirectory
    ) -> EvalRun:
        """Return the item of one run."""
        name = run_name(key)
        # As a string: pytest 9.2 parses string ids, while an item *named* with brackets gets an id
        # that is not equal to the one read back from the cache, and --lf would run everything.
        item: EvalRun = cls.from_parent(parent, name=name, nodeid=f"{parent.nodeid}::{name}")
        item.planned, item.key, item.place = planned, key, place
        item.path = planned.source_file
        return item

    @property
    def ihook(self) -> pluggy.HookRelay:
        """The case's hooks."""
        assert self.parent is not None
        return self.parent.ihook

    @property
    def place_case(self) -> Path:
        """The case's directory, as pytest spells it."""
        assert self.parent is not None
        return self.parent.path

    def setup(self) -> None:
        """Make or load the run and grade it."""
        from pytest_plugin_eval.reports.junit import run_properties

        if self.config.getoption("setuponly", False) or self.config.getoption("setupplan", False):
            # These show fixtures; they must not start an agent.
            pytest.skip("an eval run has no fixtures to set up")
        bench = self.config.stash[workbench_key]
        if bench.refusal is not None:
            raise RunNotMeasured(bench.refusal)
        report = bench.run(self)
        self.stash[report_key] = report
        # On the item, not on one report: JUnit writes a testcase's properties at its teardown.
        self.user_properties[:] = run_properties(
            report, threshold=self.config.stash[settings_key].threshold
        )
        if report.outcome.ending is Ending.NOT_STARTED:
            pytest.skip(f"not started: {report.outcome.error}")
        if not report.measured:
            raise RunNotMeasured(self._text(report))

    def runtest(self) -> None:
        """Fail when the run's score alone makes the case miss its threshold."""
        from pytest_plugin_eval.scoring.runs import sinks_case

        report = self.stash[report_key]
        if self.key.arm is Arm.WITHOUT or report.score is None:
            return
        settings = self.config.stash[settings_key]
        sinks = sinks_case(report.score, settings.threshold, self.planned.plan.with_runs)
        if sinks and not settings.report_only:
            raise RunFailed(self._text(report))

    def _text(self, report: RunReport) -> str:
        from pytest_plugin_eval.pytest_side.caller import caller_of
        from pytest_plugin_eval.reports.run_lines import run_failure_text

        assert self.parent is not None
        return run_failure_text(
            report,
            threshold=self.config.stash[settings_key].threshold,
            ascii_only=self.config.stash[workbench_key].ascii_only,
            caller=caller_of(self.config, self.parent.nodeid),
        )

    def repr_failure(  # type: ignore[override]  # a plain text, as pytest allows
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> object:
        """Return the compact text of a run's own outcome, and a traceback for anything else."""
        if isinstance(excinfo.value, RunFailed | RunNotMeasured | EvalError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def setup_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> object:
        """Return what is told of a run that could not be made or was not measured."""
        return self.repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where the run is defined and its headline."""
        # pytest writes both to the terminal as they are.
        return Path(one_line(str(self.path))), 0, one_line(f"{self.planned.case.name} {self.name}")
