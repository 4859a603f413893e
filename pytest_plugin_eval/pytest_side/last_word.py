"""The last line of a session with evals: why its exit status is what it is."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

from pytest_plugin_eval.pytest_side.ids import VERDICT, is_run_id
from pytest_plugin_eval.pytest_side.stash import settings_key, workbench_key
from pytest_plugin_eval.pytest_side.status import MISSED

if TYPE_CHECKING:
    from pytest_plugin_eval.pytest_side.controller import EvalController

__all__ = ["EvalLastWord", "last_line"]

SKILL_FILE = "SKILL.md"
_CATEGORIES = ("passed", "failed", "error", MISSED)


class EvalLastWord:
    """Says the last word; nothing without evals, nor in `plugin-eval run`, which has its own."""

    def __init__(self, config: pytest.Config, controller: EvalController) -> None:
        self._config = config
        self._controller = controller

    # Around pytest's own, which writes its last line after all others had their say.
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        """Write the line, once nothing changes the status any more."""
        outcome = yield
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None or self._config.stash[settings_key].root is not None:
            return outcome
        if self._config.getoption("verbose") < -1:
            return outcome
        if self._config.getoption("collectonly") and int(session.exitstatus) == 0:
            return outcome
        line = last_line(self._config, self._controller, int(session.exitstatus), session)
        if line:
            reporter.write_line(line)
        return outcome


def last_line(
    config: pytest.Config,
    controller: EvalController,
    status: int,
    session: pytest.Session | None = None,
) -> str:
    """Return the line about an exit status; empty for a session that met no eval."""
    state, settings = controller.state, config.stash[settings_key]
    skills = {category: _skills(config, category) for category in _CATEGORIES}
    is_met = controller.cases or state.broken or state.loose or state.unnamed or state.plans
    if not is_met and not any(skills.values()):
        return ""
    from pytest_plugin_eval.reports.columns import cell
    from pytest_plugin_eval.reports.last_word import Ended, last_word

    failed = list(_failed(config))
    stopped = (session.shouldfail or session.shouldstop) if session is not None else ""
    ended = Ended(
        status=status,
        cases=tuple(case for suite in controller.suites for case in suite.cases),
        total=len(controller.cases),
        threshold=settings.threshold,
        min_delta=settings.min_delta,
        report_only=settings.report_only,
        partial_reason=controller.partial_reason,
        broken=len(state.broken),
        loose=len(state.loose),
        unwritten=len(controller.unwritten),
        quality=tuple(controller.scorer.missed),
        skills=len(set().union(*skills.values())),
        skills_failed=len(skills["failed"] | skills[MISSED]),
        skills_lost=len(skills["error"]),
        other_failures=sum(
            not _is_eval(nodeid) and not _is_skill(nodeid) and nodeid not in state.broken
            for nodeid in failed
        ),
        stopped=str(stopped or ""),
        unnamed=len(state.unnamed),
    )
    return cell(last_word(ended), ascii_only=config.stash[workbench_key].ascii_only)


def _failed(config: pytest.Config) -> Iterator[str]:
    """Yield the node ids of all that failed or erred, each once."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    stats = {} if reporter is None else reporter.stats
    reports = [*stats.get("failed", ()), *stats.get("error", ())]
    yield from dict.fromkeys(report.nodeid for report in reports)


def _skills(config: pytest.Config, category: str) -> set[str]:
    """Return the node ids of the skills whose reports pytest counts so."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reports = () if reporter is None else reporter.stats.get(category, ())
    ids = (getattr(report, "nodeid", "") for report in reports)
    return set(filter(_is_skill, ids))


def _is_eval(nodeid: str) -> bool:
    return is_run_id(nodeid) or nodeid.endswith(f"::{VERDICT}")


def _is_skill(nodeid: str) -> bool:
    return nodeid.partition("::")[0].rpartition("/")[2] == SKILL_FILE
