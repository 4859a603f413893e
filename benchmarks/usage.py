"""What a command takes: wall time, CPU time of it and its children, and memory."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Usage", "alternate", "run"]

_KIB = 1024 if sys.platform == "linux" else 1  # macOS gives bytes
_SHOWN = 3000


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one run of a command took."""

    wall_s: float
    cpu_s: float
    """User and system time of the process and of every descendant that was waited for."""
    peak_bytes: int
    """The largest resident size of any one process among them."""


def run(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], accepted: Sequence[int] = (0,)
) -> Usage:
    """Run a command to its end and return what it took.

    Raises `RuntimeError`, with the end of its output, for an exit code that is not *accepted*.
    """
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            list(command),
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        # Not Popen.wait: this one tells the usage of that child alone.
        _, status, used = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in accepted:
            output.seek(0)
            said = output.read().decode("utf-8", "replace")[-_SHOWN:]
            raise RuntimeError(f"{' '.join(command)}: exit code {process.returncode}\n{said}")
    return Usage(
        wall_s=wall_s, cpu_s=used.ru_utime + used.ru_stime, peak_bytes=used.ru_maxrss * _KIB
    )


def alternate(jobs: Mapping[str, Callable[[], Usage]], repetitions: int) -> dict[str, Usage]:
    """Run the jobs by turns and return the medians of each.

    Every other round goes backwards, so that a drift of the machine's load hits all alike.
    """
    measured: dict[str, list[Usage]] = {name: [] for name in jobs}
    for repetition in range(repetitions):
        names = list(jobs)[:: 1 if repetition % 2 == 0 else -1]
        for name in names:
            measured[name].append(jobs[name]())
    return {name: _median(usages) for name, usages in measured.items()}


def _median(usages: Sequence[Usage]) -> Usage:
    return Usage(
        wall_s=statistics.median(usage.wall_s for usage in usages),
        cpu_s=statistics.median(usage.cpu_s for usage in usages),
        peak_bytes=statistics.median_low(usage.peak_bytes for usage in usages),
    )
