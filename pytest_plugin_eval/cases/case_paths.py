"""Paths that a case names: they must exist and stay inside what the case may touch."""

from __future__ import annotations

import os
from typing import Literal

__all__ = ["add_dir_problem", "path_problem", "plugin_path_problem", "within"]


def within(path: str, top: str) -> bool:
    """Tell whether *path* is *top* or lies in it; both absolute and resolved."""
    return path == top or path.startswith(top.rstrip(os.sep) + os.sep)


def path_problem(
    directory: str,
    entry: str,
    kind: Literal["file", "directory"],
    *,
    must_exist: bool = True,
    border: str | None = None,
) -> str | None:
    """Return what is wrong with a path of a case, or ``None``. Spec: agent-run, 8.

    A link in the case directory may lead to anywhere in *border* (deviations, D11), by default in
    the case directory itself.
    """
    resolved = _resolved(directory, entry)
    if resolved is None:
        return "is not a path"
    top = os.path.realpath(directory)
    spelled = os.path.normpath(os.path.join(directory, entry))
    if os.path.isabs(entry) or not (within(spelled, directory) or within(resolved, top)):
        return "leaves the case directory, expected a path inside it"
    if not within(resolved, os.path.realpath(border) if border else top):
        what = "the eval directory" if border else "the case directory"
        return f"leads through a link to {resolved}, outside {what}; put a copy in its place"
    if not os.path.exists(resolved):
        return "does not exist in the case directory" if must_exist else None
    if kind == "directory" and not os.path.isdir(resolved):
        return "is a file, expected a directory"
    if kind == "file" and not os.path.isfile(resolved):
        return "is not a regular file"
    return None


def add_dir_problem(directory: str, entry: str) -> str | None:
    """Return what is wrong with an entry of ``add_dirs``, or ``None``.

    What tells how the case is graded is not opened. Spec: agent-run, 4.
    """
    problem = path_problem(directory, entry, "directory")
    if problem:
        return problem
    top, resolved = os.path.realpath(directory), os.path.realpath(os.path.join(directory, entry))
    if resolved == top:
        return "is the case directory itself, expected a directory of fixtures in it"
    for name in ("graders", "mocks"):
        if within(resolved, os.path.realpath(os.path.join(top, name))):
            return f"would show the agent the case's {name}, expected a directory of fixtures"
    return None


def plugin_path_problem(directory: str, entry: str, root: str) -> str | None:
    """Return what is wrong with an entry of ``plugins``. Spec: behaviour-evals, 2.8."""
    resolved = _resolved(directory, entry)
    if resolved is None or not os.path.exists(resolved):
        return "does not exist"
    if not within(resolved, os.path.realpath(root)):
        return f"is {resolved}, outside {root}; only plugins inside it can be loaded"
    if not os.path.isdir(resolved):
        return "is a file, expected the root of a plugin"
    return None


def _resolved(directory: str, entry: str) -> str | None:
    try:
        return os.path.realpath(os.path.join(directory, entry))
    except ValueError:  # a NUL character
        return None
