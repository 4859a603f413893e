"""Directories that are made whole, and never in place of something."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Mapping
from pathlib import Path

from pytest_plugin_eval.errors import EvalError

__all__ = ["write_new_directory"]


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
