"""Which directories are eval directories, and which are cases.

Every directory of any pytest session is asked about here, so a "no" costs a couple of stats and
this module imports neither yaml nor pydantic.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pytest_plugin_eval.cases.case_paths import within
from pytest_plugin_eval.cases.plugin_roots import (
    DEFAULT_EVAL_DIR,
    forget_roots,
    manifest_root,
    skill_root,
)

if TYPE_CHECKING:
    from pytest_plugin_eval.cases.case import Plugin
    from pytest_plugin_eval.cases.manifest import (
        manifest_notes,
        nearest_plugin,
        normalised_eval_dir,
        read_plugin,
    )

__all__ = [
    "CASE_FILES",
    "RESERVED",
    "EvalDirectory",
    "Plugin",
    "case_directory_of",
    "eval_directory_of",
    "find_eval_directories",
    "forget",
    "is_case_directory",
    "leads_to_case",
    "manifest_notes",
    "nearest_plugin",
    "normalised_eval_dir",
    "read_plugin",
    "suite_eval_directory",
]

_MANIFEST_MODULE = "pytest_plugin_eval.cases.manifest"
_FINGERPRINT_MODULE = "pytest_plugin_eval.cases.fingerprint"
_OF_MANIFEST = frozenset(
    ("Plugin", "manifest_notes", "nearest_plugin", "normalised_eval_dir", "read_plugin")
)

CASE_FILES = ("prompt.md", "case.yaml")
RESERVED = frozenset(("mocks", "results", "recordings"))
"""Directories of an eval directory that hold no cases, at any depth."""

_NOT_SCANNED = frozenset(("node_modules", ".git", "mocks", "results"))
_NOT_WALKED = _NOT_SCANNED | RESERVED


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalDirectory:
    """An eval directory and the cases in it.

    A directory called ``evals`` inside another one is an eval directory of its own.
    """

    path: Path
    root: Path
    """Suite root: the plugin the directory belongs to, or its parent without one."""
    cases: tuple[Path, ...]
    """Case directories, by relative path in the order of code points."""
    problems: tuple[str, ...] = ()
    """Load errors that belong to no case, as ``path: text``."""


_Found: TypeAlias = tuple[EvalDirectory, frozenset[str], frozenset[str]] | None
"""An eval directory, its cases, and the directories below it that lead to them."""


def __getattr__(name: str) -> object:
    """Return what is told of manifests; their module is imported when first needed."""
    if name in _OF_MANIFEST:
        from pytest_plugin_eval.cases import manifest

        return getattr(manifest, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def eval_directory_of(
    path: Path, *, eval_dir: str | None = None, root: Path | None = None
) -> EvalDirectory | None:
    """Return the eval directory that a directory is or lies in, ``None`` without a case in it.

    *eval_dir* is a normalised name; ``None``: what the manifest says, else ``evals``. *root* is a
    suite root chosen by the user: nothing above it counts.
    """
    found = _found(path, eval_dir, root)
    return found[0] if found else None


def case_directory_of(
    path: Path, *, eval_dir: str | None = None, root: Path | None = None
) -> Path | None:
    """Return the case that a directory is or lies in."""
    found = _found(path, eval_dir, root)
    if found is None:
        return None
    place, cases, _ = found
    top = str(place.path)
    for directory in _upwards(os.path.abspath(path)):
        if directory in cases:
            return Path(directory)
        if directory == top:
            break
    return None


def leads_to_case(path: Path, *, eval_dir: str | None = None, root: Path | None = None) -> bool:
    """Tell whether a directory is a case of its eval directory, or lies above one in it."""
    found = _found(path, eval_dir, root)
    if found is None:
        return False
    _, cases, above = found
    directory = os.path.abspath(path)
    return directory in cases or directory in above


def find_eval_directories(root: Path, *, eval_dir: str | None = None) -> tuple[Path, ...]:
    """Return every eval directory with a case below a scanned root. Spec: behaviour-evals, 2.7."""
    top = os.path.abspath(root)
    name = eval_dir or _manifest_eval_dir(top) or DEFAULT_EVAL_DIR
    if name != DEFAULT_EVAL_DIR:
        candidates = [os.path.join(top, *name.split("/"))]
    else:
        candidates = sorted(_directories_called(top, DEFAULT_EVAL_DIR))
    places = (eval_directory_of(Path(c), eval_dir=name, root=root) for c in candidates)
    return tuple(
        place.path
        for place, candidate in zip(places, candidates, strict=True)
        if place and str(place.path) == candidate
    )


def suite_eval_directory(place: EvalDirectory, eval_dir: str | None = None) -> Path:
    """Return the eval directory of the suite root, which holds its results and recordings.

    Cases of a nested ``skills/x/evals`` share it with those of the root's own. Spec: 2.7.
    """
    if place.path.parent == place.root:
        return place.path
    name = eval_dir or _manifest_eval_dir(str(place.root)) or DEFAULT_EVAL_DIR
    return place.root.joinpath(*name.split("/"))


def is_case_directory(directory: str) -> bool:
    """Tell whether a directory holds a file that makes it a case."""
    return any(os.path.isfile(os.path.join(directory, name)) for name in CASE_FILES)


def forget() -> None:
    """Forget everything found so far, so that changed files are seen."""
    forget_roots()
    if manifest := sys.modules.get(_MANIFEST_MODULE):
        manifest.manifest_of.cache_clear()
        manifest.declared_servers.cache_clear()
    if fingerprint := sys.modules.get(_FINGERPRINT_MODULE):
        fingerprint.forget_plugins()
    _located.cache_clear()
    _walked.cache_clear()


def _found(path: Path, eval_dir: str | None, root: Path | None) -> _Found:
    top = None if root is None else os.path.abspath(root)
    located = _located(os.path.abspath(path), eval_dir, top)
    return _walked(*located, eval_dir) if located else None


@cache
def _located(directory: str, eval_dir: str | None, top: str | None) -> tuple[str, str] | None:
    """Return eval directory and suite root of a directory, whether or not there are cases."""
    parent = os.path.dirname(directory)
    if parent == directory or (top is not None and not within(parent, top)):
        return None
    outer = _located(parent, eval_dir, top)
    if not _has_right_name(directory, eval_dir, top):
        return outer
    if outer and not _may_nest(directory, outer[0]):
        return outer
    plugin_root = manifest_root(parent)
    base = top or plugin_root
    if base and _NOT_SCANNED.intersection(os.path.relpath(parent, base).split(os.sep)):
        return outer
    return directory, top or plugin_root or skill_root(parent) or parent


def _has_right_name(directory: str, eval_dir: str | None, top: str | None) -> bool:
    parent = os.path.dirname(directory)
    plugin_root = manifest_root(parent)
    if eval_dir is None and plugin_root and (top is None or within(plugin_root, top)):
        eval_dir = _manifest_eval_dir(plugin_root)
    if eval_dir in {None, DEFAULT_EVAL_DIR}:
        return os.path.basename(directory) == DEFAULT_EVAL_DIR
    suffix = os.sep + str(eval_dir).replace("/", os.sep)
    if not directory.endswith(suffix):
        return False
    base = directory.removesuffix(suffix) or os.sep
    if top is not None:
        return base == top
    return manifest_root(base) in {base, None}


def _may_nest(directory: str, outer: str) -> bool:
    """Tell whether an eval directory inside another one is reached by the walk of that one."""
    for between in _upwards(os.path.dirname(directory)):
        if is_case_directory(between):
            return False
        if between == outer:
            return True
        if os.path.basename(between) in _NOT_WALKED:
            return False
    return True


@cache
def _walked(path: str, root: str, eval_dir: str | None) -> _Found:
    nested = eval_dir in {None, DEFAULT_EVAL_DIR} and os.path.basename(path) == DEFAULT_EVAL_DIR
    walk = _Walk(path, DEFAULT_EVAL_DIR if nested else None)
    if os.path.isdir(path):
        walk.run()
    if not walk.cases:
        return None
    cases = sorted(walk.cases)
    place = EvalDirectory(
        path=Path(path),
        root=Path(root),
        cases=tuple(map(Path, cases)),
        problems=tuple(sorted(map(_printable, walk.problems))),
    )
    return place, frozenset(cases), frozenset(_directories_above(cases, path))


class _Walk:
    """One walk of an eval directory: cases, and links that lead nowhere.

    No directory is visited twice: real ones come first, so that a link to one of them adds nothing.
    """

    def __init__(self, top: str, own_name: str | None) -> None:
        self._top = top
        self._own_name = own_name
        self._pending = [top]
        self._links: list[os.DirEntry[str]] = []
        self._visited: list[str] = []
        self._resolved: set[str] = set()
        self.cases: list[str] = []
        self.problems: list[str] = []

    def run(self) -> None:
        """Visit every directory."""
        while self._pending or self._links:
            if self._pending:
                self._visit(self._pending.pop())
            else:
                self._links.sort(key=lambda link: link.path, reverse=True)
                self._follow(self._links.pop())

    def _visit(self, directory: str) -> None:
        self._visited.append(directory)
        try:
            with os.scandir(directory) as listing:
                entries = list(listing)
        except OSError as error:
            self.problems.append(f"{directory}: cannot be read: {error.strerror}")
            return
        if any(entry.name in CASE_FILES and _is_file(entry) for entry in entries):
            self.cases.append(directory)
            return
        for entry in entries:
            if entry.name in _NOT_WALKED or entry.name == self._own_name:
                continue
            if entry.is_symlink():
                self._links.append(entry)
            elif entry.is_dir():
                self._pending.append(entry.path)

    def _follow(self, link: os.DirEntry[str]) -> None:
        target = os.path.realpath(link.path)
        if not os.path.exists(target):
            shown = os.readlink(link.path)
            self.problems.append(f"{link.path}: is a link to {shown!r}, which does not exist")
        elif not os.path.isdir(target):
            return
        elif within(os.path.realpath(os.path.dirname(link.path)), target):
            self.problems.append(f"{link.path}: is a link to a directory it lies in, not followed")
        elif self._was_visited(target):
            return
        elif within(target, os.path.realpath(self._top)) or is_case_directory(target):
            # A case outside the eval directory is a load error of its own (D11).
            self._pending.append(link.path)
        else:
            self.problems.append(
                f"{link.path}: is a link to {target!r}, outside the eval directory, not followed"
            )

    def _was_visited(self, target: str) -> bool:
        # Resolved only when there is a link to compare with; most suites have none.
        self._resolved.update(map(os.path.realpath, self._visited))
        self._visited.clear()
        return target in self._resolved


def _printable(problem: str) -> str:
    from pytest_plugin_eval.text import one_line, without_surrogates

    return without_surrogates(one_line(problem))


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


def _directories_above(cases: Iterable[str], top: str) -> set[str]:
    above: set[str] = set()
    for case in cases:
        for directory in _upwards(case):
            if directory in above or directory == top:
                break
            above.add(directory)
    return above


def _directories_called(top: str, name: str) -> Iterator[str]:
    for directory, names, _ in os.walk(top):
        names[:] = [each for each in names if each not in _NOT_SCANNED]
        for each in names:
            if each == name:
                yield os.path.join(directory, each)


def _manifest_eval_dir(plugin_root: str) -> str | None:
    from pytest_plugin_eval.cases.manifest import manifest_of

    return manifest_of(plugin_root).eval_dir


def _upwards(directory: str) -> Iterator[str]:
    while True:
        yield directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return
        directory = parent
