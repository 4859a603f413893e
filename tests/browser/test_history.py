"""The page of many results in a browser: what it asks for, how it fits, who can read it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from pytest_plugin_eval.reports.history_html import history_html
from pytest_plugin_eval.scoring.aggregate import case_result, suite_result
from pytest_plugin_eval.scoring.model import SuiteResult
from pytest_plugin_eval.scoring.trend import trends
from tests.browser.conftest import Opener
from tests.support import results

PHONE = {"width": 360, "height": 740}
WIDER = "document.documentElement.scrollWidth - innerWidth"
HOSTILE = "<img src=http://127.0.0.1:9/x onerror=alert(1)>" + "w" * 200


def _suite(day: int, letters: str) -> SuiteResult:
    cases = []
    for name in ("one", HOSTILE):
        info = replace(results.case_info(name, runs=results.plan(1, 1)), prompt=f"v{day // 5}")
        made = [
            replace(results.run(run, letters, case=info), provenance={"model": f"model-{day // 4}"})
            for run in ("with-1", "without-1")
        ]
        cases.append(case_result(info, made, threshold=1.0))
    session = results.suite_info(started_at=f"2026-01-{day:02}T09:00:00.000Z")
    return suite_result(session, cases, partial_reason=None)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of nine sessions, with each kind of mark, and return its path."""
    listed = [(_suite(day, "PP" if day % 3 else "PF"), 40.5) for day in range(1, 10)]
    path = tmp_path_factory.mktemp("history") / "history.html"
    path.write_text(history_html(trends(listed)), encoding="utf-8")
    return path


def test_page_asks_for_nothing_and_complains_of_nothing(opened: Opener, history: Path) -> None:
    shown = opened(history)

    assert shown.requests == [history.as_uri()]
    assert shown.complaints == []


def test_page_fits_a_phone(opened: Opener, history: Path) -> None:
    page = opened(history, viewport=PHONE).page

    assert page.evaluate(WIDER) <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, {"width": 1100, "height": 800}], ids=["phone", "desk"])
def test_page_keeps_the_rules_of_axe(
    opened: Opener, history: Path, scheme: str, viewport: dict[str, int]
) -> None:
    page = opened(history, color_scheme=scheme, viewport=viewport).page

    found = Axe().run(page)

    assert found.violations_count == 0, found.generate_report()
