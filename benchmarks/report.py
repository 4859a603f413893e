"""A benchmark's table, the goals it is held against, and the command line all of them share."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.usage import Usage

__all__ = ["Goal", "Report", "command", "print_goals", "print_machine", "print_report"]

MIB = 1 << 20
_NAME_WIDTH = 44


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A figure and the most it should be."""

    name: str
    value: float
    limit: float
    unit: str = ""

    @property
    def is_met(self) -> bool:
        """Whether the figure is within its limit."""
        return self.value <= self.limit

    @property
    def line(self) -> str:
        """The figure in words."""
        value, limit = (f"{number:.2f}{self.unit}" for number in (self.value, self.limit))
        return f"{self.name}: {value}, goal {limit} or less: {'met' if self.is_met else 'MISSED'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a benchmark found."""

    title: str
    rows: Mapping[str, Usage]
    """Medians of what was measured by turns, by name."""
    goals: tuple[Goal, ...]
    notes: tuple[str, ...] = ()


Benchmark = Callable[[int, bool], Report]
"""Takes the number of repetitions and whether the smallest input will do."""


def print_machine() -> None:
    """Print what the figures depend on."""
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    _print(
        f"{os.cpu_count()} cores, load average {load}, "
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    )


def print_report(report: Report) -> None:
    """Print a benchmark's table and goals."""
    _print(f"\n{report.title}")
    _print(f"{'':{_NAME_WIDTH}}{'wall s':>10}{'CPU s':>10}{'peak MiB':>10}")
    for name, usage in report.rows.items():
        _print(
            f"{name:{_NAME_WIDTH}}{usage.wall_s:10.3f}{usage.cpu_s:10.3f}"
            f"{usage.peak_bytes / MIB:10.1f}"
        )
    for note in report.notes:
        _print(note)
    print_goals(report.goals)


def print_goals(goals: Sequence[Goal]) -> None:
    """Print one line a goal."""
    for goal in goals:
        _print(goal.line)


def command(benchmark: Benchmark, *, repetitions: int, about: str | None) -> int:
    """Run a benchmark as a command; figures never change the exit status, only errors do."""
    options = parsed(about, repetitions)
    print_machine()
    print_report(benchmark(1 if options.quick else options.repetitions, options.quick))
    return 0


def parsed(about: str | None, repetitions: int | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument(
        "--quick", action="store_true", help="the smallest input, once: only shows that it runs"
    )
    parser.add_argument(
        "--repetitions", type=int, default=repetitions, help="rounds that the medians are taken of"
    )
    return parser.parse_args()


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
