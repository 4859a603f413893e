"""The workspace before and after a run: what is in it, what is new, and contents for the record.

Spec: agent-run, 6.1; decisions, 15.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pytest_plugin_eval.cases.case import Case
from pytest_plugin_eval.cases.model import BaselineSpec, FileTarget, LlmSpec, RegexSpec
from pytest_plugin_eval.records.model import FileEntry, FileKind
from pytest_plugin_eval.text import plural, without_surrogates

__all__ = ["Listing", "collect_files", "list_workspace", "named_files"]

FILE_BYTES = 1 << 20
RUN_BYTES = 20 << 20
NAMED_BYTES = 20 << 20
MOST_ENTRIES = 100_000

Listing = Mapping[str, FileKind]
"""Paths relative to the workspace, ``/``-separated, as the file system spells them."""


def list_workspace(root: Path) -> Listing:
    """Return every entry below *root* but ``.git`` directories; links are not followed."""
    return dict(_entries(str(root)))


def named_files(case: Case) -> frozenset[str]:
    """Return the workspace files that graders of the case look into."""
    paths = set()
    for grader in case.graders:
        match grader:
            case RegexSpec(target=FileTarget(path=path)) | LlmSpec(focus=FileTarget(path=path)):
                paths.add(posixpath.normpath(path))
            case BaselineSpec():
                continue
    return frozenset(paths)


def collect_files(
    root: Path, *, before: Listing, named: Iterable[str] = ()
) -> tuple[tuple[FileEntry, ...], tuple[str, ...]]:
    """Return the workspace's entries with contents, and notes on what was not kept."""
    after = list_workspace(root)
    wanted = _with_link_targets(str(root), named)
    reader = _Reader(root, wanted)
    entries = [
        reader.entry(path, kind, created=kind is not FileKind.DIRECTORY and path not in before)
        for path, kind in sorted(after.items())
    ]
    entries.sort(key=lambda entry: entry.path)
    notes = list(reader.notes())
    if len(after) >= MOST_ENTRIES:
        notes.append(
            f"the workspace holds more than {MOST_ENTRIES} entries, the rest is not listed"
        )
    return tuple(entries), tuple(notes)


class _Reader:
    """Reads contents until the allowance of the run is used up."""

    def __init__(self, root: Path, named: frozenset[str]) -> None:
        self._root = str(root)
        self._real_root = os.path.realpath(root)
        self._named = named
        self._left = RUN_BYTES
        self._too_large: list[str] = []
        self._unreadable: list[str] = []

    def entry(self, path: str, kind: FileKind, *, created: bool) -> FileEntry:
        """Return the entry at a path of the workspace."""
        content = self._content(path) if kind is FileKind.FILE else None
        target, leaves = self._resolved(path) if kind is FileKind.LINK else (None, False)
        return FileEntry(
            path=without_surrogates(path),
            kind=kind,
            created=created,
            content=content,
            target=target,
            leaves=leaves,
        )

    def notes(self) -> Iterator[str]:
        """Yield a line for each kind of loss."""
        for paths, reason in (
            (self._too_large, "too large for the record"),
            (self._unreadable, "unreadable"),
        ):
            if paths:
                what = plural(len(paths), "file")
                yield f"contents of {what} were not kept, {reason}: {_some(paths)}"

    def _content(self, path: str) -> bytes | None:
        is_named = path in self._named
        limit = NAMED_BYTES if is_named else min(FILE_BYTES, self._left)
        try:
            content = _read(f"{self._root}/{path}", limit)
        except FileNotFoundError:
            return None
        except OSError:
            self._unreadable.append(path)
            return None
        if content is None:
            self._too_large.append(path)
        elif not is_named:
            self._left -= len(content)
        return content

    def _resolved(self, path: str) -> tuple[str | None, bool]:
        real = os.path.realpath(f"{self._root}/{path}")
        if real == self._real_root or real.startswith(self._real_root + os.sep):
            inside = os.path.relpath(real, self._real_root).replace(os.sep, "/")
            return (without_surrogates(inside) if Path(real).exists() else None), False
        return None, True


def _entries(root: str) -> Iterator[tuple[str, FileKind]]:
    pending = [""]
    count = 0
    while pending:
        prefix = pending.pop()
        for entry in _scan(f"{root}/{prefix}"):
            if count >= MOST_ENTRIES:
                return
            path, kind = prefix + entry.name, _kind(entry)
            if kind is FileKind.DIRECTORY:
                if entry.name == ".git":
                    continue
                pending.append(path + "/")
            count += 1
            yield path, kind


def _scan(directory: str) -> Sequence[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as listing:
            return sorted(listing, key=lambda entry: entry.name)
    except OSError:
        return ()


def _kind(entry: os.DirEntry[str]) -> FileKind:
    try:
        if entry.is_symlink():
            return FileKind.LINK
        if entry.is_dir(follow_symlinks=False):
            return FileKind.DIRECTORY
        return FileKind.FILE if entry.is_file(follow_symlinks=False) else FileKind.OTHER
    except OSError:
        return FileKind.OTHER


def _with_link_targets(root: str, named: Iterable[str]) -> frozenset[str]:
    """Return the named paths and, for those that are links, what they lead to."""
    wanted = set(named)
    real_root = os.path.realpath(root)
    for path in tuple(wanted):
        real = os.path.realpath(f"{root}/{path}")
        if real.startswith(real_root + os.sep):
            wanted.add(os.path.relpath(real, real_root).replace(os.sep, "/"))
    return frozenset(wanted)


def _read(path: str, limit: int) -> bytes | None:
    """Return a regular file's content, or ``None`` when it is larger than *limit*."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        # A process that is still alive may have put something else there since the listing.
        if not stat.S_ISREG(status.st_mode):
            raise FileNotFoundError(path)
        if status.st_size > limit:
            return None
        content = file.read(limit + 1)
    return content if len(content) <= limit else None


def _some(paths: Sequence[str]) -> str:
    shown = ", ".join(without_surrogates(path) for path in paths[:3])
    return shown if len(paths) <= 3 else f"{shown} and {len(paths) - 3} more"  # noqa: PLR2004
