"""From the TARGET of `plugin-eval run` to the suite root and the paths that pytest is given.

A name of an installed plugin goes before a directory of that name, as in the reference.

Spec: behaviour-evals, 2.8.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_plugin_eval.cases.discovery import (
    CASE_FILES,
    case_directory_of,
    eval_directory_of,
    find_eval_directories,
    forget,
    nearest_plugin,
)
from pytest_plugin_eval.cases.installed import (
    InstalledError,
    InstalledPlugin,
    find_installed,
    unknown_name,
)
from pytest_plugin_eval.cases.manifest import DEFAULT_EVAL_DIR, manifest_file, manifest_of
from pytest_plugin_eval.errors import EvalError

__all__ = ["Target", "TargetError", "resolve_target"]


class TargetError(EvalError):
    """A target in which there is nothing to run.

    *root* is where it was looked for; ``None`` for a name that does not lead to one place, and of
    which there is no document.
    """

    def __init__(self, message: str, root: Path | None, plugin_id: str | None = None) -> None:
        super().__init__(message)
        self.root = root
        self.plugin_id = plugin_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is to be run."""

    root: Path
    """Suite root: a plugin, or the scanned directory."""
    paths: tuple[Path, ...] = ()
    """Eval directories, or what of them was named."""
    eval_dir: str | None = None
    """Eval directory that pytest has to be told of, relative to the root."""
    results_base: Path | None = None
    """Where results go, when that is not the eval directory in which the case lies."""
    notes: tuple[str, ...] = ()
    plugin_id: str | None = None
    """``name@marketplace`` of an installed plugin that was named."""


def resolve_target(
    text: str, eval_dir: str | None, *, env: Mapping[str, str] | None = None
) -> Target:
    """Return what a target names, or raise `TargetError` when there is nothing to run.

    *env* says where the agent's configuration directory is; ``None``: this process's environment.
    """
    forget()
    env = os.environ if env is None else env
    cwd = os.path.abspath(".")  # noqa: PTH100 -- `resolve` would follow links
    try:
        installed = find_installed(text, env=env, cwd=cwd)
    except InstalledError as error:
        root = Path(error.root) if error.root else None
        raise TargetError(str(error), root, error.plugin_id) from error
    if installed is not None:
        return _installed(text, installed, eval_dir)
    path = Path(os.path.abspath(text or "."))  # noqa: PTH100 -- as above
    if not os.path.exists(path):  # noqa: PTH110 -- `Path.exists` raises for names that are too long
        hint = unknown_name(text, env=env, cwd=cwd)
        raise TargetError(f"{text}: no such file or directory{hint}", path)
    return _place(text, path, eval_dir)


def _installed(text: str, plugin: InstalledPlugin, eval_dir: str | None) -> Target:
    """Return the target of an installed plugin; its results go below the working directory."""
    root = Path(plugin.root)
    notes = [*plugin.notes, f"evaluating the installed plugin {plugin.id} in {root}"]
    if os.path.exists(text):  # noqa: PTH110 -- as above
        notes.append(f"for what is called {text} in the working directory, say ./{text}")
    paths = find_eval_directories(root, eval_dir=eval_dir)
    if not paths:
        raise TargetError(_nothing_found(root, root, eval_dir), root, plugin.id)
    return Target(
        root=root,
        paths=paths,
        eval_dir=eval_dir,
        results_base=Path.cwd() / (eval_dir or DEFAULT_EVAL_DIR) / "results",
        notes=tuple(notes),
        plugin_id=plugin.id,
    )


def _place(text: str, path: Path, eval_dir: str | None) -> Target:
    """Return the target that a path is."""
    if path.is_file() and path.name not in CASE_FILES:
        names = " or ".join(CASE_FILES)
        expected = f"expected a directory or a case's {names}"
        raise TargetError(f"{text}: is a file, {expected}", _root(path.parent, eval_dir))
    directory = path.parent if path.is_file() else path
    root = _root(directory, eval_dir)
    notes: tuple[str, ...] = ()
    if root != directory and nearest_plugin(root) is not None:
        notes = (f"evaluating the plugin in {root}, which the target lies in",)
    if path.is_file() and case_directory_of(directory, eval_dir=eval_dir, root=root) != directory:
        return _single_case(directory, root, eval_dir, notes)
    paths = _paths(directory, root, eval_dir)
    if not paths:
        raise TargetError(_nothing_found(directory, root, eval_dir), root)
    return Target(root=root, paths=paths, eval_dir=eval_dir, notes=notes)


def _root(directory: Path, eval_dir: str | None) -> Path:
    """Return the directory itself if it is a plugin or skill, else what encloses it."""
    if manifest_file(str(directory)) or Path(directory, "SKILL.md").is_file():
        return directory
    enclosing = nearest_plugin(directory)
    if enclosing is not None:
        return _spelt_like(directory, enclosing.path)
    place = eval_directory_of(directory, eval_dir=eval_dir)
    return place.root if place else directory


def _spelt_like(directory: Path, real_root: Path) -> Path:
    """Return the ancestor of *directory* that is *real_root*, without resolving links."""
    for ancestor in (directory, *directory.parents):
        if ancestor.resolve() == real_root:
            return ancestor
    return real_root


def _paths(directory: Path, root: Path, eval_dir: str | None) -> tuple[Path, ...]:
    place = eval_directory_of(directory, eval_dir=eval_dir, root=root)
    if place is not None and any(_related(directory, case) for case in place.cases):
        return (directory,)
    found = find_eval_directories(root, eval_dir=eval_dir)
    return tuple(one for one in found if one.is_relative_to(directory))


def _related(directory: Path, case: Path) -> bool:
    return case.is_relative_to(directory) or directory.is_relative_to(case)


def _single_case(
    directory: Path, root: Path, eval_dir: str | None, notes: tuple[str, ...]
) -> Target:
    """Return the target of a case file outside of any eval directory."""
    # The eval directory that is itself a case: its own directory.
    top = root if root != directory else directory.parent
    base = root / (eval_dir or _manifest_eval_dir(root) or DEFAULT_EVAL_DIR) / "results"
    return Target(
        root=top,
        paths=(directory,),
        eval_dir=directory.relative_to(top).as_posix(),
        results_base=base,
        notes=notes,
    )


def _manifest_eval_dir(root: Path) -> str | None:
    return manifest_of(str(root)).eval_dir


def _nothing_found(directory: Path, root: Path, eval_dir: str | None) -> str:
    manifest_dir = _manifest_eval_dir(root)
    name = eval_dir or manifest_dir or DEFAULT_EVAL_DIR
    if eval_dir:
        source = "named by --eval-dir"
    elif manifest_dir:
        source = "named by the plugin's manifest"
    else:
        source = "at any depth; --eval-dir names another"
    return (
        f"no eval cases found below {directory}: expected {name}/<case>/prompt.md or case.yaml "
        f"({source})"
    )
