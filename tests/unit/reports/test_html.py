"""The HTML report: what it says, how it is divided, and what of its texts could act."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_plugin_eval.records.model import RunRecord
from pytest_plugin_eval.reports.html import HtmlReport, RecordFiles, write_report
from pytest_plugin_eval.reports.html_anchors import Anchors
from pytest_plugin_eval.reports.verdict import conclusion
from pytest_plugin_eval.scoring.aggregate import suite_result
from pytest_plugin_eval.scoring.model import RunReport, SuiteResult
from pytest_plugin_eval.storage.atomic_write import write_text
from pytest_plugin_eval.storage.record_files import write_record
from tests.support.golden import check_golden
from tests.support.quality import finding, report
from tests.support.records import said
from tests.support.report_pages import (
    HOSTILE,
    Kept,
    hostile_suite,
    info,
    large_suite,
    record_of,
    small_suite,
    written,
)
from tests.support.results import (
    aborted,
    case,
    case_info,
    judged_suite,
    mixed_suite,
    run,
    suite_info,
    verdict,
)

MIB = 1 << 20


def _page(suite: SuiteResult, records: Kept | None = None) -> str:
    return "".join(HtmlReport(suite, records=records or Kept()).chunks())


def _plain(page: str) -> str:
    """Return the body's words, without the markup and with blanks run together."""
    body = re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


def test_golden() -> None:
    page = _page(*small_suite())

    page = re.sub(r"<(style|script)>.*?</\1>", r"<\1></\1>", page, flags=re.S)
    page = re.sub(r"sha256-[\w+/=]+", "sha256-HASH", page)
    check_golden("report.html", re.sub(r"pytest-plugin-eval \d[\d.a-z]*", "VERSION", page))


@pytest.mark.parametrize("suite", [mixed_suite(), judged_suite()], ids=["mixed", "judged"])
def test_every_case_and_run_has_its_place(suite: SuiteResult) -> None:
    ids = re.findall(r' id="([^"]+)"', _page(suite))

    anchors = Anchors(suite.cases)
    assert len(ids) == len(set(ids))
    assert {anchors.run(one) for each in suite.cases for one in each.runs} <= set(ids)


@pytest.mark.parametrize(
    ("inline_bytes", "written_by"),
    [(MIB, ""), (0, ""), (0, "plugin-eval report x")],
    ids=["one page", "side pages", "left out"],
)
def test_every_link_leads_somewhere(tmp_path: Path, inline_bytes: int, written_by: str) -> None:
    page = tmp_path / "report.html"
    written(*small_suite(), page, inline_bytes=inline_bytes, written_by=written_by)
    pages = {path: path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.html")}

    places = {path: set(re.findall(r' id="([^"]+)"', text)) for path, text in pages.items()}
    links = [
        ((path.parent / file).resolve() if file else path, place)
        for path, text in pages.items()
        for file, place in re.findall(r'<a [^>]*href="([^"#]*)#([^"]*)"', text)
    ]

    assert len(links) > 50
    assert [link for link in links if link[1] not in places[link[0]]] == []


def test_flipping_grader_is_named_with_its_arm() -> None:
    page = _page(*small_suite())

    assert page.count("differs between with-runs") == 1
    assert "differs between without-runs" not in page


def test_lost_run_says_why() -> None:
    text = _plain(_page(*small_suite()))

    assert "Not measured: API Error: 529 overloaded" in text
    assert "Δ withheld: asymmetric loss" in text


def test_aborted_run_says_by_whom() -> None:
    about = case_info()
    suite = suite_result(suite_info(), [case(about, aborted("with-1"))], partial_reason=None)

    assert "aborted by mock tracker/find: x is bad" in _plain(_page(suite))


def test_record_that_cannot_be_read_is_said_in_its_place(tmp_path: Path) -> None:
    about = case_info()
    first, second = run("with-1", case=about), run("with-2", case=about)
    suite = suite_result(suite_info(), [case(about, first, second)], partial_reason=None)
    kept = write_record(tmp_path / "evals/results/2026/runs", record_of(first, said("I am here")))
    assert kept.relative_to(tmp_path) == Path(first.record_path)
    (kept.parent / "with-2.jsonl").write_text("{}", encoding="utf-8")

    text = _plain("".join(HtmlReport(suite, records=RecordFiles(tmp_path)).chunks()))

    assert "I am here" in text
    assert "No transcript: " in text
    assert "with-2.jsonl:1: schema must be a whole number, 0 or more, got nothing" in text


def test_run_without_a_record_says_so() -> None:
    about = case_info()
    report = RunReport(key=run("with-1").key, case=about, outcome=run("with-1").outcome)
    suite = suite_result(suite_info(), [case(about, report)], partial_reason=None)

    text = _plain("".join(HtmlReport(suite, records=RecordFiles(Path())).chunks()))

    assert "No transcript: no record of this run was kept" in text


def test_places_of_runs_and_nested_cases_differ() -> None:
    outer, inner = info("a"), info("a/with-1")
    cases = [case(one, run("with-1", case=one)) for one in (outer, inner)]

    anchors = Anchors(cases)

    assert anchors.run(cases[0].runs[0]) == "evals/a/with-1+"
    assert anchors.run(cases[1].runs[0]) == "evals/a/with-1/with-1"


def test_places_of_graders_and_runs_of_nested_cases_differ() -> None:
    about = [info("a"), info("a/grader"), info("a/grader/with-1")]
    graded = run("with-1", (verdict("P", "with-1"),), case=about[0])
    runs = [graded, *(run("with-1", case=one) for one in about[1:])]
    cases = [case(one, its) for one, its in zip(about, runs, strict=True)]
    suite = suite_result(suite_info(), cases, partial_reason=None)

    ids = re.findall(r' id="([^"]+)"', _page(suite))

    assert sorted(ids) == sorted(set(ids))
    assert {"evals/a/grader/with-1", "evals/a/grader/with-1+", "evals/a/grader/with-1++"} <= {*ids}


@pytest.mark.parametrize(
    ("case_id", "anchor"),
    [
        ("evals/a b", "evals/a%20b/grader/x%2Fy"),
        ("evals/日", "evals/%E6%97%A5/grader/x%2Fy"),
        ('evals/"<', "evals/%22%3C/grader/x%2Fy"),
    ],
)
def test_place_is_the_same_in_attribute_link_and_address(case_id: str, anchor: str) -> None:
    assert Anchors(()).grader(case_id, "x/y") == anchor


def test_long_name_has_a_short_place_of_its_own() -> None:
    anchors = Anchors(())

    first, second = (anchors.grader("e", "x" * 999 + end) for end in "ab")

    assert first != second
    assert len(first) < 250


def test_details_move_to_side_pages_beyond_the_limit(tmp_path: Path) -> None:
    page = written(*small_suite(), tmp_path / "my report.html", inline_bytes=100)

    names = sorted(path.name for path in (tmp_path / "my report-files").iterdir())
    main = page.read_text(encoding="utf-8")
    assert names == [
        "00001-better.html",
        "00002-flaky.html",
        "00003-spoilt.html",
        "00004-worse.html",
    ]
    assert "There are too many transcripts for one page" in main
    assert "hello Ada" not in main
    assert "with-2 g2 failed: no x" in _plain(main)
    side = (tmp_path / "my report-files/00001-better.html").read_text(encoding="utf-8")
    assert "hello Ada" in side
    assert 'href="../my%20report.html#evals/better"' in side


def test_pages_that_are_not_written_are_named_with_their_command(tmp_path: Path) -> None:
    command = "plugin-eval report '/x/<b>y'"
    page = written(*small_suite(), tmp_path / "report.html", inline_bytes=0, written_by=command)

    text = page.read_text(encoding="utf-8")
    said_by_each = (
        "The transcripts of a replay are not written again; "
        "<code>plugin-eval report &#39;/x/&lt;b&gt;y&#39;</code> writes them."
    )
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert text.count(said_by_each) == 4
    assert "<pre>plugin-eval report &#39;/x/&lt;b&gt;y&#39;</pre>" in text
    assert "report-files" not in text


def test_command_is_not_named_where_all_is_on_the_page(tmp_path: Path) -> None:
    page = written(*small_suite(), tmp_path / "report.html", written_by="plugin-eval report x")

    text = page.read_text(encoding="utf-8")
    assert "plugin-eval report x" not in text
    assert "hello Ada" in text


@pytest.mark.parametrize(
    ("report_only", "sentence"),
    [
        (
            False,
            "Failed: 2 of 4 cases missed the threshold (flaky, worse); 1 of 24 runs was not"
            " measured (spoilt). By itself this suite gives exit status 1.",
        ),
        (
            True,
            "Failed: 1 of 24 runs was not measured (spoilt). By itself this suite gives exit"
            " status 1.",
        ),
    ],
)
def test_verdict_is_that_of_the_suite(report_only: bool, sentence: str) -> None:
    suite, records = small_suite()
    verdict = conclusion(suite, report_only=report_only)

    text = _plain("".join(HtmlReport(suite, records=records, verdict=verdict).chunks()))

    assert sentence in text


def test_saved_results_claim_no_exit_status() -> None:
    text = _plain(_page(*small_suite()))

    assert "Failed: 2 of 4 cases missed the threshold (flaky, worse)" in text
    assert "exit status" not in text


def test_rates_have_their_number_of_runs() -> None:
    text = _plain(_page(*small_suite()))

    assert "WITH 0.83 mean over 4 cases, 11 runs" in text
    assert "W/OUT 0.67 mean over 3 cases, 9 runs" in text


def test_failed_case_shows_at_once_what_its_graders_said(tmp_path: Path) -> None:
    suite, records = small_suite()
    page = _page(suite, records)

    cards = {
        name: text for name, text in re.findall(r'id="evals/(\w+)" (.*?)<details>', page, re.S)
    }

    assert "<b>with-2 g2 failed:</b> no x" in cards["flaky"]
    assert "failed:</b>" not in cards["better"]


def test_side_pages_of_an_earlier_report_go_and_other_files_stay(tmp_path: Path) -> None:
    suite, records = small_suite()
    page = written(suite, records, tmp_path / "report.html", inline_bytes=0)
    foreign = tmp_path / "report-files" / "00009-mine.html"
    foreign.write_text("<p>mine", encoding="utf-8")
    fewer = suite_result(suite_info(), suite.cases[:1], partial_reason=None)

    written(fewer, records, page, inline_bytes=0)
    assert sorted(path.name for path in foreign.parent.iterdir()) == [
        "00001-better.html",
        "00009-mine.html",
    ]
    foreign.unlink()
    written(fewer, records, page)
    assert not foreign.parent.exists()


def test_records_are_read_a_pair_at_a_time_and_only_when_due() -> None:
    suite, records = small_suite()
    read: list[str] = []

    class Watched(Kept):
        def read(self, run: RunReport) -> RunRecord:
            read.append(f"{run.key.case}/{run.key.arm}-{run.key.number}")
            return records.read(run)

    chunks = HtmlReport(suite, records=Watched()).chunks()
    started = next(chunks)

    assert started.startswith("<!doctype html>")
    assert len(read) < 24
    assert "".join(chunks).endswith("</html>")
    assert len(read) == 24
    assert read[:3] == ["evals/better/with-1", "evals/better/without-1", "evals/better/with-2"]


def test_page_of_six_thousand_runs_stays_below_ten_megabytes() -> None:
    suite, records = large_suite(1000)
    report = HtmlReport(suite, records=records)

    size = sum(len(chunk.encode()) for chunk in report.chunks())

    assert report.is_split
    assert size < 10 * MIB


def test_policy_allows_the_own_script_and_style_alone() -> None:
    page = _page(*small_suite())

    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert re.sub(r"sha256-[\w+/=]+", "X", policy.replace("&#39;", "'")) == (
        "default-src 'none'; style-src 'X'; script-src 'X'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


class _Structure(HTMLParser):
    """The elements of a page, with the names of their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, ...]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, *(name for name, _ in attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.found.append((f"/{tag}",))


def _structure(text: str) -> list[tuple[str, ...]]:
    suite, records = hostile_suite(text)
    scored = report(name=text, path=text, findings=[finding(text, remedy=text)])
    verdict = conclusion(suite, further=[text])
    page = HtmlReport(suite, records=records, quality=[scored], verdict=verdict)
    short = HtmlReport(suite, records=records, written_by=text, inline_bytes=0)
    parser = _Structure()
    parser.feed("".join((*page.chunks(), *short.chunks(files=text))))
    return parser.found


@pytest.mark.parametrize("name", ["CON", "../../x", "a\\b:c", "日本", "x" * 300, ".", "a/b c%2F"])
def test_names_of_side_pages_are_plain(tmp_path: Path, name: str) -> None:
    about = replace(info("first"), name=name)
    suite = suite_result(
        suite_info(), [case(about, run("with-1", case=about))], partial_reason=None
    )
    written(suite, Kept(), tmp_path / "report.html", inline_bytes=0)

    (side,) = (tmp_path / "report-files").iterdir()

    assert re.fullmatch(r"00001-[a-z0-9-]{0,60}\.html", side.name)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_changes_no_element(text: str) -> None:
    assert _structure(text) == _structure("x")


@given(text=st.text(min_size=1, max_size=60).filter(lambda text: text.strip()))
def test_no_text_changes_an_element(text: str) -> None:
    assert _structure(text) == _structure("x")


def test_report_is_written_where_there_was_none(tmp_path: Path) -> None:
    suite, records = small_suite()

    write_report(HtmlReport(suite, records=records), tmp_path / "new/place.html", write_text)

    assert (tmp_path / "new/place.html").is_file()
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["place.html"]
