"""A rescore that another one keeps out, and one that did not get to its end."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pytest_plugin_eval.errors import EvalError, JudgeError
from pytest_plugin_eval.judges.base import JudgeRequest
from pytest_plugin_eval.storage.results_dir import results_stamp
from tests.support.judges import FakeBackend
from tests.support.rescoring import Captured, Saved, session, write_runs

RUNS = ("with-1", "with-2", "without-1", "without-2")


def of_second_judging(saved: Saved) -> dict[str, list[bool]]:
    """Return the votes of each run that were added to those of its session."""
    return {
        run: [passed for judging, _, passed in sorted(saved.votes(run)) if judging == 2]
        for run in RUNS
    }


def interrupted_after(count: int) -> FakeBackend:
    """Return a judge that says so many times FAIL, and with whose next answer comes Ctrl-C."""
    judge = FakeBackend(*["FAIL"] * count, JudgeError("the session was stopped", status=400))
    once = threading.Lock()

    def press(_: JudgeRequest) -> None:
        if len(judge.requests) > count and once.acquire(blocking=False):
            os.kill(os.getpid(), signal.SIGINT)

    judge.before = press
    return judge


def test_interrupted_rescore_is_completed_by_the_next_one(saved: Saved, capsys: Captured) -> None:
    second = FakeBackend("PASS")

    assert saved.rescore(interrupted_after(2)) == 130
    capsys.readouterr()
    assert saved.rescore(second) == 0

    assert len(second.requests) == 10
    votes = of_second_judging(saved)
    assert {run: len(passed) for run, passed in votes.items()} == dict.fromkeys(RUNS, 3)
    assert sum(not passed for run in votes.values() for passed in run) == 2
    told = "going on with a rescore that was not finished: 2 votes of it count"
    assert told in capsys.readouterr().out
    assert not (saved.results / "rescored/unfinished.json").exists()


def test_finished_rescore_is_followed_by_one_that_asks_everything_again(saved: Saved) -> None:
    saved.rescore(interrupted_after(2))
    saved.rescore(FakeBackend("PASS"))
    third = FakeBackend("PASS")

    assert saved.rescore(third) == 0

    assert len(third.requests) == 12


@pytest.mark.parametrize(
    "options", [{"judge_model": "other"}, {"votes": 5}], ids=["another model", "another size"]
)
def test_unfinished_rescore_of_another_kind_is_not_gone_on_with(
    options: Mapping[str, Any], saved: Saved
) -> None:
    saved.rescore(interrupted_after(2))
    second = FakeBackend("PASS")

    assert saved.rescore(second, **options) == 0

    assert len(second.requests) == 4 * options.get("votes", 3)
    assert not (saved.results / "rescored/unfinished.json").exists()


def test_rescore_that_breaks_at_its_end_pays_for_nothing_twice(
    saved: Saved, tmp_path: Path
) -> None:
    first, second = FakeBackend("FAIL"), FakeBackend("PASS")

    with pytest.raises(EvalError, match="cannot be written"):
        saved.rescore(first, json=tmp_path)
    assert saved.rescore(second) == 0

    assert (len(first.requests), second.requests) == (12, [])
    assert of_second_judging(saved) == dict.fromkeys(RUNS, [False] * 3)


def test_rescore_that_met_its_ceiling_is_gone_on_with(saved: Saved) -> None:
    first, second = FakeBackend("FAIL", price_usd=1.0), FakeBackend("PASS")

    assert saved.rescore(first, max_cost_usd=2.0) == 2
    assert saved.rescore(second) == 0

    assert len(first.requests) + len(second.requests) == 12


def test_case_that_is_finished_leaves_the_others_unfinished(plugin: Path, capsys: Captured) -> None:
    (plugin / "evals/second").mkdir()
    for file in (plugin / "evals/first").rglob("*.md"):
        target = plugin / "evals/second" / file.relative_to(plugin / "evals/first")
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(file.read_bytes())
    results = plugin / "evals/results/2026-01-31T12-00-00-000Z"
    write_runs(results / "runs")
    write_runs(results / "runs", "evals/second")
    saved = session(plugin, capsys)
    second, third = FakeBackend("PASS"), FakeBackend("PASS")

    saved.rescore(interrupted_after(2))
    assert saved.rescore(second, case="first") == 0
    assert saved.rescore(third, case="second") == 0

    assert len(second.requests) + len(third.requests) == 22


def test_new_case_of_a_rescore_that_goes_on_is_asked_afresh(saved: Saved) -> None:
    saved.rescore(interrupted_after(2))
    path = saved.results / "rescored/unfinished.json"
    content = json.loads(path.read_text("utf-8"))
    del content["before"]["evals/first/with-1"]
    path.write_text(json.dumps(content), encoding="utf-8")

    assert saved.rescore(FakeBackend("PASS")) == 0

    judgings = {judging for judging, _, _ in saved.votes("with-1")}
    assert len([vote for vote in saved.votes("with-1") if vote[0] == max(judgings)]) == 3
    assert max(judgings) >= 2


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"schema": 2}', '{"schema": 1, "model": "judge-1", "votes": 3, "before": 1}'],
)
def test_file_that_makes_no_sense_is_taken_for_none(text: str, saved: Saved) -> None:
    (saved.results / "rescored").mkdir()
    (saved.results / "rescored/unfinished.json").write_text(text, encoding="utf-8")
    judge = FakeBackend("PASS")

    assert saved.rescore(judge) == 0

    assert len(judge.requests) == 12


def test_nothing_is_left_where_no_judge_is_found(saved: Saved) -> None:
    saved.rescore(interrupted_after(2))
    before = (saved.results / "rescored/unfinished.json").read_bytes()

    with pytest.raises(JudgeError):
        saved.rescore(None)

    assert (saved.results / "rescored/unfinished.json").read_bytes() == before


def test_results_of_a_session_that_goes_on_are_left_to_it(saved: Saved) -> None:
    session_id = f"{results_stamp(datetime.now(UTC))} {os.getpid()}"
    (saved.results / ".session").write_text(session_id, encoding="utf-8")
    judge = FakeBackend("FAIL")

    with pytest.raises(EvalError, match=f"is in use by a session, process {os.getpid()}"):
        saved.rescore(judge)

    assert judge.requests == []
    assert not (saved.results / "rescored").exists()


def test_two_rescorings_do_not_meet(saved: Saved) -> None:
    judge, other = FakeBackend("FAIL"), FakeBackend("PASS")
    told: list[str] = []

    def rescore_too(_: JudgeRequest) -> None:
        with pytest.raises(EvalError) as refused:
            saved.rescore(other)
        told.append(str(refused.value))

    judge.before = rescore_too

    assert saved.rescore(judge) == 0

    assert set(told) == {f"{saved.results} is being rescored already; wait for the end of that"}
    assert other.requests == []
    [left] = (saved.results / "rescored").iterdir()
    assert [path.name for path in left.iterdir()] == ["aggregate-result.json"]
