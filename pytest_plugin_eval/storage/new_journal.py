"""What `plugin-eval new` has written and nobody accepted yet, in case it is killed outright."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from pytest_plugin_eval.cases.discovery import is_case_directory
from pytest_plugin_eval.storage.marker import is_running

__all__ = ["Journal", "LeftCases", "left_cases"]

_PREFIX = ".plugin-eval-new-"
_NAME = re.compile(re.escape(_PREFIX) + r"[0-9]{1,20}-([1-9][0-9]{0,9})", re.ASCII)
_MOST_CHARS = 65536


class LeftCases(NamedTuple):
    """Cases that a killed process wrote, and the file that says so."""

    journal: Path
    cases: tuple[Path, ...]
    """As far as they are there; none: the file has nothing to say any more."""


class Journal:
    """A file in an eval directory that lists cases for as long as they may have to go again."""

    def __init__(self, eval_dir: Path) -> None:
        self._eval_dir = eval_dir
        self._path = eval_dir / f"{_PREFIX}{time.time_ns()}-{os.getpid()}"

    def note(self, cases: Iterable[Path]) -> None:
        """List these cases and no others; without any the file goes.

        The cases can do without it: where it cannot be written nothing is said.
        """
        names = [one.relative_to(self._eval_dir).as_posix() for one in cases]
        with contextlib.suppress(OSError):
            if names:
                self._eval_dir.mkdir(parents=True, exist_ok=True)
                self._path.write_text(json.dumps(names), encoding="utf-8")
            else:
                self._path.unlink(missing_ok=True)


def left_cases(directories: Iterable[Path]) -> Iterator[LeftCases]:
    """Yield what processes that have gone left in these eval directories; nothing is touched."""
    for directory in directories:
        try:
            entries = sorted(directory.glob(f"{_PREFIX}*"))
        except OSError:
            continue
        for path in entries:
            found = _NAME.fullmatch(path.name)
            # A process of our number is another one: ours has noted nothing yet.
            if not found or not path.is_file():
                continue
            if int(found[1]) == os.getpid() or not is_running(int(found[1])):
                yield LeftCases(path, tuple(_cases(path)))


def _cases(path: Path) -> Iterator[Path]:
    """Yield the cases that a journal lists; it may have come with somebody's repository."""
    try:
        with path.open(encoding="utf-8") as stream:
            listed = json.loads(stream.read(_MOST_CHARS))
    except (OSError, ValueError, RecursionError):
        return
    for name in listed if isinstance(listed, list) else ():
        if not isinstance(name, str) or not name.isprintable():
            continue
        parts = name.split("/")
        if any(part in ("", ".", "..") or "\\" in part or ":" in part for part in parts):
            continue
        case = path.parent.joinpath(*parts)
        if is_case_directory(str(case)):
            yield case
