"""The replies of a judge in a file, or on stdin, for `plugin-eval score --judge-replies`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO, TextIO

from pytest_plugin_eval.errors import QualityError
from pytest_plugin_eval.quality.given_replies import GivenReplies, read_given
from pytest_plugin_eval.quality.judge_replies import LONGEST
from pytest_plugin_eval.quality.parse import PluginSource, read_target
from pytest_plugin_eval.text import one_line

__all__ = ["replies_in"]

STDIN = "-"
_BYTES_A_CHARACTER = 4


def replies_in(file: str, target: str) -> GivenReplies:
    """Return the replies in *file* about the skill at *target*.

    Raises `QualityError` when the target is no skill, or the file holds no replies.
    """
    if isinstance(read_target(target), PluginSource):
        raise QualityError(
            f"{one_line(target)}: is a plugin, expected the one skill that --judge-replies is about"
        )
    origin = "stdin" if file == STDIN else file
    try:
        data = _read_stdin() if file == STDIN else _read_file(Path(file))
        return read_given(data.decode("utf-8-sig"), origin)
    except OSError as error:
        raise QualityError(f"{one_line(origin)}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise QualityError(
            f"{one_line(origin)}: byte {error.start} is not UTF-8, expected JSON in UTF-8"
        ) from error


def _read_stdin() -> bytes:
    stdin: TextIO | None = sys.stdin  # Python has none where the shell closed it
    if stdin is None:
        raise QualityError("stdin: is closed, expected the replies of a judge")
    return _read(stdin.buffer)


def _read_file(path: Path) -> bytes:
    with path.open("rb") as stream:
        return _read(stream)


def _read(stream: BinaryIO) -> bytes:
    """Return as much as is needed to tell that it is too much."""
    return stream.read((LONGEST + 1) * _BYTES_A_CHARACTER)
