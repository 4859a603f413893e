"""The report in a browser: what a reader can do with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from pytest_plugin_eval.scoring.aggregate import suite_result
from pytest_plugin_eval.scoring.model import SuiteResult
from tests.browser.conftest import Opener
from tests.support.report_pages import Kept, info, written
from tests.support.results import case, plan, run, suite_info

PHONE = {"width": 360, "height": 740}
SHOWN = "[...document.querySelectorAll('article.card')].filter(c => !c.hidden).map(c => c.id)"
WIDER = "document.documentElement.scrollWidth - innerWidth"
RUN_OF_EACH = ("with-1", "without-1")
FOCUSED = "document.activeElement.id"
# What is not on the screen is not laid out, and axe would pass over it.
OPEN_ALL = (
    "document.querySelectorAll('details').forEach(box => { box.open = true });"
    "document.querySelectorAll('.card').forEach(e => { e.style.contentVisibility = 'visible' })"
)
ALL = ["evals/better", "evals/worse", "evals/flaky", "evals/spoilt"]


def test_page_asks_for_nothing_and_complains_of_nothing(opened: Opener, report: Path) -> None:
    shown = opened(report)

    shown.page.get_by_role("button", name="Expand all").click()

    assert shown.requests == [report.as_uri()]
    assert shown.complaints == []


@pytest.mark.parametrize(
    ("label", "cases"),
    [
        ("failed", ["evals/flaky", "evals/spoilt", "evals/worse"]),
        ("worse with the plugin", ["evals/worse"]),
        ("flaky", ["evals/flaky"]),
        ("not fully measured", ["evals/spoilt"]),
    ],
)
def test_filter_leaves_the_cases_it_names(
    opened: Opener, report: Path, label: str, cases: list[str]
) -> None:
    page = opened(report).page

    page.get_by_role("checkbox", name=label).check()

    assert sorted(page.evaluate(SHOWN)) == cases
    count = "1 of 4 cases shown" if len(cases) == 1 else f"{len(cases)} of 4 cases shown"
    assert page.get_by_role("status").inner_text() == count


def test_filters_tag_and_search_go_together(opened: Opener, report: Path) -> None:
    page = opened(report).page

    page.get_by_label("Tag").select_option("smoke")
    page.get_by_role("checkbox", name="failed").check()

    assert page.evaluate(SHOWN) == ["evals/worse"]
    page.get_by_label("Search").fill("better")
    expect(page.get_by_role("status")).to_have_text("0 of 4 cases shown")
    page.get_by_role("button", name="Reset").click()
    expect(page.get_by_role("status")).to_have_text("4 of 4 cases shown")


@pytest.mark.parametrize(
    "tag", ["two  blanks", "all", '"quoted"', "\u202egnp.exe", "W" * 120, "日本"]
)
def test_tag_is_found_whatever_its_characters(opened: Opener, tmp_path: Path, tag: str) -> None:
    about = [info("first", tags=("x", tag)), info("second", tags=("x",))]
    cases = [case(one, run("with-1", case=one)) for one in about]
    suite = suite_result(suite_info(), cases, partial_reason=None)
    page = opened(written(suite, Kept(), tmp_path / "report.html")).page

    choices = (
        page.get_by_label("Tag").locator("option").evaluate_all("all => all.map(o => o.value)")
    )
    (odd,) = set(choices) - {"", "x"}
    page.get_by_label("Tag").select_option(index=choices.index(odd))

    assert page.evaluate(SHOWN) == ["evals/first"]


@pytest.mark.parametrize(
    "name",
    [
        "addEventListener",
        "location",
        "document",
        "cards",
        "page:tools",
        "onhashchange",
        "__proto__",
    ],
)
def test_name_of_a_case_stands_in_for_nothing(opened: Opener, tmp_path: Path, name: str) -> None:
    about = replace(info("first"), id=name, plan=plan(1, 0))
    suite = suite_result(
        suite_info(), [case(about, run("with-1", case=about))], partial_reason=None
    )
    shown = opened(written(suite, Kept(), tmp_path / "report.html"))
    page = shown.page

    page.get_by_role("checkbox", name="failed").check()
    assert page.evaluate("document.querySelector('article').hidden")
    page.evaluate("location.hash = document.querySelector('article').id + '/with-1'")

    expect(page.locator("article [role=group]")).to_be_focused()
    assert shown.complaints == []


def test_search_finds_what_is_folded_and_escape_clears_it(opened: Opener, report: Path) -> None:
    page = opened(report).page

    page.get_by_label("Search").fill("name the FILE")

    expect(page.get_by_role("status")).to_have_text("1 of 4 cases shown")
    assert page.evaluate(SHOWN) == ["evals/flaky"]
    page.keyboard.press("Escape")
    assert len(page.evaluate(SHOWN)) == 4


@pytest.mark.parametrize(
    "place",
    ["evals/flaky", "evals/flaky/with-2", "evals/flaky/grader/g2"],
    ids=["case", "run", "grader"],
)
def test_deep_link_unfolds_and_focuses(opened: Opener, report: Path, place: str) -> None:
    page = opened(report, f"#{place}").page

    assert page.evaluate(FOCUSED) == place
    assert page.locator(f"[id='{place}']").is_visible()


def test_deep_link_shows_a_case_that_is_filtered_out(opened: Opener, report: Path) -> None:
    page = opened(report).page
    page.get_by_role("checkbox", name="failed").check()

    page.evaluate("location.hash = '#evals/better/with-1'")

    expect(page.locator("[id='evals/better/with-1']")).to_be_focused()
    assert sorted(page.evaluate(SHOWN)) == sorted(ALL)


def test_same_link_works_twice(opened: Opener, report: Path) -> None:
    page = opened(report, "#evals/flaky/with-2").page
    page.get_by_role("button", name="Collapse all").click()

    page.locator("article[id='evals/flaky'] thead a", has_text="2").first.click()

    assert page.locator("[id='evals/flaky/with-2']").is_visible()


def test_everything_is_reached_by_keyboard(opened: Opener, report: Path) -> None:
    page = opened(report).page

    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the cases"
    page.keyboard.press("Enter")
    expect(page.locator("[id='page:cases']")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED) == "page:search"
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert len(page.evaluate(SHOWN)) == 3
    page.locator("article:not([hidden]) summary", has_text="Prompt").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("article:not([hidden]) pre", has_text="Say hällo").first.is_visible()


def test_expand_and_collapse_all(opened: Opener, report: Path) -> None:
    page = opened(report).page
    unfolded = "document.querySelectorAll('article details[open]').length"

    page.get_by_role("button", name="Expand all").click()
    assert page.evaluate(unfolded) == page.locator("article details").count()
    page.get_by_role("button", name="Collapse all").click()
    assert page.evaluate(unfolded) == 0


@pytest.mark.parametrize(
    ("scheme", "viewport"),
    [("light", {"width": 1280, "height": 900}), ("dark", PHONE)],
    ids=["light and wide", "dark and narrow"],
)
def test_axe_finds_nothing(
    opened: Opener, report: Path, scheme: str, viewport: dict[str, int]
) -> None:
    page = opened(report, color_scheme=scheme, viewport=viewport).page

    page.evaluate(OPEN_ALL)
    found = Axe().run(page)

    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_a_side_page(opened: Opener, split_report: Path, scheme: str) -> None:
    side = sorted((split_report.parent / "report-files").iterdir())[0]
    page = opened(side, color_scheme=scheme).page
    page.evaluate(OPEN_ALL)

    found = Axe().run(page)

    assert found.violations_count == 0, found.generate_report()


def test_phone_needs_no_scrolling_to_the_side(opened: Opener, report: Path) -> None:
    page = opened(report, viewport=PHONE).page

    assert page.evaluate(WIDER) <= 0
    page.evaluate(OPEN_ALL)
    assert page.evaluate(WIDER) <= 0


def test_without_javascript_all_is_there(opened: Opener, report: Path) -> None:
    page = opened(report, "#evals/flaky/with-2", java_script_enabled=False).page

    assert page.locator("article.card").count() == 4
    assert not page.locator("form").is_visible()
    summary = page.locator("article[id='evals/better'] summary", has_text="Run 1")
    summary.click()
    assert page.locator("[id='evals/better/with-1']").is_visible()


@pytest.mark.parametrize("has_script", [True, False], ids=["script", "no script"])
def test_print_shows_what_is_folded(opened: Opener, report: Path, has_script: bool) -> None:
    page = opened(report, java_script_enabled=has_script).page
    reply = page.locator("[id='evals/better/with-1'] pre", has_text="hello Ada")
    assert not reply.is_visible()

    page.emulate_media(media="print")

    expect(reply).to_be_visible()
    tops = [page.locator(f"[id='evals/better/{run}']").bounding_box() for run in RUN_OF_EACH]
    assert tops[0] is not None
    assert tops[1] is not None
    assert tops[0]["y"] == tops[1]["y"]


def test_print_unfolds_and_folds_again_by_script(opened: Opener, report: Path) -> None:
    page = opened(report).page
    page.locator("article summary", has_text="Prompt").first.click()

    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 1


def test_print_shows_every_case_in_full_width(opened: Opener, report: Path) -> None:
    page = opened(report).page

    page.emulate_media(media="print")

    assert not page.locator("form").is_visible()
    assert page.locator("table.strip").count() == 4
    folded = "e => e.scrollHeight > e.clientHeight + 1"
    assert not page.locator(".scroll").evaluate(folded)
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_first_call_that_differs_is_marked_in_both_arms(opened: Opener, report: Path) -> None:
    page = opened(report, "#evals/better/with-1").page
    marked = page.locator("article[id='evals/better'] details[open] li.differs")

    texts = marked.all_inner_texts()

    assert [text.splitlines()[0] for text in texts] == ["First call that differs"] * 2
    assert ["Skill" in texts[0], "Glob" in texts[1]] == [True, True]
    tops = [marked.nth(i).bounding_box() for i in (0, 1)]
    assert tops[0] is not None
    assert tops[1] is not None
    assert abs(tops[0]["y"] - tops[1]["y"]) < 2


@pytest.mark.parametrize("place", ["evals/flaky/with-2", "evals/flaky/grader/g2"])
def test_deep_link_works_where_transcripts_are_left_out(
    opened: Opener, small: tuple[SuiteResult, Kept], tmp_path: Path, place: str
) -> None:
    command = "plugin-eval report 'my results'"
    file = written(*small, tmp_path / "report.html", inline_bytes=0, written_by=command)
    page = opened(file, f"#{place}").page

    assert page.evaluate(FOCUSED) == place
    assert page.locator("article code", has_text=command).count() == 4
    page.evaluate(OPEN_ALL)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def test_side_page_has_the_run_and_leads_back(opened: Opener, split_report: Path) -> None:
    shown = opened(split_report, "#evals/flaky/with-2")
    page = shown.page

    page.locator("[id='evals/flaky/with-2'] a").click()

    page.wait_for_url("**/report-files/*#evals/flaky/with-2")
    assert page.evaluate(FOCUSED) == "evals/flaky/with-2"
    assert page.locator("[id='evals/flaky/with-2'] li.call").first.is_visible()
    page.get_by_role("link", name="Back to the report").click()
    page.wait_for_url("**/report.html#evals/flaky")
    assert shown.complaints == []
