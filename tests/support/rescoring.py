"""The results of a session, to be graded again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from pytest_plugin_eval.cli.rescore import RescoreOptions, rescore
from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.records.codec import read_record
from pytest_plugin_eval.records.model import Arm, Ending, RunKey, RunOutcome
from pytest_plugin_eval.storage.record_files import write_record
from tests.support.judges import FakeBackend
from tests.support.records import record, said

TONE = "---\ntype: llm\n---\nIs it friendly?\n"
HELLO = "---\ntype: regex\npattern: hello\n---\n"
CASE = {"prompt.md": "Say hello.", "graders/tone.md": TONE, "graders/hello.md": HELLO}
Captured = pytest.CaptureFixture[str]


@dataclass(frozen=True, slots=True)
class Saved:
    """The results of a session in which the judge said PASS to everything."""

    plugin: Path
    results: Path

    def rescore(self, judge: FakeBackend | None = None, **options: object) -> int:
        """Rescore with a judge; without one, none can be found."""
        given = RescoreOptions(results=self.results, **options)  # type: ignore[arg-type]  # a test's choice
        return rescore(given, find=lambda _: judge or no_judge())

    def newest(self) -> Mapping[str, Any]:
        """Return the newest rescored document."""
        paths = sorted((self.results / "rescored").glob("*/aggregate-result.json"))
        document: Mapping[str, Any] = json.loads(paths[-1].read_text("utf-8"))
        return document

    def votes(self, run: str = "with-1") -> list[tuple[int, int, bool]]:
        """Return judging, number and answer of every vote in a record."""
        kept = read_record(self.results / f"runs/evals/first/{run}.jsonl").votes
        return [(vote.judging, vote.number, vote.passed) for vote in kept]


def no_judge() -> FakeBackend:
    """Be the machine without a judge."""
    raise JudgeError("no judge on this machine: install the extra 'judge'")


def write_runs(
    base: Path, case: str = "evals/first", *, endings: Mapping[str, Ending] | None = None
) -> None:
    """Write two runs of either arm."""
    for arm in Arm:
        for number in (1, 2):
            reply = "hello" if arm is Arm.WITH else "go away"
            made = record(said(f"{reply}, {number}"))
            ending = (endings or {}).get(f"{arm.value}-{number}", Ending.COMPLETED)
            error = None if ending is Ending.COMPLETED else "it broke"
            write_record(
                base,
                replace(
                    made,
                    key=RunKey(case=case, arm=arm, number=number),
                    outcome=RunOutcome(ending=ending, error=error, turns=1, cost_usd=0.25),
                    provenance={"model": "claude-x", "recorded_at": "2026-01-02T03:04:05Z"},
                ),
            )


def session(plugin: Path, capsys: Captured, **options: object) -> Saved:
    """Write results with a document in which the judge said PASS to everything."""
    found = Saved(plugin, plugin / "evals/results/2026-01-31T12-00-00-000Z")
    if not (found.results / "runs").exists():
        write_runs(found.results / "runs")
    found.rescore(FakeBackend("PASS"), **options)
    document = next((found.results / "rescored").glob("*/aggregate-result.json"))
    document.rename(found.results / "aggregate-result.json")
    shutil.rmtree(found.results / "rescored")
    capsys.readouterr()
    return found
