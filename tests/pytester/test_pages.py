"""The HTML report of a session: where it is written, and what becomes of a session that cannot."""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_plugin_eval.cli.main import main
from pytest_plugin_eval.reports.html import HtmlReport, side_directory
from tests.pytester.conftest import StandInAgent, Suite


@pytest.fixture
def recorded(suite: Suite) -> Suite:
    """Return a suite with a case that passes with the plugin and fails without."""
    suite.case("first")
    suite.records("first", "hh", "gg")
    return suite


def _names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


@pytest.mark.parametrize("workers", ["0", "2"])
def test_page_lies_beside_the_document_with_the_transcripts(recorded: Suite, workers: str) -> None:
    result = recorded.replay("evals", "--eval-results-dir", "out", "-n", workers)

    out = recorded.root / "out"
    page = (out / "report.html").read_text(encoding="utf-8")
    assert _names(out) == ["aggregate-result.json", "report.html"]
    result.stdout.fnmatch_lines(
        ["results: out/aggregate-result.json", "results: out/report.html"], consecutive=True
    )
    assert "<strong>Passed:</strong> the one case met its threshold. By itself" in page
    assert "<pre>goodbye</pre>" in page


def test_copy_goes_where_the_option_says(recorded: Suite) -> None:
    result = recorded.replay("evals", "--eval-results-dir", "out", "--eval-html", "new/copy.html")

    copy, page = recorded.root / "new/copy.html", recorded.root / "out/report.html"
    assert copy.read_text(encoding="utf-8") == page.read_text(encoding="utf-8")
    result.stdout.fnmatch_lines(["results: new/copy.html"])


def test_copies_of_two_plugins_are_named_after_them(recorded: Suite) -> None:
    other = Suite(recorded.pytester, recorded.root / "sub")
    (other.root / ".claude-plugin").mkdir(parents=True)
    (other.root / ".claude-plugin" / "plugin.json").write_text('{"name": "sub"}', encoding="utf-8")
    other.case("second")
    other.records("second", "h", "h")

    recorded.replay("evals", "sub/evals", "--eval-html", "pages/copy.html")

    names = sorted(["copy-sub.html", f"copy-{recorded.root.name}.html"])
    assert _names(recorded.root / "pages") == names


def test_page_claims_nothing_about_other_suites_of_the_session(recorded: Suite) -> None:
    other = Suite(recorded.pytester, recorded.root / "sub")
    (other.root / ".claude-plugin").mkdir(parents=True)
    (other.root / ".claude-plugin" / "plugin.json").write_text('{"name": "sub"}', encoding="utf-8")
    other.case("second", graders={"no": "---\ntype: regex\n---\nnever"})
    other.records("second", "h", "h")

    result = recorded.replay("evals", "sub/evals", "--eval-html", "pages/copy.html")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    pages = recorded.root / "pages"
    own = (pages / f"copy-{recorded.root.name}.html").read_text(encoding="utf-8")
    assert "the one case met its threshold. By itself this suite gives exit status 0." in own
    failed = (pages / "copy-sub.html").read_text(encoding="utf-8")
    assert "threshold (second). By itself this suite gives exit status 1." in failed


def test_large_replay_leaves_the_transcripts_to_the_command_it_names(
    recorded: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HtmlReport, "is_split", True)
    out = recorded.root / "my out"

    recorded.replay("evals", "--eval-results-dir", "my out")

    page = (out / "report.html").read_text(encoding="utf-8")
    assert _names(out) == ["aggregate-result.json", "report.html"]
    (told,) = re.findall("<pre>(plugin-eval report [^<]+)</pre>", page)
    words = shlex.split(html.unescape(told))
    assert words == ["plugin-eval", "report", str(out)]
    with monkeypatch.context() as elsewhere:
        elsewhere.chdir("/")
        assert main(words[1:]) == 0
    (side,) = (out / "report-files").iterdir()
    assert "<pre>goodbye</pre>" in side.read_text(encoding="utf-8")


@pytest.mark.parametrize("place", ["pages/x.html", "out/report.html"])
def test_large_replay_writes_all_of_a_page_that_is_asked_for(
    recorded: Suite, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(HtmlReport, "is_split", True)

    result = recorded.replay("evals", "--eval-results-dir", "out", "--eval-html", place)

    page = recorded.root / place
    assert result.outlines.count(f"results: {place}") == 1
    (side,) = side_directory(page).iterdir()
    assert "<pre>goodbye</pre>" in side.read_text(encoding="utf-8")
    assert "plugin-eval report" not in page.read_text(encoding="utf-8")


def test_large_live_session_writes_its_transcripts(
    suite: Suite, agent: StandInAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HtmlReport, "is_split", True)
    suite.case("first", front="runs: 1")

    assert main(["run", ".", "--output-dir", "out"]) == 0

    assert _names(suite.root / "out/report-files") == ["00001-first.html"]


def test_page_that_cannot_be_written_fails_the_session(recorded: Suite) -> None:
    result = recorded.replay("evals", "--eval-html", "/dev/null/page.html")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["error: results not written: /dev/null/page.html: *"])


def test_fault_in_the_page_costs_neither_document_nor_session(
    recorded: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: HtmlReport, files: str = "") -> Iterator[str]:
        raise ValueError("no such template")

    monkeypatch.setattr(HtmlReport, "chunks", broken)
    result = recorded.replay("evals", "--eval-results-dir", "out")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=3)
    assert _names(recorded.root / "out") == ["aggregate-result.json"]
    told = " ".join(result.stdout.str().split())
    assert "error: results not written: " in told
    assert "report.html: ValueError: no such template" in told


def test_reason_of_a_failure_is_that_of_the_last_line(recorded: Suite) -> None:
    recorded.case("second", graders={"no": "---\ntype: regex\n---\nnever"})
    recorded.records("second", "h", "h")

    result = recorded.replay("evals", "--eval-results-dir", "out")

    page = (recorded.root / "out/report.html").read_text(encoding="utf-8")
    assert "<strong>Failed:</strong> 1 of 2 cases missed the threshold (second)." in page
    result.stdout.fnmatch_lines(["exit status 1: 1 of 2 cases missed the threshold (second)"])


def test_page_of_the_command_goes_elsewhere_instead(
    suite: Suite, agent: StandInAgent, capsys: pytest.CaptureFixture[str]
) -> None:
    suite.case("first", front="runs: 1")

    code = main(["run", ".", "--report", "pages/x.txt", "--output-dir", "out"])

    assert code == 0
    assert (suite.root / "pages/x.txt").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert not (suite.root / "out/report.html").exists()
    assert "results: pages/x.txt" in capsys.readouterr().out
