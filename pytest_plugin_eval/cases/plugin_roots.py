"""Where the root of a plugin is: a few stats, remembered.

Asked of every directory of any pytest session, hence nothing is imported here that costs time.
"""

from __future__ import annotations

import os
from functools import cache

__all__ = [
    "DEFAULT_EVAL_DIR",
    "SKILL_FILE",
    "manifest_file",
    "manifest_root",
    "outermost_manifest_root",
    "skill_root",
]

DEFAULT_EVAL_DIR = "evals"
SKILL_FILE = "SKILL.md"
MANIFESTS = (os.path.join(".claude-plugin", "plugin.json"), "plugin.json")


def manifest_file(root: str) -> str | None:
    """Return the manifest of a plugin rooted here, or ``None``."""
    for name in MANIFESTS:
        path = os.path.join(root, name)
        if os.path.isfile(path):
            return path
    return None


@cache
def manifest_root(directory: str) -> str | None:
    """Return the nearest directory with a manifest, from *directory* upwards."""
    if manifest_file(directory):
        return directory
    parent = os.path.dirname(directory)
    return None if parent == directory else manifest_root(parent)


def outermost_manifest_root(directory: str) -> str | None:
    """Return the outermost directory with a manifest, from *directory* upwards."""
    found = None
    root = manifest_root(directory)
    while root is not None:
        found, parent = root, os.path.dirname(root)
        root = None if parent == root else manifest_root(parent)
    return found


@cache
def skill_root(directory: str) -> str | None:
    """Return the nearest directory with a ``SKILL.md``, from *directory* upwards."""
    if os.path.isfile(os.path.join(directory, SKILL_FILE)):
        return directory
    parent = os.path.dirname(directory)
    return None if parent == directory else skill_root(parent)


def forget_roots() -> None:
    """Forget what was found, so that changed files are seen."""
    manifest_root.cache_clear()
    skill_root.cache_clear()
