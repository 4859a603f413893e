"""Live, record and replay; results, and what a stale record is worth."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_plugin_eval.cases.fingerprint import prompt_hash
from pytest_plugin_eval.records.model import Ending, RunRecord
from pytest_plugin_eval.storage.record_files import write_record
from tests.pytester.conftest import HELLO, StandInAgent, Suite, answered


def _live(suite: Suite, *arguments: str) -> pytest.RunResult:
    return suite.pytester.runpytest("evals", *arguments)


def _results(suite: Suite) -> Path:
    (directory,) = (suite.evals / "results").iterdir()
    return directory


def test_live_session_keeps_every_record_in_its_results(suite: Suite, agent: StandInAgent) -> None:
    suite.case("group/first", front="runs: 2")

    _live(suite)

    files = sorted(p.relative_to(_results(suite)).as_posix() for p in _results(suite).rglob("*.*"))
    assert files == [
        "aggregate-result.json",
        "report.html",
        "runs/evals/group/first/with-1.jsonl",
        "runs/evals/group/first/with-2.jsonl",
        "runs/evals/group/first/without-1.jsonl",
        "runs/evals/group/first/without-2.jsonl",
        "session.json",
    ]
    assert not (suite.evals / "recordings").exists()
    assert len(agent.requests) == 4


def test_record_mode_writes_recordings_too(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first", front="runs: 1")

    _live(suite, "--eval-mode", "record")

    recordings = suite.evals / "recordings" / "evals" / "first"
    assert sorted(p.name for p in recordings.iterdir()) == ["with-1.jsonl", "without-1.jsonl"]
    suite.replay().assert_outcomes(passed=2 + 0)
    assert len(agent.requests) == 2


def test_recording_fewer_runs_leaves_none_of_the_earlier_ones(
    suite: Suite, agent: StandInAgent
) -> None:
    suite.case("first", front="runs: 2")
    suite.case("first-b", front="runs: 2")
    for name in ("first", "first-b"):
        suite.records(name, "ggg", "ggg")

    result = suite.pytester.runpytest("evals/first", "--eval-mode", "record")

    told = "1 recording of an earlier session with more runs was removed"
    words = " ".join(result.stdout.str().split())
    assert words.count(told) == 2
    assert f"evals/first with-1: {told}" in words
    base = suite.evals / "recordings" / "evals"
    assert {path.stem for path in (base / "first").iterdir()} == {
        "with-1", "with-2", "without-1", "without-2"
    }  # fmt: skip
    assert len(list((base / "first-b").iterdir())) == 6
    assert suite.replay("evals/first").ret == pytest.ExitCode.OK


def test_run_that_was_not_measured_takes_no_recording_away(
    suite: Suite, agent: StandInAgent
) -> None:
    suite.case("first", front="runs: 1")
    suite.records("first", "h", "g")
    agent.answer = lambda request: answered(
        request, "", ending=Ending.AGENT_ERROR, error="exit 1: API Error: 529"
    )

    recorded = suite.pytester.runpytest("evals", "--eval-mode", "record")

    assert recorded.ret == pytest.ExitCode.TESTS_FAILED
    assert suite.replay("evals").ret == pytest.ExitCode.OK


def test_edited_grader_grades_old_records_afresh(suite: Suite) -> None:
    case = suite.case("first")
    suite.records("first", "h", "g")
    (case / "graders" / "hello.md").write_text(HELLO.replace("hello", "bye"), encoding="utf-8")

    result = suite.replay("evals")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert suite.document()["cases"][0]["aggregates"]["score"] == 0  # type: ignore[index]


def test_replay_from_a_results_directory(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first", front="runs: 2")
    _live(suite)

    result = suite.replay("evals", "--eval-from", str(_results(suite)))

    assert result.ret == pytest.ExitCode.OK
    assert len(agent.requests) == 4


def test_replay_without_recordings_names_the_cure(suite: Suite) -> None:
    suite.case("first")

    result = suite.replay("evals")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*evals/first: nothing is recorded*--eval-mode record*"])


def test_changed_prompt_makes_a_recording_stale_unless_named(
    suite: Suite, agent: StandInAgent
) -> None:
    case = suite.case("first", front="runs: 1")
    agent.answer = lambda request: _with_hash(answered(request, "hello"), prompt_hash(request.case))
    _live(suite, "--eval-mode", "record")
    (case / "prompt.md").write_text("Say hello twice", encoding="utf-8")

    stale = suite.replay("evals")
    named = suite.replay("evals", "--eval-from", str(suite.evals / "recordings"))

    stale.stdout.fnmatch_lines(["*stale: the prompt changed*"])
    assert stale.ret == pytest.ExitCode.TESTS_FAILED
    assert named.ret == pytest.ExitCode.OK


def _with_hash(record: RunRecord, value: str) -> RunRecord:
    return replace(record, provenance={"prompt": value})


@pytest.mark.parametrize("workers", ["0", "1"])
def test_changed_plugin_is_said_in_every_output(suite: Suite, workers: str) -> None:
    suite.case("first")
    record = suite.made("first", "with", 1)
    write_record(suite.evals / "recordings", replace(record, provenance={"plugin": "other"}))

    result = suite.replay("evals", "--junitxml=report.xml", "-n", workers)

    said = "the plugin's files have changed since 1 run of these"
    assert result.ret == pytest.ExitCode.OK
    assert said in " ".join(result.stdout.str().split())
    assert said in suite.document()["suite"]["recorded"]  # type: ignore[index]
    assert said in (suite.root / "report.xml").read_text(encoding="utf-8")


def test_damaged_record_is_not_measured_and_named(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "hh")
    (suite.evals / "recordings/evals/first/with-2.jsonl").write_text("{", encoding="utf-8")

    result = suite.replay("evals")

    result.assert_outcomes(passed=1, errors=1, failed=1)
    result.stdout.fnmatch_lines(["*with-2.jsonl*"])


@pytest.mark.parametrize(
    ("source", "target"),
    [("first/with-1", "first/with-2"), ("other/with-1", "first/with-2")],
    ids=["other-number", "other-case"],
)
def test_record_of_another_run_is_not_measured(suite: Suite, source: str, target: str) -> None:
    suite.case("first")
    suite.records("first", "hh")
    suite.records("other", "h")
    base = suite.evals / "recordings" / "evals"
    shutil.copy(base / f"{source}.jsonl", base / f"{target}.jsonl")

    result = suite.replay("evals")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, errors=1, failed=1)
    told = " ".join(result.stdout.str().split())  # paths are long, and lines wrapped
    case = source.partition("/")[0]
    assert f"is the record of 'evals/{case}' with-1, expected that of 'evals/first' with-2" in told


def test_replay_knows_no_ceiling_and_no_credential(suite: Suite) -> None:
    suite.case("first")
    suite.record("first", "with", 1, ending=Ending.CREDENTIAL_REFUSED, error="exit 1: 401")
    suite.record("first", "with", 2)
    suite.case("second")
    suite.record("second", "with", 1)

    result = suite.replay("evals", "--eval-max-cost-usd", "0")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=3, errors=1, failed=1)
    assert suite.document()["partialReason"] == "not_measured"


@pytest.mark.parametrize("workers", ["0", "2"])
def test_results_are_written_where_the_options_say(suite: Suite, workers: str) -> None:
    suite.case("first")
    suite.records("first", "h", "g")
    out, copy = suite.root / "out" / "here", suite.root / "copies" / "result.json"

    suite.replay("evals", "--eval-results-dir", str(out), "--eval-json", str(copy), "-n", workers)

    names = ["aggregate-result.json", "report.html"]
    assert sorted(path.name for path in out.iterdir()) == names
    assert copy.read_text(encoding="utf-8") == (out / "aggregate-result.json").read_text("utf-8")
    assert not (suite.evals / "results").exists()


def test_two_plugins_get_a_result_each(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "h", "g")
    other = Suite(suite.pytester, suite.root / "sub")
    (other.root / ".claude-plugin").mkdir(parents=True)
    (other.root / ".claude-plugin" / "plugin.json").write_text('{"name": "sub"}', encoding="utf-8")
    other.case("second")
    other.records("second", "h", "h")
    other.case("broken", graders={})

    result = suite.replay("evals", "sub/evals", "--eval-results-dir", "out")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    found = {
        path.parent.name: json.loads(path.read_text("utf-8"))
        for path in (suite.root / "out").glob("*/aggregate-result.json")
    }
    assert {name: data["cases"][0]["dir"] for name, data in found.items()} == {
        suite.root.name: "evals/first",
        "sub": "evals/second",
    }
    errors = {name: len(data["loadErrors"]) for name, data in found.items()}
    assert errors == {suite.root.name: 0, "sub": 1}


def test_unwritable_results_are_refused_before_any_run(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first")
    blocked = suite.root / "file"
    blocked.write_text("", encoding="utf-8")

    result = _live(suite, "--eval-results-dir", str(blocked / "below"))

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: results cannot be written to *--eval-results-dir*"])
    assert agent.requests == []


def test_results_that_cannot_be_written_fail_the_session(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "h", "g")

    result = suite.replay("evals", "--eval-json", "/dev/null/evals.json")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["error: results not written: /dev/null/evals.json: *"])


def test_run_is_graded_although_its_record_cannot_be_written(
    suite: Suite, agent: StandInAgent
) -> None:
    suite.case("first", front="runs: 1")
    (suite.evals / "recordings").write_text("in the way", encoding="utf-8")

    result = _live(suite, "--eval-mode", "record")

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*first with-1: the recording could not be written: *"])


def test_mode_is_said_before_and_after_the_runs(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first", front="runs: 1")

    live = _live(suite)
    suite.records("first", "h", "g")
    replay = suite.replay("evals")

    live.stdout.fnmatch_lines(["evals: live mode, stand-in agent"])
    replay.stdout.fnmatch_lines(["evals: replay mode,*"])
    # Wrapped at the terminal's width.
    words = " ".join(replay.stdout.str().split())
    assert "2 runs recorded 2026-01-02 with claude-x, Claude Code 2.1.332" in words


@pytest.mark.parametrize("workers", ["0", "1"])
def test_notes_of_a_run_reach_every_reader(suite: Suite, workers: str) -> None:
    suite.case("first")
    record = replace(suite.made("first", "with", 1), notes=("run directory kept: /kept/here",))
    write_record(suite.evals / "recordings", record)

    result = suite.replay("evals", "-n", workers)

    result.stdout.fnmatch_lines(["evals/first with-1: run directory kept: /kept/here"])
    run = suite.document()["cases"][0]["arms"]["with"][0]  # type: ignore[index]
    assert run["notes"] == ["run directory kept: /kept/here"]


def test_document_names_each_record_by_its_whole_path(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "h")

    suite.replay("evals")

    run = suite.document()["cases"][0]["arms"]["with"][0]  # type: ignore[index]
    assert run["tracePath"] == str(suite.evals / "recordings/evals/first/with-1.jsonl")


def test_missing_records_are_told(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "hh", "gg")
    (suite.evals / "recordings/evals/first/without-1.jsonl").unlink()

    result = suite.replay("evals", "--eval-runs", "3")

    result.stdout.fnmatch_lines(["evals/first: no record of with-3, without-1, without-3"])


@pytest.mark.parametrize("baseline", [True, False])
def test_lost_baseline_records_change_no_verdict(suite: Suite, baseline: bool) -> None:
    fired = "---\ntype: tool_used\ntool: Skill\n---\n"
    suite.case("first", graders={"hello": HELLO, "fired": fired})
    suite.records("first", "h", "g" if baseline else "")

    result = suite.replay("evals")

    assert result.ret == pytest.ExitCode.OK
    assert suite.document()["cases"][0]["aggregates"]["score"] == 1  # type: ignore[index]


def test_one_arm_counts_with_only_graders_and_says_so(suite: Suite) -> None:
    fired = "---\ntype: tool_used\ntool: Skill\n---\n"
    suite.case("first", graders={"hello": HELLO, "fired": fired})
    suite.records("first", "h", "g")

    result = suite.replay("evals", "--eval-ablation", "none")

    result.stdout.fnmatch_lines(
        ["evals/first: with one arm, with-only graders count: fired", "first  0.50 *"]
    )


def test_replay_spends_nothing_and_says_what_was_spent_before(suite: Suite) -> None:
    suite.case("first")
    suite.records("first", "hh", "gg")

    suite.replay("evals")

    document = suite.document()
    assert document["costUsd"] == 1
    assert document["suite"]["spentUsd"] == 0  # type: ignore[index]


def test_missing_plugin_is_told(suite: Suite) -> None:
    (suite.root / ".claude-plugin" / "plugin.json").unlink()
    suite.case("first")
    suite.records("first", "h")

    suite.replay("evals").stdout.fnmatch_lines(["evals/first: no plugin found,*"])


def test_second_session_in_a_named_directory_keeps_the_first(
    suite: Suite, agent: StandInAgent
) -> None:
    suite.case("first", front="runs: 2")
    _live(suite, "--eval-results-dir", "out")

    _live(suite, "--eval-results-dir", "out", "--eval-runs", "1")

    out = suite.root / "out"
    assert len(list((out / "runs").rglob("*.jsonl"))) == 2
    assert len(list((out / "earlier-1" / "runs").rglob("*.jsonl"))) == 4
    assert not (out / ".session").exists()
