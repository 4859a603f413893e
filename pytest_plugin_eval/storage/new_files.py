"""Directories that are made whole, and never in place of something."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self

from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.storage.new_journal import Journal

__all__ = ["NewDirectories", "write_new_directory"]


def write_new_directory(directory: Path, files: Mapping[str, str]) -> list[Path]:
    """Make *directory*, which must not exist, with these texts by relative path; return the files.

    Raises `EvalError` when it exists or cannot be written; nothing of it is left then.
    """
    written: list[Path] = []
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        directory.mkdir()
    except OSError as error:
        raise EvalError(f"{error.filename or directory}: {error.strerror}") from error
    try:
        for name, text in files.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            # "x": never over a file, not even one that appeared just now.
            with path.open("x", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
            written.append(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            shutil.rmtree(directory)
        if isinstance(error, OSError):
            raise EvalError(f"{error.filename or directory}: {error.strerror}") from error
        raise
    return written


class NewDirectories:
    """Directories that are there for a while: at the end all go that were not said to stay.

    Nothing else is ever touched: a file goes only where it holds what was written into it, a
    directory only when that leaves it empty.
    """

    def __init__(self, eval_dir: Path | None = None) -> None:
        """*eval_dir*: where a journal says what has to go again, for as long as that is so."""
        self._journal = None if eval_dir is None else Journal(eval_dir)
        self.left: tuple[Path, ...] = ()
        """What could not be removed in the end, since somebody else changed it."""
        self._written: dict[Path, Mapping[str, str]] = {}
        self._made: list[Path] = []

    def __enter__(self) -> Self:
        """Begin with none."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what was not said to stay."""
        from pytest_plugin_eval.signals import handled

        with handled(lambda *_: None):  # a second Ctrl-C would leave half of it
            for directory, files in self._written.items():
                _remove(directory, files)
            self._note(())
            for parent in reversed(self._made):
                with contextlib.suppress(OSError):  # it holds something that stays
                    parent.rmdir()
        self.left = tuple(one for one in self._written if one.exists())

    def write(self, directory: Path, files: Mapping[str, str]) -> None:
        """Make a directory as `write_new_directory` does."""
        if directory in self._written or directory.exists() or directory.is_symlink():
            raise EvalError(f"{directory}: exists already")
        missing = [one for one in (*directory.parents,) if not one.exists()]
        self._made += [one for one in reversed(missing) if one not in self._made]
        # Before it is there: an interruption may come between two instructions.
        self._written[directory] = files
        self._note(self._written)
        try:
            write_new_directory(directory, files)
        except EvalError:
            self.keep(directory)
            raise

    def keep(self, directory: Path) -> None:
        """Let a directory stay."""
        del self._written[directory]
        self._note(self._written)

    def _note(self, directories: Iterable[Path]) -> None:
        if self._journal is not None:
            self._journal.note(directories)


def _remove(directory: Path, files: Mapping[str, str]) -> None:
    """Remove files that hold these texts, and the directories that are empty then."""
    parents = {directory: None}
    for name, text in files.items():
        path = directory / name
        parents |= dict.fromkeys(one for one in path.parents if one.is_relative_to(directory))
        with contextlib.suppress(OSError):
            if path.read_bytes() == text.encode("utf-8"):
                path.unlink()
    for parent in sorted(parents, key=lambda one: len(one.parts), reverse=True):
        with contextlib.suppress(OSError):  # somebody else put something there
            parent.rmdir()
