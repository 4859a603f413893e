"""Verdicts of the graders that need a judge."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from pytest_plugin_eval.cases.model import Case, GraderSpec
from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.graders.base import GradingContext
from pytest_plugin_eval.graders.grade import Graded, Grading, grade, grade_all, polls
from pytest_plugin_eval.judges.base import JudgeReply
from pytest_plugin_eval.records.model import Arm, RunKey, RunRecord, Vote
from pytest_plugin_eval.scoring.model import Verdict, VerdictStatus
from tests.support.images import png
from tests.support.judges import Answer, FakeBackend, judge_of, together
from tests.support.records import case, file, record, said, vote

SPECS: TypeAdapter[GraderSpec] = TypeAdapter(GraderSpec)
RUN = record(said("Bonjour!"), files=(file("a.png", png()), file("b.bin", b"\0")))


def llm(name: str = "nice", **fields: object) -> GraderSpec:
    return SPECS.validate_python({"type": "llm", "name": name, "criteria": "Is it nice?", **fields})


def of_file(path: str) -> dict[str, str]:
    return {"source": "file", "path": path}


def graded(
    backend: FakeBackend,
    *graders: GraderSpec,
    run: RunRecord = RUN,
    votes: int = 3,
    ceiling_usd: float | None = None,
    two_arms: bool = False,
) -> Grading:
    judge = judge_of(backend, votes=votes, ceiling_usd=ceiling_usd)
    context = GradingContext(timeout_s=30.0, judge=judge)
    return grade(case(*graders), run, two_arms=two_arms, context=context)


def test_verdict_of_an_llm_grader() -> None:
    grading = graded(FakeBackend("PASS"), llm(weight=2))

    assert grading.verdicts == (
        Verdict(
            grader="nice",
            type="llm",
            status=VerdictStatus.PASSED,
            weight=2,
            explanation="judge votes: PASS PASS PASS",
            evidence="Bonjour!",
            votes=(True, True, True),
            judge_model="judge-1-served",
        ),
    )
    assert grading.judge_cost_usd == 0.75
    assert [vote.grader for vote in grading.votes] == ["nice"] * 3


@pytest.mark.parametrize(
    ("size", "passes", "status"),
    [
        (1, 0, VerdictStatus.FAILED),
        (1, 1, VerdictStatus.PASSED),
        (3, 1, VerdictStatus.FAILED),
        (3, 2, VerdictStatus.PASSED),
        (5, 2, VerdictStatus.FAILED),
        (5, 3, VerdictStatus.PASSED),
    ],
)
def test_majority_of_the_votes_passes(size: int, passes: int, status: VerdictStatus) -> None:
    answers = ["PASS"] * passes + ["FAIL"] * (size - passes)

    (verdict,) = graded(FakeBackend(*answers), llm(), votes=size).verdicts

    assert verdict.status is status
    assert verdict.votes is not None
    assert (len(verdict.votes), sum(verdict.votes)) == (size, passes)


def test_votes_stand_in_their_order_whatever_came_first() -> None:
    recorded = graded(FakeBackend("PASS"), llm()).votes
    second_failed = tuple(replace(vote, passed=vote.number != 2) for vote in recorded)
    run = replace(RUN, votes=second_failed[::-1])

    grading = graded(FakeBackend(JudgeError("nobody asks")), llm(), run=run)

    assert grading.verdicts[0].explanation == "judge votes: PASS FAIL PASS"
    assert (grading.votes, grading.judge_cost_usd) == ((), 0.75)


def test_unreadable_votes_are_counted() -> None:
    (verdict,) = graded(FakeBackend("Hm."), llm()).verdicts

    assert (verdict.status, verdict.unreadable_votes) == (VerdictStatus.FAILED, 3)
    assert verdict.explanation == "judge votes: FAIL FAIL FAIL"


def test_models_that_answered_are_named() -> None:
    answers = [JudgeReply(text="PASS", model=name, cost_usd=0.0) for name in ("m1", "m1", "m1")]

    (verdict,) = graded(FakeBackend(*answers), llm()).verdicts

    assert verdict.judge_model == "m1"


def test_cost_is_unknown_when_that_of_a_vote_is() -> None:
    grading = graded(FakeBackend(price_usd=None), llm())

    assert grading.verdicts[0].status is VerdictStatus.PASSED
    assert grading.judge_cost_usd is None


def test_known_part_of_a_cost_is_kept() -> None:
    answers = [JudgeReply(text="PASS", model="m", cost_usd=cost) for cost in (0.5, None, 0.25)]

    grading = graded(FakeBackend(*answers), llm())

    assert (grading.judge_cost_usd, grading.judge_known_usd) == (None, 0.75)


def half_judged(*numbers: int) -> RunRecord:
    """Return a run on whose only question there are votes already."""
    (poll,) = polls(Graded(case(llm()), RUN, two_arms=False))
    votes = (
        vote(poll.question, grader="nice", number=number, cost_usd=0.125) for number in numbers
    )
    return replace(RUN, votes=tuple(votes))


@pytest.mark.parametrize(
    ("answer", "cost_usd"),
    [
        pytest.param(JudgeError("no", status=400), 0.25, id="the votes on record"),
        pytest.param(None, 0.75, id="and answers that were none, twice"),
        pytest.param(JudgeError("gone"), None, id="a call of unknown cost"),
    ],
)
def test_judging_that_failed_costs_what_was_paid_for_it(
    answer: Answer, cost_usd: float | None
) -> None:
    grading = graded(FakeBackend(answer), llm(), run=half_judged(1, 2))

    assert grading.verdicts[0].status is VerdictStatus.ERRORED
    assert grading.judge_cost_usd == cost_usd


def test_votes_of_a_judging_that_failed_are_paid_for() -> None:
    backend = FakeBackend("PASS", JudgeError("no", status=400))
    together(backend, 2)

    grading = graded(backend, llm(), run=half_judged(3))

    assert grading.verdicts[0].status is VerdictStatus.ERRORED
    assert grading.judge_cost_usd == 0.125 + 0.25


def test_image_is_voted_on_and_described() -> None:
    backend = FakeBackend()

    (verdict,) = graded(backend, llm(focus=of_file("a.png"))).verdicts

    assert verdict.explanation == "judge votes: PASS PASS PASS (image)"
    assert verdict.evidence == (
        "[image a.png: sent as it is on disk, image/png, 78 bytes, 20x10px]"
    )
    assert len(backend.requests[0].parts) == 3


@pytest.mark.parametrize(
    ("focus", "status"),
    [
        pytest.param(of_file("b.bin"), VerdictStatus.FAILED, id="binary"),
        pytest.param(of_file("none"), VerdictStatus.FAILED, id="missing"),
        pytest.param("mock_calls", VerdictStatus.FAILED, id="no mocks"),
    ],
)
def test_what_cannot_be_shown_is_decided_without_a_call(
    focus: object, status: VerdictStatus
) -> None:
    backend = FakeBackend()

    (verdict,) = graded(backend, llm(focus=focus)).verdicts

    assert (verdict.status, verdict.votes, verdict.evidence) == (status, None, None)
    assert verdict.scored
    assert backend.requests == []


def test_failed_call_leaves_the_grader_undecided_and_the_others_count() -> None:
    plain = SPECS.validate_python({"type": "regex", "name": "plain", "pattern": "Bon"})

    grading = graded(FakeBackend(JudgeError("overloaded", status=529)), llm(), plain)

    assert [(v.status, v.explanation, v.scored) for v in grading.verdicts] == [
        (VerdictStatus.ERRORED, "judge call failed: overloaded", True),
        (VerdictStatus.PASSED, "matched Bon", True),
    ]
    assert (grading.verdicts[0].votes, grading.verdicts[0].evidence) == (None, None)


@pytest.mark.parametrize(
    ("price_usd", "ceiling_usd", "reason"),
    [
        pytest.param(0.25, 0.0, "cost ceiling $0 reached", id="ceiling"),
        pytest.param(None, 1.0, "the price of judge model 'judge-1' is unknown", id="no price"),
    ],
)
def test_refused_votes_skip_the_grader_which_is_still_missed(
    price_usd: float | None, ceiling_usd: float, reason: str
) -> None:
    backend = FakeBackend(price_usd=price_usd)

    (verdict,) = graded(backend, llm(), ceiling_usd=ceiling_usd).verdicts

    assert (verdict.status, verdict.scored) == (VerdictStatus.SKIPPED, True)
    assert verdict.explanation.startswith(reason)
    assert backend.requests == []


def test_with_only_judge_is_asked_in_the_with_arm_alone_and_not_scored() -> None:
    with_backend, without_backend = FakeBackend(), FakeBackend()
    graders = (llm("extra", arm="with-only"), llm("both"))
    without = replace(RUN, key=RunKey(case="evals/first", arm=Arm.WITHOUT, number=1))

    with_arm = graded(with_backend, *graders, two_arms=True)
    without_arm = graded(without_backend, *graders, run=without, two_arms=True)

    assert [(v.grader, v.scored, bool(v.votes)) for v in with_arm.verdicts] == [
        ("extra", False, True),
        ("both", True, True),
    ]
    assert [v.grader for v in without_arm.verdicts] == ["both"]
    assert (len(with_backend.requests), len(without_backend.requests)) == (6, 3)


def test_changed_rubric_is_asked_again() -> None:
    run = replace(RUN, votes=graded(FakeBackend(), llm()).votes)

    same = graded(FakeBackend("FAIL"), llm(), run=run)
    changed = graded(FakeBackend("FAIL"), llm(criteria="Is it short?"), run=run)

    assert (same.votes, same.verdicts[0].status) == ((), VerdictStatus.PASSED)
    assert [vote.judging for vote in changed.votes] == [2, 2, 2]
    assert changed.verdicts[0].status is VerdictStatus.FAILED


def test_votes_of_several_runs_go_to_the_run_they_were_asked_for() -> None:
    second = replace(RUN, key=replace(RUN.key, number=2), votes=graded(FakeBackend(), llm()).votes)
    third = replace(RUN, key=replace(RUN.key, number=3))
    handed: list[tuple[int, int]] = []

    def keep(of: Case, key: RunKey, votes: tuple[Vote, ...]) -> None:
        handed.append((key.number, len(votes)))

    context = GradingContext(judge=judge_of(FakeBackend()), on_votes=keep)
    gradings = grade_all(
        [Graded(case(llm()), run, False) for run in (RUN, second, third)], context=context
    )

    assert [len(grading.votes) for grading in gradings] == [3, 0, 3]
    assert handed == [(1, 3), (3, 3)]


def test_polls_tell_what_would_be_asked() -> None:
    run = Graded(case(llm("a"), llm("b", focus=of_file("b.bin")), llm("c")), RUN, False)

    assert [poll.grader for poll in polls(run)] == ["a", "c"]


@pytest.fixture
def compared(tmp_path: Path) -> Case:
    """Return a case with a baseline grader and no baseline yet."""
    fields = {"type": "baseline", "name": "base", "criteria": "c", "baseline_file": "b.jsonl"}
    return replace(case(SPECS.validate_python(fields)), directory=tmp_path)


def compare(graded_case: Case, backend: FakeBackend, run: RunRecord = RUN) -> Verdict:
    context = GradingContext(judge=judge_of(backend))
    (verdict,) = grade(graded_case, run, two_arms=False, context=context).verdicts
    return verdict


def test_baseline_is_compared_event_by_event(compared: Case) -> None:
    text = '\ufeff{"a": 1.0, "b":  [1]}\n\n "x"\r\n{"2":1,"1":0,"é":"\\u00e9"}\n'
    (compared.directory / "b.jsonl").write_text(text, encoding="utf-8")
    backend = FakeBackend("PASS")

    verdict = compare(compared, backend)

    (asked,) = backend.requests[0].parts
    assert isinstance(asked, str)
    assert '\n{"a":1,"b":[1]}\n"x"\n{"1":0,"2":1,"é":"é"}\n' in asked
    assert f"\n{RUN.trace.text}\n" in asked
    assert verdict.explanation == "judge votes: PASS PASS PASS"
    assert (verdict.votes, verdict.evidence) == ((True, True, True), None)


def test_both_traces_are_cut_to_twelve_events_at_each_end(compared: Case) -> None:
    lines = [json.dumps({"old": number}) for number in range(30)]
    (compared.directory / "b.jsonl").write_text("\n".join(lines), encoding="utf-8")
    backend = FakeBackend("PASS")

    compare(compared, backend, record(*(json.dumps({"new": number}) for number in range(25))))

    (asked,) = backend.requests[0].parts
    assert isinstance(asked, str)
    assert '{"old":11}\n[…6 messages elided…]\n{"old":18}' in asked
    assert '{"new": 11}\n[…1 messages elided…]\n{"new": 13}' in asked


def test_empty_baseline_is_judged(compared: Case) -> None:
    (compared.directory / "b.jsonl").touch()

    assert compare(compared, FakeBackend("FAIL")).explanation == "judge votes: FAIL FAIL FAIL"


@pytest.mark.parametrize(
    ("text", "status", "explanation"),
    [
        pytest.param(
            '{"a":1}\nnope\n',
            VerdictStatus.FAILED,
            "failed to read baseline: b.jsonl:2: no JSON, got 'nope'",
            id="bad line",
        ),
        pytest.param(
            None,
            VerdictStatus.ERRORED,
            "failed to read baseline: b.jsonl: No such file or directory",
            id="gone since loading",
        ),
    ],
)
def test_baseline_that_cannot_be_read_needs_no_judge(
    compared: Case, text: str | None, status: VerdictStatus, explanation: str
) -> None:
    if text is not None:
        (compared.directory / "b.jsonl").write_text(text, encoding="utf-8")
    backend = FakeBackend()

    verdict = compare(compared, backend)

    assert (verdict.status, verdict.explanation, verdict.votes) == (status, explanation, None)
    assert backend.requests == []
