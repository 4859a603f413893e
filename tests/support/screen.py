"""A small screen: what a terminal shows after the bytes that a session wrote to it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

_TOKEN = re.compile(
    r"\x1b\[(?P<number>\d*)(?:;\d+)*(?P<code>[A-Za-z])|\x1b\][^\x07]*(?:\x07|\x1b\\)|.", re.DOTALL
)


def shown(text: str, *, columns: int) -> list[str]:
    """Return the lines of a terminal that never scrolls, without spaces at their ends."""
    lines: dict[int, dict[int, str]] = {}
    row = column = 0
    for found in _TOKEN.finditer(text):
        token, code = found.group(), found.group("code")
        number = int(found.group("number") or 1) if code else 1
        if code == "A":
            row -= number
        elif code == "B":
            row += number
        elif code == "G":
            column = number - 1
        elif code == "K":
            lines.pop(row, None)
        elif token == "\n":
            row += 1
        elif token == "\r":
            column = 0
        elif len(token) == 1:
            if column == columns:
                row, column = row + 1, 0
            lines.setdefault(row, {})[column] = token
            column += 1
    width = range(columns)
    rows = range(max(lines, default=-1) + 1)
    return ["".join(lines.get(at, {}).get(i, " ") for i in width).rstrip() for at in rows]


def on_terminal(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], columns: int = 80
) -> tuple[int, str]:
    """Run a command on a terminal of its own; return its exit status and what it wrote."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with subprocess.Popen(
        command, cwd=cwd, env=dict(env), stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        data = b""
        try:
            while chunk := os.read(ours, 65536):
                data += chunk
        except OSError:  # Linux: the other end is closed
            pass
        finally:
            os.close(ours)
        return process.wait(timeout=120), data.decode("utf-8", errors="replace")
