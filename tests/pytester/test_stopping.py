"""Cost ceiling, refused credential, alike failures, interrupts, concurrency."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from typing import Any, NamedTuple

import pytest

from pytest_plugin_eval.agents.base import AgentRequest
from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.execution.keeper import Keeper
from pytest_plugin_eval.judges.base import JudgeReply, JudgeRequest
from pytest_plugin_eval.records.codec import read_record
from pytest_plugin_eval.records.model import Arm, Ending, RunRecord
from tests.pytester.conftest import KIND, NICE, StandInAgent, StandInJudge, Suite, answered


class Usage(NamedTuple):
    """As `shutil.disk_usage` returns it."""

    total: int
    used: int
    free: int


def _live(suite: Suite, *arguments: str) -> pytest.RunResult:
    return suite.pytester.runpytest("evals", *arguments)


@pytest.mark.parametrize(
    ("ceiling", "made"), [("0", 0), ("0.2", 1), ("0.25", 1), ("0.26", 2), ("100", 6)]
)
def test_no_run_starts_at_or_above_the_ceiling(
    suite: Suite, agent: StandInAgent, ceiling: str, made: int
) -> None:
    suite.case("first")

    result = _live(suite, "--eval-max-cost-usd", ceiling)

    assert len(agent.requests) == made
    assert result.ret == (pytest.ExitCode.OK if made == 6 else pytest.ExitCode.INTERRUPTED)


def test_ceiling_leaves_a_partial_document_and_lists_what_was_not_run(
    suite: Suite, agent: StandInAgent
) -> None:
    suite.case("first", front="runs: 2")

    result = _live(suite, "--eval-max-cost-usd", "0.3", "-rs")

    document = suite.document()
    assert (document["partial"], document["partialReason"]) == (True, "cost_ceiling")
    assert document["costUsd"] == 0.5
    result.stdout.fnmatch_lines(["SKIPPED*not started: cost ceiling $0.3 reached*"])
    result.stdout.fnmatch_lines(["incomplete: the cost ceiling was reached; exit status 2"])


def test_runs_of_unknown_cost_are_told_under_a_ceiling(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first", front="runs: 1")
    agent.answer = lambda request: answered(request, "hello", cost_usd=None)

    bounded = _live(suite, "--eval-max-cost-usd", "0.1")
    unbounded = _live(suite)

    bounded.stdout.fnmatch_lines(["warning: 2 calls of unknown cost, for the ceiling as dear as*"])
    unbounded.stdout.no_fnmatch_line("*for the ceiling as*")


def test_refused_credential_stops_the_session_at_once(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first")
    agent.answer = lambda request: answered(
        request, "", ending=Ending.CREDENTIAL_REFUSED, error="exit 1: 401", cost_usd=0
    )

    result = _live(suite)

    assert len(agent.requests) == 1
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert suite.document()["partialReason"] == "auth_failed"


def test_refused_credential_later_is_a_run_not_measured(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first", front="runs: 2")

    def answer(request: AgentRequest) -> RunRecord:
        if len(agent.requests) == 2:
            return answered(request, "", ending=Ending.CREDENTIAL_REFUSED, error="exit 1: 401")
        return answered(request, "hello")

    agent.answer = answer

    result = _live(suite, "--eval-retries", "0")

    assert len(agent.requests) == 4
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_three_runs_lost_for_one_reason_stop_the_session(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first")
    suite.case("second")
    agent.answer = lambda request: answered(
        request, "", ending=Ending.AGENT_ERROR, error="exit 1: API Error: 529"
    )

    result = _live(suite)

    assert len(agent.requests) == 6  # each made once more
    assert suite.document()["partialReason"] == "not_measured"
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(
    ("words", "made"),
    [
        ("{status} overloaded, request req_{number}4cKn2p", 3),
        ("{number}: overloaded", 4),
    ],
    ids=["request id", "reason"],
)
def test_only_ids_may_differ_in_one_reason(
    suite: Suite, agent: StandInAgent, words: str, made: int
) -> None:
    suite.case("first", front="runs: 2")

    def answer(request: AgentRequest) -> RunRecord:
        error = words.format(status=529, number=len(agent.requests))
        return answered(request, "", ending=Ending.AGENT_ERROR, error=error)

    agent.answer = answer

    _live(suite, "--eval-retries", "0")

    assert len(agent.requests) == made


def test_judge_that_fails_all_graders_alike_stops_the_session(
    suite: Suite, agent: StandInAgent, judge: StandInJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(_: JudgeRequest) -> JudgeReply:
        raise JudgeError("HTTP 500: overloaded", status=500)

    monkeypatch.setattr(judge, "ask", ask)
    for name in "abcd":
        suite.case(name, front="runs: 1", graders={f"{name}-is-nice": NICE})

    _live(suite, "--eval-ablation", "none")

    assert len(agent.requests) == 3


def test_plugin_not_loaded_spends_nothing_further_on_the_case(
    suite: Suite, agent: StandInAgent
) -> None:
    suite.case("first")
    suite.case("second", front="runs: 1")

    def answer(request: AgentRequest) -> RunRecord:
        lost = request.key.case.endswith("first")
        ending = Ending.NOT_LOADED if lost else Ending.COMPLETED
        error = "skill demo:x is not loaded" if lost else None
        return answered(request, "hello", ending=ending, error=error)

    agent.answer = answer

    result = _live(suite)

    assert [request.key.case for request in agent.requests] == [
        "evals/first", "evals/second", "evals/second"
    ]  # fmt: skip
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*skill demo:x is not loaded*"])


def test_plugin_not_loaded_stops_no_case_of_another_plugin(
    suite: Suite, agent: StandInAgent
) -> None:
    suite.case("first", front="runs: 1")
    other = Suite(suite.pytester, suite.root / "sub")
    (other.root / ".claude-plugin").mkdir(parents=True)
    (other.root / ".claude-plugin" / "plugin.json").write_text('{"name": "sub"}', encoding="utf-8")
    other.case("first", front="runs: 1")

    def answer(request: AgentRequest) -> RunRecord:
        lost = request.case.root == suite.root
        return answered(request, "hello", ending=Ending.NOT_LOADED if lost else Ending.COMPLETED)

    agent.answer = answer

    _live(suite, "sub/evals")

    assert [request.case.root for request in agent.requests] == [
        suite.root, other.root, other.root
    ]  # fmt: skip


@pytest.mark.parametrize("when", [1, 3])
def test_interrupt_keeps_what_is_finished(suite: Suite, agent: StandInAgent, when: int) -> None:
    suite.case("first", front="runs: 2")

    def answer(request: AgentRequest) -> RunRecord:
        if len(agent.requests) == when:
            raise KeyboardInterrupt
        return answered(request, "hello")

    agent.answer = answer

    result = suite.pytester.runpytest("evals", no_reraise_ctrlc=True)

    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert agent.stopped
    records = list((suite.evals / "results").rglob("with-*.jsonl"))
    assert len(records) == min(when - 1, 2)
    if when > 1:
        assert suite.document()["partialReason"] == "interrupted"


def test_concurrent_runs_overlap_and_give_the_same_document(
    suite: Suite, agent: StandInAgent
) -> None:
    suite.case("first", front="runs: 4")
    together = threading.Barrier(4, timeout=30)

    def answer(request: AgentRequest) -> RunRecord:
        together.wait()
        return answered(request, "hello" if request.key.arm is Arm.WITH else "bye")

    agent.answer = answer

    result = _live(suite, "--eval-concurrency", "4")

    assert result.ret == pytest.ExitCode.OK
    case = suite.document()["cases"][0]  # type: ignore[index]
    assert [run["run"] for run in case["arms"]["with"]] == [1, 2, 3, 4]
    assert case["aggregates"]["delta"] == 1


def test_first_failure_stops_concurrent_runs_soon(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first", front="runs: 20")
    agent.answer = lambda request: answered(request, "bye")

    _live(suite, "--eval-concurrency", "2", "-x")

    assert len(agent.requests) <= 3


def test_cases_that_were_not_started_are_named(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first", front="runs: 1")
    suite.case("second")

    result = _live(suite, "--eval-max-cost-usd", "0.3")

    words = " ".join(result.stdout.str().split())
    told = "1 case not started (cost ceiling $0.3 reached), in no number here: evals/second"
    assert told in words
    assert suite.document()["suite"]["notStarted"] == ["evals/second"]  # type: ignore[index]


def test_nearly_full_disk_is_told_where_no_run_was_made(
    suite: Suite, agent: StandInAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.case("first")
    suite.case("second")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(total=9, used=8, free=1))

    result = _live(suite)

    words = " ".join(result.stdout.str().split())
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert agent.requests == []
    assert "2 cases not started (the record could not be kept: " in words
    assert "is full, expected room for 16 MiB), in no number here" in words


def test_interrupted_run_is_listed_with_what_it_cost(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first", front="runs: 2")
    stopped = threading.Event()
    agent.stop = stopped.set  # type: ignore[method-assign]  # what the session calls

    def answer(request: AgentRequest) -> RunRecord:
        if len(agent.requests) == 1:
            return answered(request, "hello")
        os.kill(os.getpid(), signal.SIGINT)
        assert stopped.wait(60)
        return answered(request, "", ending=Ending.INTERRUPTED, error="interrupted", cost_usd=0.1)

    agent.answer = answer

    result = suite.pytester.runpytest_inprocess("evals", no_reraise_ctrlc=True)

    document = suite.document()
    runs = document["cases"][0]["arms"]["with"]  # type: ignore[index]
    assert [run["measured"] for run in runs] == [True, False]
    assert [run["ending"] for run in runs] == ["completed", "interrupted"]
    assert document["suite"]["spentUsd"] == pytest.approx(0.35)  # type: ignore[index]
    assert document["partialReason"] == "interrupted"
    words = " ".join(result.stdout.str().split())
    assert "2 runs not started (the session ended before): evals/first: without-1 to 2" in words
    assert "continue with: the same command and --eval-resume=evals/results/" in words


def test_further_signal_does_not_stop_the_writing_of_results(
    suite: Suite, agent: StandInAgent
) -> None:
    suite.case("first", front="runs: 2")
    heard: list[int] = []
    former = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    stopped = threading.Event()

    def answer(request: AgentRequest) -> RunRecord:
        if len(agent.requests) == 1:
            return answered(request, "hello")
        os.kill(os.getpid(), signal.SIGTERM)
        assert stopped.wait(60)
        return answered(request, "", ending=Ending.INTERRUPTED, error="interrupted")

    def stop() -> None:
        if not stopped.is_set():  # called again at the very end
            os.kill(os.getpid(), signal.SIGTERM)
        stopped.set()

    agent.answer = answer
    agent.stop = stop  # type: ignore[method-assign]  # what the session calls

    try:
        suite.pytester.runpytest_inprocess(
            "evals", "--eval-ablation", "none", no_reraise_ctrlc=True
        )
    finally:
        signal.signal(signal.SIGTERM, former)

    assert suite.document()["partialReason"] == "interrupted"
    assert heard == [signal.SIGTERM]  # the first one is handed on


def test_run_in_hand_of_a_judge_is_listed_with_all_that_was_paid(
    suite: Suite, agent: StandInAgent, judge: StandInJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.case("first", front="runs: 2", graders={"a": NICE, "b": KIND})
    kept, over, one = threading.Event(), threading.Event(), threading.Lock()
    add_votes = Keeper.add_votes

    def keep(self: Keeper, *given: Any) -> None:
        add_votes(self, *given)
        kept.set()

    def answer(question: str) -> str:
        if "kind" in question:
            assert kept.wait(60)
            if one.acquire(blocking=False):
                os.kill(os.getpid(), signal.SIGINT)
            assert over.wait(60)
        return "PASS"

    monkeypatch.setattr(Keeper, "add_votes", keep)
    monkeypatch.setattr(judge, "close", over.set)
    judge.answer = answer

    result = suite.pytester.runpytest_inprocess(
        "evals", "--eval-ablation", "none", no_reraise_ctrlc=True
    )

    document = suite.document()
    [run] = document["cases"][0]["arms"]["with"]  # type: ignore[index]
    assert (run["measured"], run["ending"], run["costUsd"]) == (False, "completed", 0.25)
    assert run["error"] == "grader 'a' errored: the judge was stopped"
    assert document["suite"]["spentUsd"] == pytest.approx(0.28)  # type: ignore[index]
    record = read_record(next((suite.evals / "results").rglob("with-1.jsonl")))
    assert [vote.grader for vote in record.votes] == ["a", "a", "a"]
    words = " ".join(result.stdout.str().split())
    assert "spent: $0.28, with what led to no result" in words
    assert "1 run not started (the session ended before): evals/first: with-2" in words
    assert "continue with: the same command and --eval-resume=evals/results/" in words


def test_run_made_ahead_is_not_lost_with_an_interrupt(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first", front="runs: 3")
    made = threading.Event()

    def answer(request: AgentRequest) -> RunRecord:
        if request.key.number == 1:
            assert made.wait(60)
            os.kill(os.getpid(), signal.SIGINT)
            return answered(request, "", ending=Ending.INTERRUPTED, error="interrupted")
        if request.key.number == 3:  # the thread of the second one has come to its end
            made.set()
        return answered(request, "hello")

    agent.answer = answer

    suite.pytester.runpytest_inprocess(
        "evals", "--eval-ablation", "none", "--eval-concurrency", "2", no_reraise_ctrlc=True
    )

    document = suite.document()
    runs = document["cases"][0]["arms"]["with"]  # type: ignore[index]
    assert [(run["run"], run["score"]) for run in runs] == [(1, None), (2, 1), (3, 1)]
    assert document["suite"]["spentUsd"] == document["costUsd"] == 0.75  # type: ignore[index]


def test_session_that_lost_a_run_says_how_to_go_on(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first", front="runs: 2")
    endings = iter([Ending.COMPLETED, Ending.NO_RESULT])
    agent.answer = lambda request: answered(request, "hello", ending=next(endings), error="lost")

    result = _live(suite, "--eval-ablation", "none", "--eval-retries", "0")

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    words = " ".join(result.stdout.str().split())
    assert "continue with: the same command and --eval-resume=evals/results/" in words


def test_lost_run_is_made_once_more_and_both_attempts_are_counted(
    suite: Suite, agent: StandInAgent
) -> None:
    suite.case("first", front="runs: 1")

    def answer(request: AgentRequest) -> RunRecord:
        if len(agent.requests) == 1:
            return answered(request, "", ending=Ending.NO_RESULT, error="exit 1", cost_usd=0.1)
        return answered(request, "hello")

    agent.answer = answer

    result = _live(suite)

    run = suite.document()["cases"][0]["arms"]["with"][0]  # type: ignore[index]
    assert (run["measured"], run["attempts"]) == (True, 2)
    assert run["costUsd"] == pytest.approx(0.35)
    assert result.ret == pytest.ExitCode.OK


def test_bad_grade_is_no_reason_to_make_a_run_again(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first", front="runs: 1")
    agent.answer = lambda request: answered(request, "goodbye")

    _live(suite, "--eval-retries", "5")

    assert len(agent.requests) == 2


def test_ceiling_is_heeded_between_attempts(suite: Suite, agent: StandInAgent) -> None:
    suite.case("first", front="runs: 1")
    agent.answer = lambda request: answered(
        request, "", ending=Ending.NO_RESULT, error="exit 1", cost_usd=0.1
    )

    _live(suite, "--eval-retries", "5", "--eval-max-cost-usd", "0.25")

    assert len(agent.requests) == 3
