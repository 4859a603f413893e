"""Hashes that tell whether a record still belongs to what is on disk (decisions, 16)."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from pytest_plugin_eval.cases.case import Case

__all__ = [
    "forget_plugins",
    "leave_out",
    "newer_files",
    "plugin_hash",
    "prompt_hash",
    "scaffold_hash",
    "settings_hash",
    "stand_ins_hash",
]

_left_out: set[str] = set()
"""What this session itself writes, resolved."""

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
    # Absent from the settings of other cases, so that what was recorded of them stays good.
    if case.history_file is not None:
        settings["history"] = _file_hash(str(case.directory / case.history_file)).hex()
    if case.add_dirs:
        settings["opened"] = [_tree_hash(str(case.directory / entry)) for entry in case.add_dirs]
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def stand_ins_hash(case: Case, *, with_plugins: bool) -> str:
    """Return the SHA-256 of the mocks that an arm of the case has; empty where it has none.

    Not among the settings, since the arm without the plugins has only those servers that no plugin
    declares. Spec: agent-run, 7.5.
    """
    if not case.mocks:
        return ""
    from pytest_plugin_eval.cases.mock import Place, mocks_hash, placed_servers

    placed = placed_servers(case.mocks, case.plugins)
    served = (
        server.mock
        for server in placed
        if server.mock is not None and (with_plugins or server.place is Place.STANDALONE)
    )
    return mocks_hash(served) or ""


def scaffold_hash(case: Case) -> str:
    """Return the SHA-256 of the case's ``scaffold_script``; empty without one.

    Not among the settings: where the script is not run, it does not matter what is in it.
    """
    if case.scaffold_script is None:
        return ""
    return _file_hash(str(case.directory / case.scaffold_script)).hex()


def plugin_hash(case: Case) -> str | None:
    """Return the SHA-256 of the bytes of the case's plugins, or ``None`` without any.

    Eval directory, ``.git``, caches and what `leave_out` names do not count. Computed once a
    process: no plugin changes under it.
    """
    if not case.plugins:
        return None
    return _plugin_hash(_roots(case), str(case.eval_dir))


def leave_out(paths: Iterable[Path]) -> None:
    """Have no file or directory of *paths* count as a part of a plugin, and forget what was said.

    A session may write its results and reports into the plugin's directory; the next one would take
    them for a change of the plugin.
    """
    _left_out.clear()
    _left_out.update(os.path.realpath(path) for path in paths)
    forget_plugins()


def newer_files(cases: Iterable[Case], moment: float) -> tuple[str, ...]:
    """Return those files of the cases' plugins that were written after *moment*, sorted.

    *moment* is in seconds since the epoch; the names are relative to a plugin's root.
    """
    places = {(_roots(case), str(case.eval_dir)) for case in cases}
    found = {
        name
        for roots, eval_dir in places
        for root in roots
        for path, name in _files(root, eval_dir)
        if _changed_at(path) > moment
    }
    return tuple(sorted(found))


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


def _tree_hash(top: str) -> str:
    total = hashlib.sha256()
    for directory, names, files in os.walk(top):
        names.sort()
        for name in sorted(files):
            path = f"{directory}/{name}"
            inside = os.path.relpath(path, top).replace(os.sep, "/")
            total.update(f"{inside}\0".encode("utf-8", "surrogateescape"))
            total.update(_file_hash(path))
    return total.hexdigest()


def _roots(case: Case) -> tuple[str, ...]:
    return tuple(str(plugin.path) for plugin in case.plugins)


def _files(root: str, eval_dir: str) -> Iterator[tuple[str, str]]:
    left_out = {os.path.realpath(eval_dir), os.path.realpath(f"{root}/.git"), *_left_out}
    for directory, names, files in os.walk(root):
        names[:] = sorted(
            name
            for name in names
            if os.path.realpath(f"{directory}/{name}") not in left_out
            and not _is_cache(f"{directory}/{name}")
        )
        for name in sorted(files):
            path = f"{directory}/{name}"
            if _left_out and os.path.realpath(path) in left_out:
                continue
            yield path, os.path.relpath(path, root).replace(os.sep, "/")


def _is_cache(directory: str) -> bool:
    # pytest's own cache lies in the plugin's root when the ini file does, and marks itself so.
    # `.in_use` is of the agent: the sessions that have an installed plugin loaded.
    if os.path.basename(directory) in {"__pycache__", ".in_use"}:
        return True
    return os.path.lexists(f"{directory}/CACHEDIR.TAG")


def _changed_at(path: str) -> float:
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0


def _file_hash(path: str) -> bytes:
    try:
        if not Path(path).is_file():
            return b"-"
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        return b"?"
