"""`plugin-eval new --bare`: a blank case."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_plugin_eval.cases.new_case import TEMPLATE, case_directory, new_case_parent
from pytest_plugin_eval.cli.output import say
from pytest_plugin_eval.storage.new_files import write_new_directory

__all__ = ["new_bare"]


def new_bare(name: str, *, eval_dir: str | None = None, root: Path | None = None) -> int:
    """Write a blank case below the plugin in *root*, the working directory by default.

    Returns the exit code. Raises `EvalError` for a name that is taken or cannot be used, and where
    there is no plugin.
    """
    here = Path.cwd()
    directory = case_directory(new_case_parent(root or here, eval_dir), name)
    paths = [os.path.relpath(path, here) for path in write_new_directory(directory, TEMPLATE)]
    say(f"Created {' and '.join(paths)}")
    return 0
