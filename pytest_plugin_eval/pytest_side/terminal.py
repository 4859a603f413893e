"""What a person reads of the evals in pytest's own output."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_plugin_eval.pytest_side.progress import UNGRADED
from pytest_plugin_eval.pytest_side.stash import settings_key, workbench_key
from pytest_plugin_eval.settings import Mode
from pytest_plugin_eval.text import dollars, plural

if TYPE_CHECKING:
    from pytest_plugin_eval.pytest_side.controller import EvalController
    from pytest_plugin_eval.pytest_side.state import CollectionState
    from pytest_plugin_eval.scoring.model import SuiteResult

__all__ = ["EvalTerminal"]

NOTES = 40
OWN_OPTIONS = ("--eval-", "--trust-plugin")
_WHY_PARTIAL = {
    "interrupted": "interrupted",
    "auth_failed": "the credential was refused",
    "cost_ceiling": "the cost ceiling was reached",
}


class EvalTerminal:
    """Adds the mode line, the plan, the table and the last word; nothing without evals."""

    def __init__(self, config: pytest.Config, controller: EvalController) -> None:
        self._config = config
        self._controller = controller
        self._settings = config.stash[settings_key]

    @property
    def _state(self) -> CollectionState:
        return self._controller.state

    def pytest_report_collectionfinish(self) -> list[str]:
        """Say which mode runs, with which agent, and what there is to know before."""
        return self._wrapped(self._head_lines())

    def _head_lines(self) -> list[str]:
        if not self._controller.cases:
            return list(self._state.notes) if self._state.shard_cases else []
        mode = self._settings.mode
        line = f"evals: {mode.value} mode"
        note = self._config.stash[workbench_key].backend_note
        if mode is Mode.REPLAY:
            source = self._settings.from_dir or "the committed recordings"
            line += f", from {source}; no agent{self._cost_of_replay()}"
        elif note:
            line += f", {note}"
        notes = self._config.stash[workbench_key].notes
        if not self._controller.is_distributed and (asked := self._controller.scorer.plan_line()):
            notes = [*notes, asked]
        return [line, *self._state.notes, *notes, *self._state.advice_lines(self._controller.cases)]

    def _cost_of_replay(self) -> str:
        """Return what the head line says of a replay's cost: votes are all it may pay for."""
        if self._config.stash[workbench_key].asks_for_votes:
            return ""  # the next lines say how many are lacking
        if not any(plan.with_votes or plan.without_votes for plan in self._state.plans):
            return ", no cost"
        if self._controller.is_distributed:
            return ", no cost: votes that are not recorded are not asked for under xdist (-n)"
        if self._config.getoption("collectonly"):
            return "; votes that are not recorded cost something"
        return ", no cost"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table, or the plan, and what else the reader has to know."""
        if self._config.getoption("collectonly"):
            self._section(terminalreporter, "eval plan", self._wrapped(self._plan_lines()))
        else:
            before, after = self._wrapped(self._error_lines()), self._wrapped(self._result_lines())
            self._section(terminalreporter, "evals", [*before, *self._table_lines(), *after])
            width, scorer = self._config.get_terminal_writer().fullwidth, self._controller.scorer
            self._section(
                terminalreporter, "skills", self._wrapped(scorer.skill_lines(width=width))
            )
        self._section(terminalreporter, "evals not run", self._wrapped(self._unnamed_lines()))

    def _section(self, reporter: pytest.TerminalReporter, title: str, lines: list[str]) -> None:
        if not lines:
            return
        reporter.section(title)
        for line in lines:
            reporter.line(line)

    def _wrapped(self, lines: Iterable[str]) -> list[str]:
        listed = list(lines)
        if not listed:
            return []
        from pytest_plugin_eval.reports.columns import cell, hanging

        width = self._config.get_terminal_writer().fullwidth
        ascii_only = self._config.stash[workbench_key].ascii_only
        clean = (cell(line, ascii_only=ascii_only) for text in listed for line in text.splitlines())
        return [part for line in clean for part in hanging(line, width)]

    def _table_lines(self) -> Iterable[str]:
        suites = self._controller.suites
        for number, suite in enumerate(suites):
            from pytest_plugin_eval.reports.table import table_lines

            if number:
                yield ""
            yield from table_lines(
                suite,
                width=self._config.get_terminal_writer().fullwidth,
                heading=len(suites) > 1,
                ascii_only=self._config.stash[workbench_key].ascii_only,
                quality=self._controller.quality.get(suite.info.root, ()),
            )

    def _error_lines(self) -> Iterable[str]:
        shown = self._config.stash[workbench_key].shown
        yield from (f"error: {shown(text)}" for text in self._state.loose)
        if self._state.broken:
            yield f"{plural(len(self._state.broken), 'case')} did not load, see ERRORS above"

    def _result_lines(self) -> Iterable[str]:
        if self._controller.is_distributed:
            # Not asked for after a distributed collection. Without that, `-q` leaves them out.
            is_quiet = self._config.getoption("verbose") < 0
            head = self._head_lines()
            yield from (line for line in head if not (is_quiet and line.startswith("hint: ")))
        yield from self._run_notes(self._controller.suites)
        yield from self._quality_lines()
        if self._controller.reruns:
            were = "run was" if self._controller.reruns == 1 else "runs were"
            yield (
                f"{self._controller.reruns} {were} repeated by another plugin: the last score "
                "counts, the cost of all"
            )
        if self._controller.cut_off:
            yield self._cut_off_line(self._controller.cut_off)
        yield from self._uncounted_lines()
        for path in self._controller.written:
            yield f"results: {self._shown(path)}"
        yield from self._adoption_lines()
        for text in self._controller.unwritten:
            yield f"error: results not written: {text}"
        why = _WHY_PARTIAL.get(self._controller.partial_reason or "")
        if why:
            # `plugin-eval run` ends an interrupted session with the signal's own status.
            status = "" if self._controller.signal else "; exit status 2"
            yield f"incomplete: {why}{status}"
        yield from self._resume_lines()

    def _quality_lines(self) -> Iterable[str]:
        """Yield what was not scored or measured, and which limits were missed."""
        scorer = self._controller.scorer
        yield from scorer.notes[:NOTES]
        if len(scorer.notes) > NOTES:
            yield f"and {len(scorer.notes) - NOTES} more such notes, see the result document"
        kind = "only reported" if self._settings.report_only else "error"
        yield from (f"{kind}: {line}" for line in scorer.missed)

    def _cut_off_line(self, count: int) -> str:
        were, are, they = ("was", "is", "it") if count == 1 else ("were", "are", "they")
        died = self._controller.has_dead_workers
        which = "of workers that died" if died else f"that {were} cut off"
        return (
            f"warning: {plural(count, 'call')} {which} {are} not counted: "
            f"what {they} cost is unknown"
        )

    def _adoption_lines(self) -> Iterable[str]:
        """Say where answers lie that a model gave for a mock and a person may adopt."""
        from pytest_plugin_eval.mocks.recordings import ADOPT, DIRECTORY

        places = dict.fromkeys(path.parent / DIRECTORY for path in self._controller.written)
        for place in places:
            if (place / ADOPT).is_file():
                yield f"answers to adopt as mocks: {self._shown(place / ADOPT)}"

    def _resume_lines(self) -> Iterable[str]:
        """Say how an unfinished session goes on; what is finished is not paid for again."""
        reasons = [suite.partial_reason for suite in self._controller.suites]
        lost = [progress.has_lost_runs for progress in self._controller.cases.values()]
        is_partial = any((self._controller.partial_reason, *reasons, *lost))
        if not is_partial or self._settings.mode is Mode.REPLAY:
            return
        place = self._place_to_resume()
        if place is not None and _is_left(place):
            option = f"--eval-resume={shlex.quote(self._shown(place))}"
            yield f"continue with: {self._command()} {option}"

    def _place_to_resume(self) -> Path | None:
        """Return the directory in which a run was left, where it is one."""
        from pytest_plugin_eval.records.model import Ending

        resumed, runs = self._settings.resume_dir, self._controller.runs()
        made = [
            run
            for run in runs
            if run.outcome.ending is not Ending.NOT_STARTED or run.outcome.error == UNGRADED
        ]
        left = {Path(run.results_dir) for run in made if run.results_dir}
        if not made:
            # Of a worker that died nothing came in, and the record of its run may be there.
            stamp = self._controller.session_id.partition(" ")[0]
            bases = {Path(plan.results_base) for plan in self._state.plans}
            left = {base / stamp for base in bases if (base / stamp / "runs").is_dir()}
        if resumed is not None:
            return resumed
        if made and self._settings.results_dir is not None:
            return self._settings.results_dir
        return min(left) if len(left) == 1 else None

    def _command(self) -> str:
        """Return what the reader has to enter, the option for resuming excepted."""
        if self._settings.root is None:
            return "the same command and"
        # `plugin-eval run` cannot resume; pytest knows all that it was told by it.
        told = [
            word
            for word in map(str, self._config.invocation_params.args)
            if word.startswith(OWN_OPTIONS) and not word.startswith("--eval-results-dir=")
        ]
        paths = (self._shown(Path(path)) for path in self._config.args)
        return shlex.join(["pytest", *told, *paths])

    def _uncounted_lines(self) -> Iterable[str]:
        unknown = self._controller.uncounted
        if self._settings.max_cost_usd is not None and unknown:
            calls = plural(unknown, "call")
            yield f"warning: {calls} of unknown cost, for the ceiling as dear as the dearest known"
        if self._controller.unreported_usd and len(self._controller.suites) != 1:
            spent = dollars(self._controller.unreported_usd)
            yield f"spent besides: {spent}, for what came to no result"

    def _run_notes(self, suites: Sequence[SuiteResult]) -> Iterable[str]:
        notes = [
            f"{run.key.case} {run.key.arm.value}-{run.key.number}: {note}"
            for suite in suites
            for case in suite.cases
            for run in case.runs
            for note in run.notes
        ]
        yield from notes[:NOTES]
        if len(notes) > NOTES:
            yield f"and {len(notes) - NOTES} more such notes, see the result document"
        yield from self._config.stash[workbench_key].left_behind

    def _unnamed_lines(self) -> list[str]:
        unnamed = self._state.unnamed
        if not unnamed:
            return []
        # Ids are relative to the rootdir, and the reader may stand elsewhere.
        here, root = self._config.invocation_params.dir, self._config.rootpath
        paths = {os.path.relpath(root / _above(nodeid), here) for nodeid in unnamed}
        run = " ".join(map(shlex.quote, sorted(paths)))
        return [
            f"{plural(len(unnamed), 'eval case')} not run: in live mode they cost money, "
            "and no argument names them",
            f"run them with: pytest {run}  (or add --evals)",
        ]

    def _plan_lines(self) -> list[str]:
        from pytest_plugin_eval.pytest_side.session_plan import selected_plans, session_plan_lines

        plans = tuple(selected_plans(self._state.plans, self._controller.cases))
        return session_plan_lines(plans, replay=self._settings.mode is Mode.REPLAY)

    def _shown(self, path: Path) -> str:
        try:
            relative = path.relative_to(self._config.invocation_params.dir)
        except ValueError:
            return str(path)
        return str(relative) if relative.parts else f".{os.sep}"


def _is_left(place: Path) -> bool:
    """Return whether there is a session to go on with; with several plugins each has a folder."""
    from pytest_plugin_eval.storage.session_file import SESSION_FILE

    return any(next(place.glob(f"{above}{SESSION_FILE}"), None) for above in ("", "*/"))


def _above(nodeid: str) -> str:
    """Return the innermost directory of a case that is called ``evals``, else its parent.

    One further out may be called so by chance; naming it would run nothing.
    """
    parts = nodeid.split("/")
    for count in range(len(parts), 0, -1):
        if parts[count - 1] == "evals":
            return "/".join(parts[:count])
    return "/".join(parts[:-1]) or nodeid
