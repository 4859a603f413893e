"""What the HTML report weighs, what writing it costs, and how soon a browser shows it."""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.environments import HERE, environment
from benchmarks.report import Goal, Report, command
from benchmarks.suites import make_suite, record_suite
from benchmarks.usage import Usage, alternate, run

__all__ = ["measure"]

REPETITIONS = 3
SIZES = (10, 1000)
"""Cases of six runs each."""
_MOST_MB = 10.0
_MOST_S = 2.0
_MOST_RATIO = 2.0
_MEGABYTE = 1_000_000


def measure(repetitions: int, quick: bool) -> Report:
    """Replay suites with and without their pages, and open the page where there is a Chromium."""
    rows: dict[str, Usage] = {}
    goals: list[Goal] = []
    notes: list[str] = []
    for cases in SIZES[:1] if quick else SIZES:
        with tempfile.TemporaryDirectory(prefix="page-") as scratch:
            runs = record_suite(make_suite(Path(scratch, "plugin"), cases))
            results = Path(scratch, "results")
            found = alternate(_jobs(Path(scratch), results), repetitions)
            rows |= {f"{name}, {runs} runs": usage for name, usage in found.items()}
            bare = found["without a page"].cpu_s
            goals += [
                _size(results / "report.html", runs),
                *(
                    Goal(
                        name=f"ratio of CPU times {name}, {runs} runs",
                        value=found[name].cpu_s / bare,
                        limit=_MOST_RATIO,
                    )
                    for name in ("with its page", "with all transcripts")
                ),
            ]
            beside = sum(path.stat().st_size for path in results.glob("report-files/*"))
            notes.append(f"{runs} runs: {beside / _MEGABYTE:.1f} MB of pages beside the page")
            goals += _shown(results / "report.html", runs, repetitions, notes)
    return Report(
        title="Page: the HTML report of recorded runs, each with four free graders",
        rows=rows,
        goals=tuple(goals),
        notes=tuple(notes),
    )


def _jobs(scratch: Path, results: Path) -> Mapping[str, Callable[[], Usage]]:
    place = environment(scratch / "ours", with_ours=True, modules=[HERE / "no_page.py"])
    asked = ("-q", "-p", "no:cacheprovider", "evals", "--eval-mode", "replay")

    def session(directory: Path, *more: str) -> Usage:
        words = place.command(*asked, f"--eval-results-dir={directory}", *more)
        shutil.rmtree(directory, ignore_errors=True)
        return run(words, cwd=scratch / "plugin", env=place.variables)

    return {
        "with its page": lambda: session(scratch / "short"),
        # As a live session writes it; a replay does so when the page is asked for by name.
        "with all transcripts": lambda: session(results, f"--eval-html={results}/report.html"),
        "without a page": lambda: session(scratch / "other", "-p", "no_page"),
    }


def _size(page: Path, runs: int) -> Goal:
    size = page.stat().st_size / _MEGABYTE
    return Goal(name=f"page of {runs} runs", value=size, limit=_MOST_MB, unit=" MB")


def _shown(page: Path, runs: int, repetitions: int, notes: list[str]) -> list[Goal]:
    """Return how long Chromium takes until the page's scripts have run, its own start excluded."""
    program = shutil.which("chromium")
    if program is None:
        notes.append("no chromium: how soon the page is shown was not measured")
        return []
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        times = []
        for _ in range(repetitions + 1):  # the first one warms the browser up
            tab = browser.new_page()
            start = time.perf_counter()
            tab.goto(page.as_uri())
            times.append(time.perf_counter() - start)
            tab.close()
        browser.close()
    value = statistics.median(times[1:])
    return [Goal(name=f"until {runs} runs are shown", value=value, limit=_MOST_S, unit=" s")]


if __name__ == "__main__":
    sys.exit(command(measure, repetitions=REPETITIONS, about=__doc__))
