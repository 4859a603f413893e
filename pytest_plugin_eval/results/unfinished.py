"""What tells a rescore that did not get to its end from one that did, so that it is gone on with.

The votes themselves are in the records. A small file beside the new documents says, from before the
first vote until the end, which judgings each record had already: newer ones are the rescore's.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pytest_plugin_eval.errors import EvalError, JudgeError
from pytest_plugin_eval.records.model import RunKey, Vote
from pytest_plugin_eval.storage.atomic_write import write_text

__all__ = ["NAME", "Unfinished"]

NAME = "unfinished.json"
SCHEMA = 1
Newest = Mapping[str, int]
"""By grader: the number of its newest judging on a record."""


class _Left(NamedTuple):
    """The content of the file."""

    model: str
    size: int
    before: Mapping[str, Newest]
    """By run: the judgings that the rescore found on its record."""


class Unfinished:
    """A rescore on its way; goes on with the last one where that asked the same of the same model.

    Not safe to use from several threads or by two rescores at once.
    """

    def __init__(self, place: Path, *, size: int, model: Callable[[], str]) -> None:
        """See what is left in *place*; *size* votes are asked on each question, of *model*."""
        self._path = place / NAME
        self._size = size
        self._model = model
        self._before: dict[str, Newest] = {}
        left = _read(self._path)
        is_same = left is not None and (left.size, left.model) == (size, self._asked_model())
        self._left: Mapping[str, Newest] = left.before if left is not None and is_same else {}
        self.counted = 0
        """Votes of the last one that count in this one."""

    def votes_of(self, key: RunKey, recorded: Sequence[Vote]) -> tuple[Vote, ...]:
        """Return those on a run's record that count in this rescore; the run is part of it."""
        name = f"{key.case}/{key.arm.value}-{key.number}"
        before = self._left.get(name)
        self._before[name] = _newest(recorded) if before is None else before
        if before is None:
            return ()
        model = self._asked_model()
        votes = tuple(
            vote
            for vote in recorded
            if vote.judging > before.get(vote.grader, 0) and vote.asked_model == model
        )
        self.counted += len(votes)
        return votes

    def begin(self) -> None:
        """Leave word of this rescore before it asks for anything; raises `EvalError`."""
        self._write({**self._left, **self._before})

    def finish(self) -> None:
        """Take it back; a rescore of other cases may still be unfinished. Raises `EvalError`."""
        rest = {name: one for name, one in self._left.items() if name not in self._before}
        if rest:
            self._write(rest)
        else:
            self._path.unlink(missing_ok=True)

    def _asked_model(self) -> str | None:
        try:
            return self._model()
        except JudgeError:  # then nothing will be asked, and whoever asks is told why
            return None

    def _write(self, before: Mapping[str, Newest]) -> None:
        content = {
            "schema": SCHEMA,
            "model": self._model(),
            "votes": self._size,
            "before": before,
        }
        try:
            write_text(self._path, [json.dumps(content, indent=1), "\n"])
        except OSError as error:
            raise EvalError(f"{self._path}: cannot be written: {error.strerror}") from error


def _newest(votes: Iterable[Vote]) -> dict[str, int]:
    newest: dict[str, int] = {}
    for vote in votes:
        newest[vote.grader] = max(vote.judging, newest.get(vote.grader, 0))
    return newest


def _read(path: Path) -> _Left | None:
    """Return what the file says; ``None`` where there is none, or none of ours."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    match content:
        case {"schema": 1, "model": str(model), "votes": int(size), "before": dict(before)}:
            return _Left(model, size, before) if all(map(_is_newest, before.values())) else None
    return None


def _is_newest(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(number, int) for number in value.values())
