"""What a session does around the votes of judges."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.execution import judging
from pytest_plugin_eval.records.codec import read_record
from pytest_plugin_eval.records.model import RunRecord
from tests.pytester.conftest import HELLO, KIND, NICE, StandInAgent, StandInJudge, Suite


def _recording(suite: Suite, name: str) -> RunRecord:
    return read_record(suite.evals / "recordings" / "evals" / "first" / f"{name}.jsonl")


def _run(document: dict[str, object], arm: str = "with") -> dict[str, object]:
    return document["cases"][0]["arms"][arm][0]  # type: ignore[index,no-any-return]


@pytest.fixture
def recorded(suite: Suite, agent: StandInAgent, judge: StandInJudge) -> Suite:
    """Return a suite of one judged case, recorded with its votes."""
    suite.case("first", front="runs: 1", graders={"nice": NICE})
    suite.pytester.runpytest("evals", "--eval-mode", "record")
    judge.requests.clear()
    judge.found = 0
    return suite


def test_votes_decide_and_stand_in_document_and_record(
    suite: Suite, agent: StandInAgent, judge: StandInJudge
) -> None:
    suite.case("first", front="runs: 1", graders={"nice": NICE})

    result = suite.pytester.runpytest("evals", "--eval-mode", "record")

    assert result.ret == pytest.ExitCode.OK
    assert len(judge.requests) == 6
    run = _run(suite.document())
    verdict = run["graders"][0]  # type: ignore[index]
    assert verdict["judgeVotes"] == [True, True, True]
    assert verdict["explanation"] == "judge votes: PASS PASS PASS"
    assert run["judgeCostUsd"] == pytest.approx(0.03)
    assert run["costUsd"] == pytest.approx(0.28)
    votes = _recording(suite, "with-1").votes
    assert [(vote.number, vote.passed, vote.model) for vote in votes] == [
        (1, True, "small-model-1"), (2, True, "small-model-1"), (3, True, "small-model-1")
    ]  # fmt: skip
    result.stdout.fnmatch_lines(["judge: stand-in judge"])


def test_more_votes_on_request(suite: Suite, agent: StandInAgent, judge: StandInJudge) -> None:
    suite.case("first", front="runs: 1", graders={"nice": NICE})

    suite.pytester.runpytest("evals", "--eval-judge-votes", "5", "--eval-ablation", "none")

    assert len(judge.requests) == 5


def test_replay_uses_recorded_votes_and_needs_no_judge(
    recorded: Suite, judge: StandInJudge
) -> None:
    result = recorded.replay()

    result.assert_outcomes(passed=2)
    assert judge.found == 0
    assert _run(recorded.document())["judgeCostUsd"] == pytest.approx(0.03)
    assert recorded.document()["suite"]["spentUsd"] == 0  # type: ignore[index]
    assert "no cost" in result.stdout.str()


def test_changed_rubric_is_told_before_it_is_asked_and_paid_for_once(
    recorded: Suite, judge: StandInJudge
) -> None:
    (recorded.evals / "first" / "graders" / "nice.md").write_text(KIND, encoding="utf-8")

    first = recorded.replay("evals")
    asked = len(judge.requests)
    second = recorded.replay("evals")

    assert asked == 6
    assert len(judge.requests) == 6
    first.stdout.fnmatch_lines(
        ["6 votes not recorded, to be asked for at about $0.0600 from stand-in judge",
         "*evals/first, grader 'nice': 6 votes of 2 runs"]
    )  # fmt: skip
    second.assert_outcomes(passed=2)
    assert recorded.document()["suite"]["spentUsd"] == 0  # type: ignore[index]


def test_ceiling_of_nothing_asks_nothing_and_lists_what_is_missing(
    recorded: Suite, judge: StandInJudge
) -> None:
    (recorded.evals / "first" / "graders" / "nice.md").write_text(KIND, encoding="utf-8")

    result = recorded.replay("evals", "--eval-max-cost-usd", "0")

    assert judge.requests == []
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert recorded.document()["partialReason"] == "cost_ceiling"
    run = _run(recorded.document())
    assert (run["measured"], run["score"], run["skippedPaidGraders"]) == (False, None, True)
    result.stdout.fnmatch_lines(["*grader 'nice': 6 votes of 2 runs"])


def test_ceiling_of_nothing_replays_what_is_recorded(recorded: Suite) -> None:
    result = recorded.replay("evals", "--eval-max-cost-usd", "0")

    assert result.ret == pytest.ExitCode.OK


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [([], "evals that an argument names"), (["evals", "-n", "1"], "a session without xdist")],
    ids=["nobody named the evals", "under xdist"],
)
def test_replay_pays_no_judge_that_nobody_asked_for(
    recorded: Suite, judge: StandInJudge, arguments: list[str], reason: str
) -> None:
    (recorded.evals / "first" / "graders" / "nice.md").write_text(KIND, encoding="utf-8")

    result = recorded.replay(*arguments)

    assert judge.requests == []
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    words = " ".join(result.stdout.str().split())
    assert reason in words
    assert _run(recorded.document())["measured"] is False


def test_live_session_without_a_judge_ends_before_any_run(
    suite: Suite, agent: StandInAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(**_: object) -> StandInJudge:
        raise JudgeError("no judge: install the extra 'judge'")

    monkeypatch.setattr(judging, "find_judge", find)
    suite.case("first", graders={"hello": HELLO, "nice": NICE})

    refused = suite.pytester.runpytest("evals")
    free = suite.pytester.runpytest("evals", "--eval-free-only", "--eval-runs", "1")

    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["ERROR: no judge: install the extra 'judge'"])
    assert free.ret == pytest.ExitCode.OK
    assert len(agent.requests) == 2


def test_judge_without_a_price_is_refused_under_a_ceiling_before_any_run(
    suite: Suite, agent: StandInAgent, judge: StandInJudge
) -> None:
    suite.case("first", front="runs: 1", graders={"nice": NICE})
    judge.cost_usd = None

    bounded = suite.pytester.runpytest("evals", "--eval-max-cost-usd", "5")
    made = len(agent.requests)
    unbounded = suite.pytester.runpytest("evals")

    assert made == 0
    assert bounded.ret == pytest.ExitCode.USAGE_ERROR
    bounded.stderr.fnmatch_lines(["ERROR: the price of judge model 'small-model' is unknown*"])
    assert unbounded.ret == pytest.ExitCode.OK
    assert _run(suite.document())["judgeCostUsd"] is None
    assert suite.document()["costUsd"] is None


def test_refused_judge_stops_the_session_after_one_run(
    suite: Suite, agent: StandInAgent, judge: StandInJudge
) -> None:
    suite.case("first", graders={"nice": NICE})

    def refuse(question: str) -> str:
        raise JudgeError("401: no such key", status=401)

    judge.answer = refuse

    result = suite.pytester.runpytest("evals")

    assert len(agent.requests) == 1
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert suite.document()["partialReason"] == "auth_failed"


def test_failing_judge_leaves_the_run_not_measured_and_makes_no_run_again(
    suite: Suite, agent: StandInAgent, judge: StandInJudge
) -> None:
    suite.case("first", front="runs: 1", graders={"hello": HELLO, "nice": NICE})

    def fail(question: str) -> str:
        raise JudgeError("500: overloaded", status=500)

    judge.answer = fail

    result = suite.pytester.runpytest("evals")

    assert len(agent.requests) == 2
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    run = _run(suite.document())
    assert (run["measured"], run["score"]) == (False, None)
    assert "judge call failed: 500: overloaded" in str(run["error"])


def test_ceiling_between_run_and_votes_keeps_the_run_for_later(
    suite: Suite, agent: StandInAgent, judge: StandInJudge
) -> None:
    suite.case("first", front="runs: 1", graders={"hello": HELLO, "nice": NICE})

    result = suite.pytester.runpytest("evals", "--eval-max-cost-usd", "0.25")
    asked = len(judge.requests)
    resumed = suite.pytester.runpytest("evals", f"--eval-resume={_results(suite)}")

    assert (asked, result.ret) == (0, pytest.ExitCode.INTERRUPTED)
    assert len(judge.requests) == 6
    assert len(agent.requests) == 2  # neither made twice
    assert resumed.ret == pytest.ExitCode.OK
    resumed.stdout.fnmatch_lines(
        ["resuming evals/results/*", "1 run taken over from an earlier session, 1 made now *"]
    )


def _results(suite: Suite) -> str:
    return str(sorted((suite.evals / "results").iterdir())[-1])
