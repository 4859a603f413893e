"""What is there to be graded again: records, recordings, and cases that are not as they were."""

from __future__ import annotations

import errno
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from pytest_plugin_eval.cases import discovery
from pytest_plugin_eval.cases.fingerprint import settings_hash
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.records.codec import read_record
from pytest_plugin_eval.records.model import Ending
from pytest_plugin_eval.storage.record_files import write_record
from tests.support.judges import FakeBackend
from tests.support.rescoring import CASE, Captured, Saved, session, write_runs
from tests.support.suites import load, write_tree


def test_changed_prompt_is_a_line(plugin: Path, capsys: Captured) -> None:
    runs = plugin / "evals/results/2026-01-31T12-00-00-000Z/runs"
    write_runs(runs)
    for path in sorted(runs.glob("evals/first/with-*.jsonl")):
        old = read_record(path)
        hashes = {"prompt": "0" * 64, "settings": settings_hash(load(plugin / "evals/first"))}
        write_record(runs, replace(old, provenance={**old.provenance, **hashes}))
    saved = session(plugin, capsys)

    assert saved.rescore(FakeBackend("PASS")) == 0

    assert (
        "note: first: the prompt changed since 2 runs of 4; graded all the same"
        in capsys.readouterr().out
    )


def test_unmeasured_run_stays_so(plugin: Path, capsys: Captured) -> None:
    runs = plugin / "evals/results/2026-01-31T12-00-00-000Z/runs"
    write_runs(runs, endings={"with-2": Ending.AGENT_ERROR, "without-1": Ending.SETUP_FAILED})
    saved = session(plugin, capsys)
    judge = FakeBackend("PASS")

    assert saved.rescore(judge) == 0

    assert len(judge.requests) == 6


def test_record_that_cannot_be_read(saved: Saved, capsys: Captured) -> None:
    path = saved.results / "runs/evals/first/with-2.jsonl"
    path.write_bytes(path.read_bytes()[:-20])

    assert saved.rescore(FakeBackend("PASS")) == 1

    out, err = capsys.readouterr()
    assert f"Error: {path}" in err
    assert "the file is cut" in err
    assert "first with-2: not measured any more" in out


def test_case_that_has_gone(saved: Saved, capsys: Captured) -> None:
    write_tree(saved.plugin, {f"evals/other/{name}": text for name, text in CASE.items()})
    write_runs(saved.results / "runs", "evals/other")
    shutil.rmtree(saved.plugin / "evals/first")
    discovery.forget()

    assert saved.rescore(FakeBackend("PASS")) == 1

    out, err = capsys.readouterr()
    assert "evals/first: is no case any more, 4 records cannot be graded" in err
    assert "other: score — -> 1.00" in out
    assert "(not in the old document)" in out


def test_case_filter(saved: Saved, capsys: Captured) -> None:
    write_tree(saved.plugin, {f"evals/other/{name}": text for name, text in CASE.items()})
    write_runs(saved.results / "runs", "evals/other")

    assert saved.rescore(FakeBackend("PASS"), case="fi*") == 0
    assert "rescoring 4 runs of 1 case" in capsys.readouterr().out
    assert saved.newest()["suite"]["caseFilter"] == "fi*"
    with pytest.raises(EvalError, match="no case of these results matches --case 'x'"):
        saved.rescore(FakeBackend("PASS"), case="x")


def test_recordings_are_compared_with_their_own_votes(
    saved: Saved, tmp_path: Path, capsys: Captured
) -> None:
    recordings = saved.plugin / "evals/recordings"
    shutil.copytree(saved.results / "runs", recordings)

    code = Saved(saved.plugin, recordings).rescore(FakeBackend("FAIL"))

    out = capsys.readouterr().out
    assert [path.name for path in recordings.iterdir()] == ["evals"]
    assert code == 0
    assert "first with-2 tone: passed -> failed: judge votes: FAIL FAIL FAIL (before: PASS" in out
    assert "4 of 8 verdicts changed" in out


@pytest.mark.parametrize(
    ("options", "left"),
    [({"json": True}, {"evals", "copy.json"}), ({"no_judge": True}, {"evals"})],
    ids=["copy", "no judge"],
)
def test_recordings_get_no_document(
    saved: Saved, options: dict[str, bool], left: set[str], capsys: Captured
) -> None:
    recordings = saved.plugin / "evals/recordings"
    shutil.copytree(saved.results / "runs", recordings)
    copy = {"json": recordings / "copy.json"} if "json" in options else {}

    code = Saved(saved.plugin, recordings).rescore(FakeBackend("PASS"), **{**options, **copy})

    assert code == 0
    assert {path.name for path in recordings.iterdir()} == left
    assert ("Wrote" in capsys.readouterr().out) == ("json" in options)


def test_locked_recordings_are_refused_where_votes_would_be_kept(
    saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings = Saved(saved.plugin, saved.plugin / "evals/recordings")
    shutil.copytree(saved.results / "runs", recordings.results)
    judge = FakeBackend("PASS")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(FileLock, "acquire", refuse)

    with pytest.raises(EvalError, match=r"recordings: cannot be written to, .* --no-judge"):
        recordings.rescore(judge)

    assert recordings.rescore(None, no_judge=True) == 0
    assert judge.requests == []


def test_one_arm_stays_one_arm(saved: Saved) -> None:
    path = saved.results / "aggregate-result.json"
    path.write_text(path.read_text("utf-8").replace('"with-without"', '"none"'))
    judge = FakeBackend("PASS")

    saved.rescore(judge)

    assert len(judge.requests) == 6
    assert saved.newest()["suite"]["ablation"] == "none"
