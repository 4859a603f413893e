"""`plugin-eval history`: its table, its page and what it leaves out."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import html

from pytest_plugin_eval.cli.main import main
from pytest_plugin_eval.reports.columns import display_width
from pytest_plugin_eval.reports.document import document_text
from pytest_plugin_eval.reports.history import history_lines
from pytest_plugin_eval.reports.history_html import history_html
from pytest_plugin_eval.scoring.aggregate import case_result, suite_result
from pytest_plugin_eval.scoring.model import SuiteResult
from pytest_plugin_eval.scoring.trend import trends
from tests.support import results

Captured = pytest.CaptureFixture[str]
HOSTILE = "<script>alert(1)</script>\x1b[31m</title>"


def _suite(day: int, letters: str = "PP", *, name: str = "one", **fields: object) -> SuiteResult:
    info = results.case_info(name, runs=results.plan(1, 1))
    runs = [
        replace(results.run(run, letters, case=info), provenance={"model": f"model-{day // 2}"})
        for run in ("with-1", "without-1")
    ]
    return suite_result(
        results.suite_info(started_at=f"2026-01-{day:02}T09:00:00.000Z", **fields),
        [case_result(info, runs, threshold=1.0)],
        partial_reason=None,
    )


def _write(base: Path, suite: SuiteResult, name: str) -> None:
    (base / name).mkdir(parents=True)
    (base / name / "aggregate-result.json").write_text(document_text(suite), "utf-8")


def test_history_prints_a_table_and_writes_a_page(tmp_path: Path, capsys: Captured) -> None:
    for day, letters in ((1, "FF"), (2, "PF"), (3, "PP")):
        _write(tmp_path, _suite(day, letters), f"r{day}")

    assert main(["history", str(tmp_path)]) == 0

    out = capsys.readouterr().out
    assert "demo: 3 sessions" in out
    assert "one       ▁▅█  1.00 (n=1), Δ 0.00, passed" in out
    assert "2026-01-02 09:00: model changed, model-0 -> model-1" in out
    page = html.fromstring((tmp_path / "history.html").read_bytes())
    assert len(page.findall(".//circle")) == 3
    assert page.findtext(".//title") == "Eval history"


def test_broken_document_is_named_and_the_others_are_shown(
    tmp_path: Path, capsys: Captured
) -> None:
    _write(tmp_path, _suite(1), "good")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/aggregate-result.json").write_text("{")

    assert main(["history", str(tmp_path), "--no-html"]) == 0

    out, err = capsys.readouterr()
    assert "demo: 1 session" in out
    assert f"{tmp_path / 'bad/aggregate-result.json'}: is no result document" in err
    assert not (tmp_path / "history.html").exists()


def test_rescored_results_are_no_sessions_of_their_own(tmp_path: Path, capsys: Captured) -> None:
    _write(tmp_path, _suite(1), "r1")
    _write(tmp_path, _suite(1, mode="rescore"), "r1/rescored/r2")

    assert main(["history", str(tmp_path), "--no-html"]) == 0
    assert "left out" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("make", "said"),
    [
        ("nothing", "no such directory"),
        ("empty", "no aggregate-result.json in it or below"),
        ("bad", "no aggregate-result.json that can be read in it or below"),
    ],
)
def test_nothing_to_show_is_said(make: str, said: str, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/aggregate-result.json").write_text("{")

    assert main(["history", str(tmp_path / make)]) == 1
    assert said in capsys.readouterr().err


def test_history_of_replays_alone_says_that_none_counts(tmp_path: Path, capsys: Captured) -> None:
    _write(tmp_path, _suite(1, mode="replay"), "r1")

    assert main(["history", str(tmp_path), "--no-html"]) == 1
    assert "no session of these results counts; --replays counts" in capsys.readouterr().err
    assert main(["history", str(tmp_path), "--no-html", "--replays"]) == 0


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_fit_their_width(width: int) -> None:
    suites = [_suite(day, name="a-rather-long-name-of-a-case-" * 3) for day in range(1, 29)]
    (trend,) = trends((suite, None) for suite in suites)

    lines = history_lines(trend, width=width)

    assert all(display_width(line) <= max(width, 92) for line in lines)
    assert "the newest 20; the page has all" in lines


def test_lines_without_unicode() -> None:
    (trend,) = trends([(_suite(1, "PF", name="größe"), None)])

    text = "\n".join(history_lines(trend, width=80, ascii_only=True))

    assert text.isascii()
    assert "  5  0.50 (n=1)" in text


def _edited(suite: SuiteResult, **change: object) -> SuiteResult:
    (case,) = suite.cases
    info = replace(case.info, **change)  # type: ignore[arg-type]  # a test's choice
    return replace(suite, cases=(replace(case, info=info),))


@pytest.mark.parametrize("change", [{"prompt": "Say bye"}, {"graders": ({"name": "g1"},)}])
def test_case_that_became_another_breaks_its_line(change: dict[str, object]) -> None:
    suites = [_suite(1), _edited(_suite(2), **change), _edited(_suite(3), **change)]
    (trend,) = trends((suite, None) for suite in suites)

    lines = history_lines(trend, width=120)
    (path,) = re.findall(r'class="with" d="([^"]*)"', history_html([trend]))

    told = [line for line in lines if "prompt or graders changed" in line]
    assert told == ["2026-01-02 09:00: prompt or graders changed, no trend across it: one"]
    assert (path.count("M"), path.count("L")) == (2, 1)


def test_newest_numbers_of_a_case_that_is_gone_are_dated() -> None:
    (trend,) = trends([(_suite(1), None), (_suite(2, name="two"), None)])

    lines = history_lines(trend, width=120)

    assert "one       █·  1.00 (n=1), Δ 0.00, passed, on 2026-01-01 09:00" in lines
    assert "two       ·█  1.00 (n=1), Δ 0.00, passed" in lines
    assert "1.00 (n=1), on 2026-01-01 09:00" in history_html([trend])


def test_trend_without_a_session_has_no_table() -> None:
    (trend,) = trends([(_suite(1, mode="replay"), None)])

    assert history_lines(trend, width=80) == [
        "demo: 0 sessions",
        "",
        "left out: 1 session graded again from earlier runs",
    ]


def test_names_are_text_on_the_page() -> None:
    plugins = ({"name": HOSTILE, "path": "/x"},)
    (trend,) = trends([(_suite(1, name=HOSTILE, plugins=plugins), None)])

    page = history_html([trend])

    tree = html.fromstring(page)
    assert not tree.findall(".//script")
    assert "\x1b" not in page
    assert any("alert(1)" in (cell.text or "") for cell in tree.findall(".//th"))
