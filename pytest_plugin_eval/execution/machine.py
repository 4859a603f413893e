"""What a session refuses before anything is spent, for what the user granted and where runs lie."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from pytest_plugin_eval.agents.grants import parse_grants, parse_removals
from pytest_plugin_eval.agents.sandbox import default_run_root
from pytest_plugin_eval.agents.shell_sandbox import check_shell
from pytest_plugin_eval.cases.case import Case
from pytest_plugin_eval.errors import SettingsError
from pytest_plugin_eval.settings import Settings

__all__ = ["check_grants", "check_run_root"]


def check_grants(settings: Settings, env: Mapping[str, str]) -> None:
    """Raise `SettingsError` for tools that cannot be granted or taken away on this machine."""
    for parse, entries in (
        (parse_grants, settings.allow_tools),
        (parse_removals, settings.disallow_tools),
    ):
        refused = parse(entries)[1]
        if refused:
            raise SettingsError("\n".join(refused))
    check_shell(
        settings.allow_tools,
        settings.disallow_tools,
        env=env,
        run_root=settings.run_root or default_run_root(),
        platform=sys.platform,
    )


def check_run_root(settings: Settings, cases: Iterable[Case]) -> None:
    """Raise `SettingsError` where run directories would lie in what the agent must not write.

    The plugin and its evals are closed to it: in a workspace below them every `Write` would fail,
    and both arms would score 0 for it.
    """
    root = Path(os.path.realpath(settings.run_root or default_run_root()))
    for case in cases:
        for closed in (case.eval_dir, *(plugin.path for plugin in case.plugins)):
            if root.is_relative_to(os.path.realpath(closed)):
                raise SettingsError(
                    f"run directories would lie in {root}, inside {closed}, where the agent "
                    "must not write; name another place with --eval-run-root"
                )
