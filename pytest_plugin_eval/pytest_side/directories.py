"""What becomes of a directory that pytest meets: left out, taken as a case, or left to pytest.

Asked of every directory of every session, so nothing is imported here that only cases need.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_plugin_eval.cases.discovery import (
    RESERVED,
    case_directory_of,
    eval_directory_of,
    leads_to_case,
)
from pytest_plugin_eval.pytest_side.stash import settings_key

if TYPE_CHECKING:
    from pytest_plugin_eval.pytest_side.collector import EvalCase

__all__ = ["collect_directory", "ignore_decision"]


def ignore_decision(path: Path, config: pytest.Config) -> bool | None:
    """Return ``False`` for a directory that leads to a case, ``True`` for a reserved one.

    pytest's `norecursedirs` (``build``, ``.*``, …) would otherwise drop cases without a word; a
    plain ``False`` would overrule ``--ignore`` as well, so those are left to pytest.
    """
    settings = config.stash.get(settings_key, None)
    if settings is None or not path.is_dir():
        return None
    place = eval_directory_of(path, eval_dir=settings.eval_dir, root=settings.root)
    if place is None or path == place.path:
        return None
    leads = leads_to_case(path, eval_dir=settings.eval_dir, root=settings.root)
    if path.name in RESERVED and not leads:
        return True
    return False if leads and not _is_ignored_by_user(path, config) else None


def collect_directory(path: Path, parent: pytest.Collector) -> EvalCase | None:
    """Return the collector of a case directory, or ``None`` for any other directory."""
    settings = parent.config.stash.get(settings_key, None)
    if settings is None:
        return None
    if case_directory_of(path, eval_dir=settings.eval_dir, root=settings.root) != path:
        return None
    from pytest_plugin_eval.pytest_side.collector import EvalCase

    return EvalCase.from_parent(parent, path=path)


def _is_ignored_by_user(path: Path, config: pytest.Config) -> bool:
    paths, globs = config.getoption("ignore"), config.getoption("ignore_glob")
    if not paths and not globs:
        return False
    from fnmatch import fnmatch

    here = config.invocation_params.dir
    if str(path) in (os.path.normpath(here / str(one)) for one in paths or ()):
        return True
    return any(fnmatch(str(path), os.path.normpath(here / str(one))) for one in globs or ())
