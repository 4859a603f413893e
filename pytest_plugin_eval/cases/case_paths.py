"""Paths that a case names: they must exist and stay inside what the case may touch."""

from __future__ import annotations

import os
from typing import Literal

__all__ = ["path_problem", "plugin_path_problem", "within"]


def within(path: str, top: str) -> bool:
    """Tell whether *path* is *top* or lies in it; both absolute and resolved."""
    return path == top or path.startswith(top.rstrip(os.sep) + os.sep)


def path_problem(
    directory: str, entry: str, kind: Literal["file", "directory"], *, must_exist: bool = True
) -> str | None:
    """Return what is wrong with a path of a case, or ``None``. Spec: agent-run, 8."""
    resolved = _resolved(directory, entry)
    if resolved is None:
        return "is not a path"
    if os.path.isabs(entry) or not within(resolved, os.path.realpath(directory)):
        return "leaves the case directory, expected a path inside it"
    if not os.path.exists(resolved):
        return "does not exist in the case directory" if must_exist else None
    if kind == "directory" and not os.path.isdir(resolved):
        return "is a file, expected a directory"
    if kind == "file" and not os.path.isfile(resolved):
        return "is not a regular file"
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
