"""Hashes that tell whether a record still belongs to what is on disk (decisions, 16)."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pytest_plugin_eval.cases.case import Case

__all__ = ["forget_plugins", "plugin_hash", "prompt_hash", "settings_hash"]

_SETTINGS = (
    "model",
    "max_turns",
    "timeout_s",
    "allowed_tools",
    "disallowed_tools",
    "append_system_prompt",
    "scaffold_script",
    "history_file",
    "add_dirs",
    "mock_servers",
)


def prompt_hash(case: Case) -> str:
    """Return the SHA-256 of the prompt."""
    return hashlib.sha256(case.prompt.encode("utf-8", "surrogatepass")).hexdigest()


def settings_hash(case: Case) -> str:
    """Return the SHA-256 of those settings of the case that bear on its runs."""
    settings: dict[str, object] = {name: getattr(case, name) for name in _SETTINGS}
    settings["env"] = dict(case.env)
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def plugin_hash(case: Case) -> str | None:
    """Return the SHA-256 of the bytes of the case's plugins, or ``None`` without any.

    Eval directory, ``.git`` and caches do not count. Computed once a process: no plugin changes
    under it.
    """
    if not case.plugins:
        return None
    return _plugin_hash(tuple(str(plugin.path) for plugin in case.plugins), str(case.eval_dir))


def forget_plugins() -> None:
    """Forget what was computed, so that changed files are seen."""
    _plugin_hash.cache_clear()


@cache
def _plugin_hash(roots: tuple[str, ...], eval_dir: str) -> str:
    total = hashlib.sha256()
    for number, root in enumerate(roots):
        for path, name in _files(root, eval_dir):
            total.update(f"{number}:{name}\0".encode("utf-8", "surrogateescape"))
            total.update(_file_hash(path))
    return total.hexdigest()


def _files(root: str, eval_dir: str) -> Iterator[tuple[str, str]]:
    left_out = (os.path.realpath(eval_dir), os.path.realpath(f"{root}/.git"))
    for directory, names, files in os.walk(root):
        names[:] = sorted(
            name
            for name in names
            if os.path.realpath(f"{directory}/{name}") not in left_out
            and not _is_cache(f"{directory}/{name}")
        )
        for name in sorted(files):
            path = f"{directory}/{name}"
            yield path, os.path.relpath(path, root).replace(os.sep, "/")


def _is_cache(directory: str) -> bool:
    # pytest's own cache lies in the plugin's root when the ini file does, and marks itself so.
    if os.path.basename(directory) == "__pycache__":
        return True
    return os.path.lexists(f"{directory}/CACHEDIR.TAG")


def _file_hash(path: str) -> bytes:
    try:
        if not Path(path).is_file():
            return b"-"
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return b"?"
