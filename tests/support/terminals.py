"""A command in a terminal of its own, and a person who types."""

from __future__ import annotations

import os
import pty
import select
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

TIMEOUT_S = 180.0


def talk(
    command: Sequence[str],
    dialogue: Sequence[tuple[str, str]],
    *,
    cwd: Path,
    env: Mapping[str, str],
) -> tuple[int, str]:
    """Type each answer when its question stands there; return exit status and all that was shown.

    What is typed is shown as well, as terminals do. A question that never comes leaves the rest
    unsaid.
    """
    process, terminal = pty.fork()
    if not process:
        os.chdir(cwd)
        own = {**env, "COLUMNS": "80", "TERM": "xterm"}
        os.execve(command[0], [*command], own)  # noqa: S606 -- the child of a fork
    seen, asked, shown = "", 0, _output(terminal)
    try:
        for question, answer in dialogue:
            while (found := seen.find(question, asked)) < 0:
                if (text := next(shown, None)) is None:
                    break
                seen += text
            if found < 0:
                break
            asked = found + len(question)
            os.write(terminal, answer.encode())
        seen += "".join(shown)
    finally:
        _, status = os.waitpid(process, 0)
        os.close(terminal)
    return os.waitstatus_to_exitcode(status), seen.replace("\r\n", "\n")


def _output(terminal: int) -> Iterator[str]:
    """Yield what appears in a terminal, until its program ends."""
    while select.select([terminal], [], [], TIMEOUT_S)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # Linux: the program has ended
            return
        if not data:
            return
        yield data.decode("utf-8", "replace")
    raise AssertionError("the program waits for something else")
