"""Directories of a case that the agent may read, in the midst of a suite that it must not see.

A rule that closes a directory has the last word over one that opens something in it. So the closed
directory is replaced by all that is in it save the way to what is open. Spec: agent-run, 4.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pytest_plugin_eval.cases.case import Case

__all__ = ["Closed", "closed_around", "open_directories"]

# Beyond it entries share a rule: the argument list of a process has an end (128 KiB on Linux).
SEPARATE = 50


class Closed(NamedTuple):
    """A place that stays closed."""

    path: Path
    is_prefix: bool = False
    """Whether every name counts that begins like the last one of `path`."""


def open_directories(case: Case) -> tuple[Path, ...]:
    """Return the ``add_dirs`` of a case as it spells them, without links in between."""
    return tuple(
        dict.fromkeys(Path(os.path.normpath(case.directory / entry)) for entry in case.add_dirs)
    )


def closed_around(places: Iterable[Path], opened: Sequence[Path]) -> tuple[Closed, ...]:
    """Return what of *places* stays closed when the directories *opened* are not.

    What is in an opened directory and among *places* itself is closed.
    """
    return tuple(dict.fromkeys(each for place in places for each in _around(place, opened)))


def _around(place: Path, opened: Sequence[Path]) -> Iterator[Closed]:
    within = [path.relative_to(place).parts for path in opened if path.is_relative_to(place)]
    if not within:
        yield Closed(place)
        return
    if () in within:
        return
    ways = {parts[0] for parts in within}
    names = _names(place)
    yield from _covering(place, [name for name in names if name not in ways], ways)
    for name in sorted(ways):
        yield from _around(place / name, opened)


def _names(directory: Path) -> list[str]:
    try:
        return sorted(path.name for path in directory.iterdir())
    except OSError:
        return []


def _covering(place: Path, names: Sequence[str], ways: Iterable[str]) -> Iterator[Closed]:
    """Yield the entries, many of them by what their names begin with and those of *ways* do not."""
    folded = tuple(way.casefold() for way in ways)
    for name in names:
        if name.casefold() in folded:
            # Rules take no notice of case: this one would close what is to be open. Nothing opens
            # the entry either.
            continue
        prefix = _prefix(name, folded) if len(names) > SEPARATE else None
        yield Closed(place / name) if prefix is None else Closed(place / prefix, is_prefix=True)


def _prefix(name: str, ways: Sequence[str]) -> str | None:
    for length in range(1, len(name) + 1):
        start = name[:length]
        # No more of a name in `.` and `..`, which are no names of a path.
        if start.strip(".") and not any(way.startswith(start.casefold()) for way in ways):
            return start
    return None
