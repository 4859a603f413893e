"""`plugin-eval diff`: what it prints and when it refuses."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_plugin_eval.cli.diff_lines import markdown_lines, text_lines
from pytest_plugin_eval.cli.main import main
from pytest_plugin_eval.reports.columns import display_width
from pytest_plugin_eval.reports.document import document_text
from pytest_plugin_eval.results.difference import difference
from pytest_plugin_eval.scoring.aggregate import case_result, suite_result
from pytest_plugin_eval.scoring.model import SuiteResult
from tests.support import results

Captured = pytest.CaptureFixture[str]


def _suite(letters: str = "PP", name: str = "one", **provenance: str) -> SuiteResult:
    case = replace(
        results.case_info(name, runs=results.plan(2, 2)),
        graders=tuple({"name": f"g{n}", "type": "regex", "weight": 1} for n in (1, 2)),
    )
    runs = [
        replace(
            results.run(f"{arm}-{n}", letters if arm == "with" else "PF", case=case),
            provenance={"model": "haiku", "plugin": "a" * 64, **provenance},
        )
        for arm in ("with", "without")
        for n in (1, 2)
    ]
    return suite_result(
        results.suite_info(), [case_result(case, runs, threshold=1.0)], partial_reason=None
    )


def _write(path: Path, suite: SuiteResult) -> Path:
    path.mkdir()
    (path / "aggregate-result.json").write_text(document_text(suite), "utf-8")
    return path


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    """Return two results between which the plugin has changed."""
    old = _write(tmp_path / "old", _suite())
    new = _write(tmp_path / "new", _suite("PF", plugin="b" * 64))
    return str(old), str(new)


def test_diff_tells_what_moved_and_what_moved_it(pair: tuple[str, str], capsys: Captured) -> None:
    assert main(["diff", *pair]) == 0

    out = capsys.readouterr().out
    assert "differs: plugin's files: aaaaaaaaaaaa -> bbbbbbbbbbbb" in out
    assert re.search(
        r"^one +1\.00 \(n=2\) -> 0\.50 \(n=2\) +0\.50 \(n=2\) +\+0\.50 -> 0\.00 +plugin$", out, re.M
    )
    assert "    only WITH moved, and the plugin's files changed" in out
    assert "    g2: with 2/2 -> 0/2, without 0/2" in out
    assert "fails now: one" in out


def test_documents_are_compared_as_well_as_directories(
    pair: tuple[str, str], capsys: Captured
) -> None:
    paths = [f"{path}/aggregate-result.json" for path in pair]

    assert main(["diff", *paths, "--markdown"]) == 0

    out = capsys.readouterr().out
    assert "| CASE | WITH | W/OUT | Δ | MOVED BY |" in out
    assert "| one | 1.00 (n=2) -> 0.50 (n=2) | 0.50 (n=2) | +0.50 -> 0.00 | plugin |" in out


def test_json_holds_the_numbers_in_full(
    pair: tuple[str, str], tmp_path: Path, capsys: Captured
) -> None:
    target = tmp_path / "diff.json"

    assert main(["diff", *pair, "--json", str(target)]) == 0

    (case,) = json.loads(target.read_text("utf-8"))["cases"]
    assert case["movedBy"] == "plugin"
    assert case["with"] == {"old": {"score": 1.0, "runs": 2}, "new": {"score": 0.5, "runs": 2}}
    assert f"Wrote {target}" in capsys.readouterr().err


OTHER_PLUGIN = replace(_suite(), info=results.suite_info(plugins=({"name": "else", "path": "/x"},)))


@pytest.mark.parametrize(
    ("suite", "said"),
    [
        (_suite(name="other"), "no case is in both"),
        (OTHER_PLUGIN, "plugin demo and plugin else"),
    ],
)
def test_results_of_different_suites_are_refused(
    suite: SuiteResult, said: str, tmp_path: Path, capsys: Captured
) -> None:
    old, new = _write(tmp_path / "old", _suite()), _write(tmp_path / "new", suite)

    assert main(["diff", str(old), str(new)]) == 1
    assert said in capsys.readouterr().err

    assert main(["diff", str(old), str(new), "--across-suites"]) == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(None, "no such file or directory", id="missing"),
        pytest.param(b"", "is no result document", id="empty"),
        pytest.param(b"{", "is no result document", id="broken"),
        pytest.param(b"\xff\x00", "is no result document", id="binary"),
        pytest.param(b"[]", "is no result document", id="other JSON"),
        pytest.param(b'{"schemaVersion": 1}', "is no result document", id="other object"),
        pytest.param(b'{"schemaVersion": 2}', "written by a newer version", id="newer"),
        pytest.param(b'{"schemaVersion": 0}', "is no result document", id="older"),
    ],
)
def test_what_is_no_result_is_refused_in_one_line(
    content: bytes | None, said: str, pair: tuple[str, str], tmp_path: Path, capsys: Captured
) -> None:
    path = tmp_path / "odd.json"
    if content is not None:
        path.write_bytes(content)

    assert main(["diff", pair[0], str(path)]) == 1

    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_mover_stands_below_its_row_where_the_row_is_too_long(tmp_path: Path) -> None:
    found = difference(_suite(), _suite("FF", plugin="b" * 64))

    narrow = text_lines(found, width=64)

    assert "MOVED BY" not in " ".join(narrow)
    assert "    moved by: plugin" in narrow
    assert "    moved by: plugin" not in text_lines(found, width=120)


def test_case_that_lost_runs_is_not_said_to_fail() -> None:
    suite = _suite()
    (case,) = suite.cases
    runs = [results.lost(f"{run.key.arm}-{run.key.number}", case=case.info) for run in case.runs]
    lost = suite_result(
        suite.info, [case_result(case.info, runs, threshold=1.0)], partial_reason=None
    )

    lines = text_lines(difference(suite, lost), width=120)

    assert "not measured now: one" in lines
    assert not any(line.startswith("fails now") for line in lines)


@pytest.mark.parametrize(
    ("letters", "is_told"),
    [pytest.param("PP", False, id="same"), pytest.param("PF", True, id="moved")],
)
def test_chance_is_named_wherever_something_moved(letters: str, is_told: bool) -> None:
    text = " ".join(text_lines(difference(_suite(), _suite(letters)), width=120))

    assert ("by chance as well" in text) is is_told


def test_what_one_result_does_not_tell_is_no_difference() -> None:
    unknown = _suite(model="", plugin="")

    lines = text_lines(difference(unknown, _suite()), width=120)

    assert "known of one only: model: unknown -> haiku" in lines
    assert not any(line.startswith("differs") for line in lines)


def test_results_below_a_directory_are_named(
    pair: tuple[str, str], tmp_path: Path, capsys: Captured
) -> None:
    assert main(["diff", pair[0], str(tmp_path)]) == 1

    assert (
        f"holds 2 results, expected one of them, did you mean the newest, {str(tmp_path / 'old')!r}"
        in (capsys.readouterr().err)
    )


@pytest.mark.parametrize("width", [40, 80, 120])
def test_lines_fit_their_width(width: int) -> None:
    name = "a-very-long-name-of-a-case-" * 5
    found = difference(_suite(name=name), _suite("PF", name=name))

    lines = text_lines(found, width=width)

    words = max(display_width(word) for line in lines for word in line.split())
    assert all(display_width(line) <= max(width, words + 8) for line in lines)


@pytest.mark.parametrize(
    "name",
    ["<script>alert(1)</script>", "a | b", "`x`", "[x](javascript:1)", "@everyone", "a\nb\x1b[31m"],
)
def test_names_are_text_in_markdown_and_in_the_terminal(name: str) -> None:
    suite = _suite()
    case = replace(suite.cases[0], info=replace(suite.cases[0].info, name=name))
    found = difference(suite, replace(suite, cases=(case,)))

    markdown = markdown_lines(found)

    assert not any("\x1b" in line or "\n" in line for line in markdown)
    rows = [line for line in markdown if line.startswith("| ")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 6 for row in rows)
    assert not re.search(r"(?<!\\)[`\[<]|@\w", rows[-1])
    assert not any("\x1b" in line for line in text_lines(found, width=80))
