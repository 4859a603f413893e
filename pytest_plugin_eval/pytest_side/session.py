"""What a session of this plugin consists of: settings, and once there are evals all the rest.

A session without evals pays for what is imported and registered here, so most of it waits until
the first case is met.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_plugin_eval.cases.discovery import forget
from pytest_plugin_eval.errors import SettingsError
from pytest_plugin_eval.pytest_side.arguments import Picked, rewrite_arguments
from pytest_plugin_eval.pytest_side.options import are_options_given, settings_from
from pytest_plugin_eval.pytest_side.stash import (
    collection_key,
    marks_key,
    picked_key,
    settings_key,
    workbench_key,
)
from pytest_plugin_eval.settings import Settings

if TYPE_CHECKING:
    from pytest_plugin_eval.pytest_side.remote_worker import RemoteWorker

__all__ = ["activate", "configure"]

# Reports of pytest and of plugins that are common beside this one.
_REPORTS = ("xmlpath", "log_file", "htmlpath", "report_log", "json_report_file")


def configure(config: pytest.Config) -> None:
    """Check the settings and rewrite ids; activate at once where no collection will.

    Raises `pytest.UsageError` for bad settings.
    """
    if are_options_given(config):
        from pytest_plugin_eval.pytest_side.configuration import check_configuration

        check_configuration(config)
    try:
        settings = settings_from(config)
    except SettingsError as error:
        raise pytest.UsageError(str(error)) from None
    forget()  # an earlier session of this process may have seen other files
    config.stash[settings_key] = settings
    # Of the ini file alone: plugins register their own marks from here on.
    config.stash[marks_key] = tuple(config.getini("markers"))
    config.stash[picked_key] = rewrite_arguments(config, settings)
    if _is_needed_at_once(config, settings, config.stash[picked_key]):
        activate(config)


def _is_needed_at_once(config: pytest.Config, settings: Settings, picked: Picked) -> bool:
    """Whether something has to be there before, or without, a collection in this process."""
    distributed = getattr(config.option, "dist", "no") != "no" or hasattr(config, "workerinput")
    return distributed or bool(picked.names) or settings.root is not None


def activate(config: pytest.Config, session: pytest.Session | None = None) -> None:
    """Register the controller, or the worker of an xdist session, with what they work on; once.

    *session* is the one that has already begun, if it has.
    """
    if workbench_key in config.stash:
        return
    from pytest_plugin_eval.cases.fingerprint import leave_out
    from pytest_plugin_eval.pytest_side.selection import EvalSelection
    from pytest_plugin_eval.pytest_side.state import CollectionState
    from pytest_plugin_eval.pytest_side.tags import mark_names
    from pytest_plugin_eval.pytest_side.workbench import Workbench, new_session_id

    leave_out(_written_paths(config))
    marks = config.stash[marks_key]
    config.stash[collection_key] = CollectionState(user_marks=mark_names(marks))
    if hasattr(config, "workerinput"):
        from pytest_plugin_eval.pytest_side.worker import EvalWorker

        given = config.workerinput["plugin_eval"]
        session_id, ascii_only = given["session_id"], given["ascii_only"]
        money = given["money"]
        remote = _remote(config, given)
        config.pluginmanager.register(EvalWorker(config), "plugin_eval_worker")
    else:
        session_id, ascii_only, money = new_session_id(), not _has_marks(), None
        remote = None
        _register_controller(config, session, session_id, ascii_only=ascii_only)
    config.stash[workbench_key] = Workbench(
        config.stash[settings_key],
        here=config.invocation_params.dir,
        session_id=session_id,
        stop_early=bool(config.getoption("maxfail", 0)),
        is_worker=hasattr(config, "workerinput"),
        ascii_only=ascii_only,
        money=None if money is None else Path(money),
        remote=remote,
    )
    config.pluginmanager.register(EvalSelection(config), "plugin_eval_selection")
    if config.stash[settings_key].shard != (1, 1):
        from pytest_plugin_eval.pytest_side.shards import EvalShard

        config.pluginmanager.register(EvalShard(), "plugin_eval_shard")


def _remote(config: pytest.Config, given: Mapping[str, object]) -> RemoteWorker | None:
    if given.get("elsewhere") is None:
        return None
    from pytest_plugin_eval.pytest_side.remote_worker import remote_worker

    return remote_worker(given, rootdir=config.rootpath, here=config.invocation_params.dir)


def _written_paths(config: pytest.Config) -> Iterator[Path]:
    """Yield what options name for the session to write, which may lie in the plugin."""
    settings = config.stash[settings_key]
    yield from filter(None, (settings.json_path, settings.results_dir, settings.resume_dir))
    for page in filter(None, (settings.html_path, settings.report_path)):
        from pytest_plugin_eval.reports.html import side_directory

        yield from (page, side_directory(page))
    for name in _REPORTS:
        place = config.getoption(name, None)
        if isinstance(place, str) and place:
            yield config.invocation_params.dir / place
    if getattr(config, "workerinput", {}).get("plugin_eval", {}).get("elsewhere") is not None:
        # xdist 3.8 puts its pytest into the directory of a worker elsewhere.
        yield from (config.invocation_params.dir / name for name in ("pytest", "_pytest"))


def _register_controller(
    config: pytest.Config, session: pytest.Session | None, session_id: str, *, ascii_only: bool
) -> None:
    from pytest_plugin_eval.pytest_side.controller import EvalController
    from pytest_plugin_eval.pytest_side.outputs import register_outputs

    controller = EvalController(config, session_id, session)
    config.pluginmanager.register(controller, "plugin_eval_controller")
    config.pluginmanager.register(controller.scorer, "plugin_eval_quality")
    register_outputs(config, controller)
    if config.pluginmanager.hasplugin("xdist"):
        from pytest_plugin_eval.pytest_side.nodes import EvalNodes

        nodes = EvalNodes(config, controller, ascii_only=ascii_only)
        config.pluginmanager.register(nodes, "plugin_eval_nodes")


def _has_marks() -> bool:
    """Whether the reader's terminal can show the marks and signs of the table."""
    encoding = getattr(sys.__stdout__, "encoding", None) or "utf-8"
    try:
        "✓✗Δ—·…".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
