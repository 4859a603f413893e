"""The pytest entry point: every hook here unpacks its arguments and calls one function.

Loaded in each pytest session of the environment, so it imports nothing heavy; a session that meets
no eval directory does no more than the checks below.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_plugin_eval.pytest_side import options
from pytest_plugin_eval.pytest_side.stash import report_key

if TYPE_CHECKING:
    from pytest_plugin_eval.pytest_side.collector import EvalCase
    from pytest_plugin_eval.pytest_side.skill_items import SkillFile


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and ini values of the option table."""
    options.add_options(parser)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Check the settings, rewrite directory ids and register the session's object."""
    from pytest_plugin_eval.pytest_side.session import configure

    configure(config)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Keep cases from vanishing by `norecursedirs`, and skip reserved directories."""
    from pytest_plugin_eval.pytest_side.directories import ignore_decision

    return ignore_decision(collection_path, config)


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> EvalCase | None:
    """Answer for case directories, and for no other."""
    from pytest_plugin_eval.pytest_side.directories import collect_directory

    return collect_directory(path, parent)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SkillFile | None:
    """Answer for a SKILL.md that is asked for, and for no other file."""
    if file_path.name != "SKILL.md":
        return None
    from pytest_plugin_eval.pytest_side.skill_items import collect_skill

    return collect_skill(file_path, parent)


@pytest.hookimpl(tryfirst=True)
def pytest_make_collect_report(collector: pytest.Collector) -> pytest.CollectReport | None:
    """Collect a case without importing a `conftest.py` among its files."""
    if not hasattr(collector, "eval_report"):
        return None
    report: pytest.CollectReport = collector.eval_report()
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send a run's graded report along with pytest's own."""
    report = yield
    graded = item.stash.get(report_key, None)
    if graded is not None and (call.when == "call" or (call.when == "setup" and not report.passed)):
        from pytest_plugin_eval.pytest_side.payload import codec_of

        # A plain attribute of plain values travels from xdist's workers by itself.
        report.eval_run = codec_of(item.config).encode(graded)  # type: ignore[attr-defined]
    skill = getattr(item, "eval_skill", None)
    if skill is not None and call.when == "call":
        report.eval_skill = skill  # type: ignore[attr-defined]  # plain values, as above
        report.eval_verdict = {"missed": skill["missed"]}  # type: ignore[attr-defined]
    if call.when == "setup" and report.failed and hasattr(item, "setup_failure"):
        # pytest asks an item only about its call; a run is made in its setup.
        report.longrepr = item.setup_failure(call.excinfo)
    if graded is not None and call.when == "teardown":
        del item.stash[report_key]  # items live as long as the session
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(
    report: pytest.TestReport | pytest.CollectReport,
) -> tuple[str, str, str] | None:
    """Name the outcomes `partial`, `baseline` and not measured."""
    run, verdict = getattr(report, "eval_run", None), getattr(report, "eval_verdict", None)
    if run is verdict is None:
        return None
    from pytest_plugin_eval.pytest_side.status import run_status, verdict_status

    if run is not None:
        return run_status(report, run)
    return verdict_status(report, verdict) if verdict is not None else None
