"""A real browser, headless, that notices every request and every complaint of a page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from pytest_plugin_eval.scoring.model import SuiteResult
from tests.support.report_pages import Kept, small_suite, written


@dataclass(frozen=True, slots=True)
class Opened:
    """A page, and what it did besides being shown."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


Opener = Callable[..., Opened]
PATIENCE_MS = 120_000
"""For what takes a fraction of a second on a machine that does nothing else."""


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start Chromium once a process; its profile and caches lie among pytest's directories."""
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no chromium on PATH: install the package of that name")
    home = tmp_path_factory.mktemp("browser")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=program,
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
            timeout=PATIENCE_MS,
            env={**os.environ, "HOME": str(home), "TMPDIR": str(home)},
        )
        expect.set_options(timeout=PATIENCE_MS)
        yield started
        started.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opener]:
    """Return a function that opens a file; options are those of a browser context."""
    contexts = []

    def open_file(path: Path, fragment: str = "", **options: object) -> Opened:
        context = browser.new_context(**options)  # type: ignore[arg-type]  # a test's choice
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        shown = Opened(context.new_page())
        shown.page.on("console", lambda message: shown.complaints.append(message.text))
        shown.page.on("pageerror", lambda error: shown.complaints.append(str(error)))
        shown.page.on("dialog", lambda dialog: shown.complaints.append(dialog.message))
        context.on("request", lambda request: shown.requests.append(request.url))
        shown.page.goto(path.as_uri() + fragment)
        return shown

    yield open_file
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def small() -> tuple[SuiteResult, Kept]:
    """Return the suite that most tests look at."""
    return small_suite()


@pytest.fixture
def report(small: tuple[SuiteResult, Kept], tmp_path: Path) -> Path:
    """Return its report, on one page."""
    return written(*small, tmp_path / "report.html")


@pytest.fixture
def split_report(small: tuple[SuiteResult, Kept], tmp_path: Path) -> Path:
    """Return its report with the details on pages of their own."""
    return written(*small, tmp_path / "report.html", inline_bytes=0)
