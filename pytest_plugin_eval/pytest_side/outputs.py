"""What a session with evals adds to the outputs of pytest, registered in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_plugin_eval.pytest_side.failure_text import EvalFailures
from pytest_plugin_eval.pytest_side.junit_file import EvalJunit
from pytest_plugin_eval.pytest_side.last_word import EvalLastWord
from pytest_plugin_eval.pytest_side.live_line import EvalLiveLine
from pytest_plugin_eval.pytest_side.terminal import EvalTerminal

if TYPE_CHECKING:
    from pytest_plugin_eval.pytest_side.controller import EvalController

__all__ = ["register_outputs"]


def register_outputs(config: pytest.Config, controller: EvalController) -> None:
    """Register terminal, failure texts, JUnit file, live line and last word; in the controller."""
    register = config.pluginmanager.register
    register(EvalTerminal(config, controller), "plugin_eval_terminal")
    register(EvalFailures(), "plugin_eval_failures")
    register(EvalJunit(config, controller), "plugin_eval_junit")
    register(EvalLiveLine(config, controller), "plugin_eval_live_line")
    register(EvalLastWord(config, controller), "plugin_eval_last_word")
