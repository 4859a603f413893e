"""What a session of this plugin consists of: settings, state, and a controller or a worker."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import pytest

from pytest_plugin_eval.cases.discovery import forget
from pytest_plugin_eval.errors import SettingsError
from pytest_plugin_eval.pytest_side.arguments import rewrite_arguments
from pytest_plugin_eval.pytest_side.configuration import check_configuration
from pytest_plugin_eval.pytest_side.options import settings_from
from pytest_plugin_eval.pytest_side.selection import EvalSelection
from pytest_plugin_eval.pytest_side.stash import (
    collection_key,
    picked_key,
    settings_key,
    workbench_key,
)
from pytest_plugin_eval.pytest_side.state import CollectionState
from pytest_plugin_eval.pytest_side.tags import mark_names
from pytest_plugin_eval.pytest_side.workbench import Workbench, new_session_id

__all__ = ["configure"]


def configure(config: pytest.Config) -> None:
    """Fill the stash and register the controller, or the worker of an xdist session.

    Raises `pytest.UsageError` for bad settings.
    """
    check_configuration(config)
    try:
        settings = settings_from(config)
    except SettingsError as error:
        raise pytest.UsageError(str(error)) from None
    forget()  # an earlier session of this process may have seen other files
    config.stash[settings_key] = settings
    config.stash[collection_key] = CollectionState(user_marks=mark_names(config))
    config.stash[picked_key] = rewrite_arguments(config, settings)
    if hasattr(config, "workerinput"):
        from pytest_plugin_eval.pytest_side.worker import EvalWorker

        given = config.workerinput["plugin_eval"]
        session_id, ascii_only = given["session_id"], given["ascii_only"]
        config.pluginmanager.register(EvalWorker(config), "plugin_eval_worker")
    else:
        from pytest_plugin_eval.pytest_side.controller import EvalController
        from pytest_plugin_eval.pytest_side.terminal import EvalTerminal

        session_id, ascii_only = new_session_id(datetime.now(UTC)), not _has_marks()
        controller = EvalController(config, session_id)
        config.pluginmanager.register(controller, "plugin_eval_controller")
        config.pluginmanager.register(EvalTerminal(config, controller), "plugin_eval_terminal")
        if config.pluginmanager.hasplugin("xdist"):
            from pytest_plugin_eval.pytest_side.nodes import EvalNodes

            nodes = EvalNodes(controller, ascii_only=ascii_only)
            config.pluginmanager.register(nodes, "plugin_eval_nodes")
    config.stash[workbench_key] = Workbench(
        settings,
        here=config.invocation_params.dir,
        session_id=session_id,
        stop_early=bool(config.getoption("maxfail", 0)),
        is_worker=hasattr(config, "workerinput"),
        ascii_only=ascii_only,
    )
    config.pluginmanager.register(EvalSelection(config), "plugin_eval_selection")


def _has_marks() -> bool:
    """Whether the reader's terminal can show the marks and signs of the table."""
    encoding = getattr(sys.__stdout__, "encoding", None) or "utf-8"
    try:
        "✓✗Δ—·…".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
