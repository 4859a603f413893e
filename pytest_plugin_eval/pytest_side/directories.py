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
from pytest_plugin_eval.text import one_line

if TYPE_CHECKING:
    from pytest_plugin_eval.pytest_side.collector import EvalCase

__all__ = ["collect_directory", "ignore_decision"]


def ignore_decision(path: Path, config: pytest.Config) -> bool | None:
    """Return ``True`` for a reserved directory, ``False`` for one that `norecursedirs` would drop.

    Cases called ``build`` or ``.x`` would otherwise vanish without a word. A ``False`` overrules
    all others, also a `collect_ignore` in a conftest file, so where no pattern of `norecursedirs`
    fits the answer is left to pytest, as it is for ``--ignore``.
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
    if not leads or not _is_dropped(path, config) or _is_ignored_by_user(path, config):
        return None
    return False


def collect_directory(path: Path, parent: pytest.Collector) -> EvalCase | None:
    """Return the collector of a case directory, or ``None`` for any other directory."""
    settings = parent.config.stash.get(settings_key, None)
    if settings is None:
        return None
    if case_directory_of(path, eval_dir=settings.eval_dir, root=settings.root) != path:
        return None
    from pytest_plugin_eval.pytest_side.collector import EvalCase
    from pytest_plugin_eval.pytest_side.session import activate

    activate(parent.config, parent.session)
    case: EvalCase = EvalCase.from_parent(parent, path=path)
    if one_line(case.nodeid) == case.nodeid:
        return case
    # pytest writes ids as they are, to the terminal and into JUnit XML, where no reader takes them.
    return EvalCase.from_parent(parent, path=path, nodeid=one_line(case.nodeid))


def _is_dropped(path: Path, config: pytest.Config) -> bool:
    """Whether pytest would not enter a directory for its name or what is in it."""
    from fnmatch import fnmatch

    patterns: list[str] = config.getini("norecursedirs")
    return (
        path.name == "__pycache__"
        # `match` understands directories in a pattern, and is slow.
        or any(
            path.match(pattern) if "/" in pattern else fnmatch(path.name, pattern)
            for pattern in patterns
        )
        or (path / "pyvenv.cfg").is_file()
    )


def _is_ignored_by_user(path: Path, config: pytest.Config) -> bool:
    paths, globs = config.getoption("ignore"), config.getoption("ignore_glob")
    if not paths and not globs:
        return False
    from fnmatch import fnmatch

    here = config.invocation_params.dir
    if str(path) in (os.path.normpath(here / str(one)) for one in paths or ()):
        return True
    return any(fnmatch(str(path), os.path.normpath(here / str(one))) for one in globs or ())
