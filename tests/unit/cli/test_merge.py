"""`plugin-eval merge` and `report`: what they write, print and refuse."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_plugin_eval.cli.main import main
from pytest_plugin_eval.records.codec import read_record
from pytest_plugin_eval.records.model import Arm
from pytest_plugin_eval.reports.document import document, document_text
from pytest_plugin_eval.scoring.aggregate import case_result, suite_result
from pytest_plugin_eval.scoring.model import RunReport, SuiteResult
from pytest_plugin_eval.storage.record_files import write_record
from tests.support import quality, results
from tests.support.records import record, said

Captured = pytest.CaptureFixture[str]
INFO = results.case_info("first", runs=results.plan(2, 1))
RUNS = (
    results.run("with-1", "PP", case=INFO),
    results.run("with-2", "PF", case=INFO),
    results.run("without-1", "FF", case=INFO),
)


def _suite(runs: Sequence[RunReport], partial: str | None = None, **fields: object) -> SuiteResult:
    made = sum(run.key.arm is Arm.WITH for run in runs)
    selected = results.plan(made, len(runs) - made)
    case = case_result(INFO, runs, threshold=0.7, expected=selected)
    info = results.suite_info(threshold=0.7, **fields)
    return suite_result(info, [case], partial_reason=partial)


def _write(path: Path, suite: SuiteResult) -> str:
    path.mkdir(parents=True)
    text = document_text(suite, quality=[quality.plugin()])
    (path / "aggregate-result.json").write_text(text, "utf-8")
    for run in suite.cases[0].runs:
        made = replace(record(said(f"Reply of {run.key.arm.value}-{run.key.number}")), key=run.key)
        write_record(path / "runs", made)
    return str(path)


@pytest.fixture
def shards(tmp_path: Path) -> list[str]:
    """Return three results with a run each."""
    return [
        _write(tmp_path / f"results/s{n}", _suite([run], shard=f"{n}/3"))
        for n, run in enumerate(RUNS, 1)
    ]


def test_merged_directory_is_that_of_one_session(
    shards: list[str], tmp_path: Path, capsys: Captured
) -> None:
    output = tmp_path / "all"

    assert main(["merge", *shards, "--output-dir", str(output)]) == 0

    whole = document(_suite(RUNS), quality=[quality.plugin()])
    found = json.loads((output / "aggregate-result.json").read_text("utf-8"))
    assert found["aggregates"] == json.loads(json.dumps(whole["aggregates"]))
    assert found["composite"]["score"] == quality.plugin().composite.score
    paths = [run["tracePath"] for arm in found["cases"][0]["arms"].values() for run in arm]
    assert paths == [
        str(output / f"runs/evals/first/{name}.jsonl") for name in ("with-1", "with-2", "without-1")
    ]
    assert all(read_record(Path(path)) for path in paths)
    assert "Reply of with-2" in (output / "report.html").read_text("utf-8")
    out = capsys.readouterr().out
    assert "1 case · 1 passed" in out
    assert "exit status 0" in out


def test_merged_results_go_beside_the_first_by_default(shards: list[str]) -> None:
    assert main(["merge", *shards]) == 0

    beside = Path(shards[0]).parent
    (made,) = set(beside.iterdir()) - set(map(Path, shards))
    assert (made / "aggregate-result.json").is_file()


def test_missing_shard_fails_and_is_named(shards: list[str], capsys: Captured) -> None:
    assert main(["merge", shards[0], shards[2]]) == 1

    out = capsys.readouterr().out
    assert "missing: 1 shard, 2/3" in out
    assert "missing: 1 planned run, evals/first with-2" in out


def test_page_says_of_incomplete_results_what_the_command_says(
    shards: list[str], tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "all"

    assert main(["merge", shards[0], shards[2], "--output-dir", str(out)]) == 1

    page = (out / "report.html").read_text("utf-8")
    assert (
        "<strong>Failed:</strong> the results are incomplete; not every run could be made." in page
    )
    assert "By itself this suite gives exit status 1." in page
    assert "exit status 1: the results are incomplete" in capsys.readouterr().out


def test_case_that_missed_the_threshold_fails_the_merge(tmp_path: Path) -> None:
    parts = [
        _write(tmp_path / f"s{n}", _suite([run]))
        for n, run in enumerate((results.run("with-1", "FF", case=INFO), *RUNS[1:]))
    ]

    assert main(["merge", *parts]) == 1


def test_run_in_two_parts_counts_once_or_is_refused(
    shards: list[str], tmp_path: Path, capsys: Captured
) -> None:
    same = _write(tmp_path / "results/same", _suite([RUNS[1]], shard="2/3"))
    assert main(["merge", *shards, same]) == 0
    assert "the same and counted once: 1 run, evals/first with-2" in capsys.readouterr().out

    other = results.run("with-2", "PP", case=INFO)
    changed = _write(tmp_path / "results/changed", _suite([other], shard="2/3"))
    assert main(["merge", *shards, changed]) == 1
    err = capsys.readouterr().err
    assert "evals/first with-2 is in two of them and not the same" in err
    assert not list((tmp_path / "results").glob("20*/aggregate-result.json"))[1:]


def test_results_named_twice_are_refused(shards: list[str], capsys: Captured) -> None:
    assert main(["merge", shards[0], f"{shards[0]}/."]) == 1
    assert "is named twice" in capsys.readouterr().err


def test_directory_that_holds_something_is_no_place_to_merge_into(
    shards: list[str], capsys: Captured
) -> None:
    before = sorted(Path(shards[1]).rglob("*"))

    assert main(["merge", *shards, "--output-dir", shards[1]]) == 1

    assert "is not empty" in capsys.readouterr().err
    assert sorted(Path(shards[1]).rglob("*")) == before


def test_records_that_were_not_uploaded_are_no_hurdle(shards: list[str], tmp_path: Path) -> None:
    (Path(shards[0]) / "runs/evals/first/with-1.jsonl").unlink()

    assert main(["merge", *shards, "--output-dir", str(tmp_path / "all")]) == 0

    assert not (tmp_path / "all/runs/evals/first/with-1.jsonl").exists()


@pytest.mark.parametrize("output", [True, False], ids=["named", "beside"])
def test_place_that_cannot_be_written_to_is_named_in_one_line(
    output: bool,
    shards: list[str],
    tmp_path: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    place = tmp_path / "all" if output else Path(shards[0]).parent

    assert main(["merge", *shards, *(["--output-dir", str(place)] if output else [])]) == 1

    err = capsys.readouterr().err
    assert f"{place}: no results can be written there: Permission denied" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("output", [True, False], ids=["named", "beside"])
@pytest.mark.parametrize("writes", range(5))
def test_merge_that_fails_midway_leaves_nothing(
    output: bool,
    writes: int,
    shards: list[str],
    tmp_path: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left = iter(range(writes))
    rename = Path.replace

    def fill_up(path: Path, target: Path) -> Path:
        if next(left, None) is None:
            raise OSError(28, "No space left on device", str(target))
        return rename(path, target)

    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(Path, "replace", fill_up)
    place = tmp_path / "all"

    assert main(["merge", *shards, *(["--output-dir", str(place)] if output else [])]) == 1

    assert "No space left on device" in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == sorted([*before, *([place] * output)])


def test_report_renders_the_page_again(shards: list[str], capsys: Captured) -> None:
    assert main(["report", shards[1]]) == 0

    page = Path(shards[1], "report.html").read_text("utf-8")
    assert "Reply of with-2" in page
    out = capsys.readouterr().out
    assert "CASE" in out
    assert f"report: {shards[1]}/report.html" in out


def test_report_without_records_says_so(
    shards: list[str], tmp_path: Path, capsys: Captured
) -> None:
    source = Path(shards[0], "aggregate-result.json")
    page = tmp_path / "elsewhere/page.html"
    alone = tmp_path / "alone.json"
    alone.write_bytes(source.read_bytes())

    assert main(["report", str(alone), "-o", str(page)]) == 0

    assert "no record of 1 run was found" in capsys.readouterr().out
    assert page.is_file()


def test_report_as_markdown_writes_no_page(shards: list[str], capsys: Captured) -> None:
    assert main(["report", shards[1], "--markdown"]) == 0

    out, err = capsys.readouterr()
    assert out.startswith("### Evals")
    assert "| first | failed |" in out
    assert err == ""
    assert not Path(shards[1], "report.html").exists()


def test_report_as_markdown_with_a_page_tells_of_it_beside(
    shards: list[str], tmp_path: Path, capsys: Captured
) -> None:
    page = tmp_path / "page.html"

    assert main(["report", shards[0], "--markdown", "-o", str(page)]) == 0

    out, err = capsys.readouterr()
    assert out.startswith("### Evals")
    assert "page.html" not in out
    assert err == f"report: {page}\n"
    assert page.is_file()


@pytest.mark.parametrize("command", ["merge", "report"])
def test_what_is_no_result_is_refused(command: str, tmp_path: Path, capsys: Captured) -> None:
    assert main([command, str(tmp_path)]) == 1
    assert "holds no aggregate-result.json" in capsys.readouterr().err


def test_ceiling_that_stopped_a_part_is_still_told(tmp_path: Path) -> None:
    stopped = _write(tmp_path / "a", _suite([RUNS[0]], "cost_ceiling"))

    assert main(["merge", stopped]) == 2


@pytest.mark.parametrize("case", ["../up", "/abs", "a//b", ".", "a\0b"])
@pytest.mark.parametrize("command", ["merge", "report", "diff"])
def test_case_that_lies_nowhere_is_refused_with_the_file(
    command: str, case: str, shards: list[str], capsys: Captured
) -> None:
    path = Path(shards[0], "aggregate-result.json")
    fields = json.loads(path.read_text("utf-8"))
    fields["cases"][0]["dir"] = case
    path.write_text(json.dumps(fields), "utf-8")

    assert main([command, *(shards[:2] if command != "report" else shards[:1])]) == 1

    assert f"{path}: is no result document: cases.0.dir: " in capsys.readouterr().err
