"""From the TARGET of `plugin-eval run` to the suite root and the paths that pytest is given.

Spec: behaviour-evals, 2.8.
"""

from __future__ import annotations

import os
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
from pytest_plugin_eval.cases.manifest import DEFAULT_EVAL_DIR, manifest_file, manifest_of
from pytest_plugin_eval.errors import EvalError

__all__ = ["Target", "TargetError", "resolve_target"]


class TargetError(EvalError):
    """A target in which there is nothing to run."""

    def __init__(self, message: str, root: Path) -> None:
        super().__init__(message)
        self.root = root


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
    note: str | None = None


def resolve_target(text: str, eval_dir: str | None) -> Target:
    """Return what a target names, or raise `TargetError` when there is nothing to run."""
    forget()
    path = Path(os.path.abspath(text or "."))  # noqa: PTH100 -- `resolve` would follow links
    if not path.exists():
        raise TargetError(f"{text}: no such file or directory", path)
    if path.is_file() and path.name not in CASE_FILES:
        names = " or ".join(CASE_FILES)
        expected = f"expected a directory or a case's {names}"
        raise TargetError(f"{text}: is a file, {expected}", _root(path.parent, eval_dir))
    directory = path.parent if path.is_file() else path
    root = _root(directory, eval_dir)
    note = None
    if root != directory and nearest_plugin(root) is not None:
        note = f"evaluating the plugin in {root}, which the target lies in"
    if path.is_file() and case_directory_of(directory, eval_dir=eval_dir, root=root) != directory:
        return _single_case(directory, root, eval_dir, note)
    paths = _paths(directory, root, eval_dir)
    if not paths:
        raise TargetError(_nothing_found(directory, root, eval_dir), root)
    return Target(root=root, paths=paths, eval_dir=eval_dir, note=note)


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


def _single_case(directory: Path, root: Path, eval_dir: str | None, note: str | None) -> Target:
    """Return the target of a case file outside of any eval directory."""
    # The eval directory that is itself a case: its own directory.
    top = root if root != directory else directory.parent
    base = root / (eval_dir or _manifest_eval_dir(root) or DEFAULT_EVAL_DIR) / "results"
    return Target(
        root=top,
        paths=(directory,),
        eval_dir=directory.relative_to(top).as_posix(),
        results_base=base,
        note=note,
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
