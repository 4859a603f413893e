"""The recordings of the example: complete, up to date, of no particular machine, and right."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_plugin_eval.cases.fingerprint import plugin_hash, prompt_hash, settings_hash
from pytest_plugin_eval.graders.grade import Graded, polls
from pytest_plugin_eval.judges.tally import tallied
from pytest_plugin_eval.records.codec import decode
from pytest_plugin_eval.records.layout import record_path, recorded_keys
from pytest_plugin_eval.records.model import Arm, RunKey, RunRecord
from tests.example.script import example_script
from tests.example.workplace import EXAMPLE, copy_example, run_line
from tests.support.reference import Document, run_reference
from tests.support.scripted_api import ScriptedApi
from tests.support.suites import load

RECORDINGS = EXAMPLE / "evals" / "recordings"
KEYS = recorded_keys(RECORDINGS)
CASES = sorted({key.case for key in KEYS})
RENEW = "python -m tests.example.record"

# Absolute paths, mail addresses and what else would tell where a recording was made.
PLACES = re.compile(
    r"/(?:home|Users|root|work|opt|mnt|var|private)/(?!cwd)[\w.-]+|[\w.]+@[\w-]+\.\w"
)
SIZE_LIMIT = 1_500_000


def aggregates(document: Document) -> dict[str, Document]:
    """Return the aggregates that both commands write."""
    names = ("score", "passRate", "scoreWithout", "passRateWithout", "delta")
    return {
        case["dir"]: {name: case["aggregates"][name] for name in names}
        for case in document["cases"]
    }


def verdicts(document: Document) -> dict[tuple[str, str, int], list[tuple[object, ...]]]:
    """Return what each grader said, by case, arm and run."""
    return {
        (case["dir"], arm, number): [
            (grader["name"], grader["passed"], grader["scored"]) for grader in run["graders"]
        ]
        for case in document["cases"]
        for arm, runs in case["arms"].items()
        for number, run in enumerate(runs, 1)
    }


def record(key: RunKey) -> RunRecord:
    path = record_path(RECORDINGS, key)
    return decode(path.read_bytes(), str(path))


def test_every_case_has_three_runs_of_each_arm() -> None:
    found = {str(path.parent.relative_to(EXAMPLE)) for path in EXAMPLE.rglob("evals/**/prompt.md")}
    found |= {str(path.parent.relative_to(EXAMPLE)) for path in EXAMPLE.rglob("evals/**/case.yaml")}

    assert set(CASES) == found
    assert {key for case in CASES for key in KEYS if key.case == case} == {
        RunKey(case=case, arm=arm, number=number)
        for case in CASES
        for arm in Arm
        for number in (1, 2, 3)
    }


@pytest.mark.parametrize("case_id", CASES)
def test_recordings_are_of_this_prompt_these_settings_and_this_plugin(
    case_id: str, tmp_path: Path
) -> None:
    # Of a copy, since a checkout may hold results and caches.
    case = load(copy_example(tmp_path) / case_id)
    expected = {"prompt": prompt_hash(case), "settings": settings_hash(case)}

    made_of = {
        key: {name: record(key).provenance.get(name) for name in expected}
        for key in KEYS
        if key.case == case_id
    }
    plugins = {record(key).provenance.get("plugin") for key in made_of if key.arm is Arm.WITH}

    assert made_of == dict.fromkeys(made_of, expected), f"stale: {RENEW}"
    assert plugins == {plugin_hash(case)}, f"the plugin changed: {RENEW}"


def test_votes_answer_what_would_be_asked_now(tmp_path: Path) -> None:
    plugin = copy_example(tmp_path)
    cases = {case_id: load(plugin / case_id) for case_id in CASES}

    asked = [
        tallied(run.votes, grader=poll.grader, question=poll.question, size=3)
        for run in map(record, KEYS)
        for poll in polls(Graded(cases[run.key.case], run, two_arms=True))
    ]

    assert len(asked) == 6
    assert [tally for tally in asked if tally.missing] == [], f"votes are missing: {RENEW}"


def test_recordings_tell_nothing_of_the_machine() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in RECORDINGS.rglob("*.jsonl")}

    assert {path: found for path, text in texts.items() if (found := PLACES.findall(text))} == {}
    assert sum(map(len, texts.values())) < SIZE_LIMIT


def test_recordings_name_the_scripted_model() -> None:
    assert {record(key).provenance["model"] for key in KEYS} == {"scripted-model"}


@pytest.mark.agent
def test_reference_gives_the_recorded_runs_the_same_scores(tmp_path: Path) -> None:
    plugin = copy_example(tmp_path)

    replay = run_line("pytest example_plugin/evals --eval-json=ours.json -q", tmp_path)
    with ScriptedApi(example_script(plugin)) as api:
        options = ("--threshold", "0.75", "--allow-tools", "Write", "Edit")
        reference = run_reference(plugin, api, *options)

    assert (replay.returncode, reference.exit_code) == (0, 0)
    assert reference.document is not None
    ours = json.loads((tmp_path / "ours.json").read_text(encoding="utf-8"))
    assert aggregates(ours) == aggregates(reference.document)
    assert verdicts(ours) == verdicts(reference.document)
