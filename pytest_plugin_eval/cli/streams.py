"""Streams that cannot be written: which error is one of standard output, and what follows."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import TextIO

__all__ = ["flush_problem", "has_no_stdout", "let_go", "stream_problem"]

_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
"""What a write fails with; a reader that went away is no problem, see `output.say`."""


def has_no_stdout() -> bool:
    """Return whether the shell closed standard output: Python has none then."""
    stdout: TextIO | None = sys.stdout
    return stdout is None


def stream_problem(error: OSError) -> str | None:
    """Return what is wrong with standard output if *error* came of it, ``None`` if it did not.

    An error of a file has the file's name. What is left in the buffer is let go.
    """
    if has_no_stdout() or error.filename is not None or error.errno not in _WRITING:
        return None
    let_go(sys.stdout)
    return f"stdout: cannot be written: {error.strerror}"


def flush_problem() -> str | None:
    """Write what standard output holds back, and return what is wrong with it, ``None`` if nothing.

    Left to the interpreter's end, it would change the exit code.
    """
    if has_no_stdout():
        return None
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        let_go(sys.stdout)
    except OSError as error:
        return stream_problem(error)
    return None


def let_go(stream: TextIO) -> None:
    """Have what is left in a stream's buffer go nowhere, instead of failing again at the end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
