"""Verdicts of whole cases. Explanations are data of the document: they equal the reference's."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pydantic import TypeAdapter

from pytest_plugin_eval.cases.model import GraderSpec
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.graders.base import GradingContext
from pytest_plugin_eval.graders.grade import grade, has_scored_free_grader, with_only_names
from pytest_plugin_eval.records.model import Arm
from pytest_plugin_eval.scoring.model import Verdict, VerdictStatus
from tests.support.records import called, case, file, record, said

SPECS: TypeAdapter[GraderSpec] = TypeAdapter(GraderSpec)
PASSED, FAILED = VerdictStatus.PASSED, VerdictStatus.FAILED
ERRORED, SKIPPED = VerdictStatus.ERRORED, VerdictStatus.SKIPPED
CONTEXT = GradingContext(timeout_s=30.0)
FREE_ONLY = GradingContext(timeout_s=30.0, free_only=True)

RUN = record(
    called("Nope", b=1.0),
    called("Glob", pattern="a"),
    called("Agent", prompt="x"),
    called("Glob", "toolu_1", pattern="b"),
    said("fin a a"),
    files=(file("a.txt", "x"), file("nl\nx.md"), file("seed.txt", created=False)),
)


def spec(kind: str, name: str = "g", **fields: object) -> GraderSpec:
    return SPECS.validate_python({"type": kind, "name": name, **fields})


def only(grader: GraderSpec) -> Verdict:
    (verdict,) = grade(case(grader), RUN, two_arms=False, context=CONTEXT).verdicts
    return verdict


@pytest.mark.parametrize(
    ("fields", "status", "explanation"),
    [
        ({"pattern": "f[i]n"}, PASSED, "matched f[i]n"),
        ({"pattern": ""}, PASSED, "matched "),
        ({"pattern": "F"}, FAILED, "pattern not found in last_message"),
        ({"pattern": "F", "flags": "i"}, PASSED, "matched F"),
        ({"pattern": "z", "match": "not_contains"}, PASSED, "pattern absent as expected"),
        ({"pattern": "", "match": "not_contains"}, FAILED, "pattern found (expected absent)"),
        ({"pattern": "a", "match": "count:02"}, PASSED, "found 2 matches (expected 2)"),
        ({"pattern": "f", "match": "count:0"}, FAILED, "found 1 matches (expected 0)"),
        ({"pattern": "z", "target": "trace"}, FAILED, "pattern not found in trace"),
        ({"pattern": "^a", "target": "files"}, PASSED, "matched ^a"),
        ({"pattern": "seed", "target": "files"}, FAILED, "pattern not found in files"),
        (
            {"pattern": "y", "target": {"source": "file", "path": "./a.txt"}},
            FAILED,
            "pattern not found in file ./a.txt",
        ),
        (
            {"pattern": "x", "target": {"source": "file", "path": "b"}, "match": "not_contains"},
            FAILED,
            'grader threw: case "first" grader focus file "b": path "b" does not exist',
        ),
    ],
)
def test_regex(fields: Mapping[str, object], status: VerdictStatus, explanation: str) -> None:
    verdict = only(spec("regex", "g", **fields))

    assert (verdict.status, verdict.explanation) == (status, explanation)


@pytest.mark.parametrize("match", ["contains", "not_contains", "count:0"])
def test_regex_on_mock_calls_fails_without_mocks(match: str) -> None:
    verdict = only(spec("regex", pattern="(", target="mock_calls", match=match))

    assert verdict.status is FAILED
    assert verdict.explanation.startswith("no mock stand-ins were active in this run")


@pytest.mark.parametrize(
    ("fields", "status", "explanation"),
    [
        ({"tool": "Glob"}, PASSED, "Glob called 2x (expected 1..∞)"),
        ({"tool": "glob"}, FAILED, "glob called 0x (expected 1..∞)"),
        ({"tool": ""}, FAILED, " called 0x (expected 1..∞)"),
        ({"tool": "Agent", "max": 1}, PASSED, "Agent called 1x (expected 1..1)"),
        ({"tool": "Task", "min": 0}, PASSED, "Task called 0x (expected 0..∞)"),
        ({"tool": "Never", "max": 0}, FAILED, "Never called 0x (expected 1..0)"),
        ({"tool": "Never", "min": 0, "max": 0}, PASSED, "Never called 0x (expected 0..0)"),
        ({"tool": "Glob", "min": 3, "max": 1}, FAILED, "Glob called 2x (expected 3..1)"),
        ({"tool": "Glob", "input_match": ""}, PASSED, "Glob called 2x (expected 1..∞)"),
        ({"tool": "Glob", "input_match": '"[b]"}$'}, PASSED, "Glob called 1x (expected 1..∞)"),
        ({"tool": "Nope", "input_match": '^{"b":1}$'}, PASSED, "Nope called 1x (expected 1..∞)"),
        (
            {"tool": "Never", "input_match": "(", "min": 0},
            PASSED,
            "Never called 0x (expected 0..∞)",
        ),
    ],
)
def test_tool_used(fields: Mapping[str, object], status: VerdictStatus, explanation: str) -> None:
    verdict = only(spec("tool_used", "g", **fields))

    assert (verdict.status, verdict.explanation) == (status, explanation)


@pytest.mark.parametrize(
    ("before", "after", "status", "explanation"),
    [
        ("Nope", "Glob", PASSED, "Nope@0 precedes Glob@1"),
        ("Glob", "Nope", FAILED, "Glob@1 does NOT precede Nope@0"),
        ("Glob", "Glob", FAILED, "Glob@1 does NOT precede Glob@1"),
        ("X", "Y", FAILED, '"before" tool X never called'),
        ("Glob", "Y", FAILED, '"after" tool Y never called'),
        ({"tool": "Glob", "input_match": "q"}, "Nope", FAILED, '"before" tool Glob never called'),
        ({"tool": "Q", "input_match": "("}, "Glob", FAILED, '"before" tool Q never called'),
        (
            {"tool": "Glob", "input_match": "a"},
            {"tool": "Glob", "input_match": '"b"'},
            PASSED,
            "Glob@1 precedes Glob@3",
        ),
    ],
)
def test_tool_order(before: object, after: object, status: VerdictStatus, explanation: str) -> None:
    verdict = only(spec("tool_order", before=before, after=after))

    assert (verdict.status, verdict.explanation) == (status, explanation)


@pytest.mark.parametrize(
    ("path", "exists", "status", "explanation"),
    [
        ("*.txt", True, PASSED, "*.txt exists as expected"),
        ("*.txt", False, FAILED, "*.txt exists (expected absent)"),
        ("seed.txt", True, FAILED, "seed.txt missing (expected present)"),
        ("seed.txt", False, PASSED, "seed.txt absent as expected"),
        ("x.md", True, PASSED, "x.md exists as expected"),
        ("", True, FAILED, " missing (expected present)"),
        ("**", False, FAILED, "** exists (expected absent)"),
    ],
)
def test_file_exists(path: str, exists: bool, status: VerdictStatus, explanation: str) -> None:
    verdict = only(spec("file_exists", path=path, exists=exists))

    assert (verdict.status, verdict.explanation) == (status, explanation)


def test_file_exists_matches_nothing_where_nothing_was_created() -> None:
    grader = spec("file_exists", path="**", exists=False)

    (verdict,) = grade(case(grader), record(), two_arms=False, context=CONTEXT).verdicts

    assert verdict.status is PASSED


@pytest.mark.parametrize(
    ("grader", "explanation"),
    [
        (
            spec("regex", pattern="("),
            "pattern ( on last_message: Invalid regular expression: /(/: Unterminated group",
        ),
        (
            spec("tool_used", tool="Glob", input_match="("),
            "input_match (: Invalid regular expression: /(/: Unterminated group",
        ),
        (
            spec("tool_order", before={"tool": "Glob", "input_match": "("}, after="Y"),
            "input_match (: Invalid regular expression: /(/: Unterminated group",
        ),
        (
            spec("tool_order", before="Y", after={"tool": "Glob", "input_match": "("}),
            "input_match (: Invalid regular expression: /(/: Unterminated group",
        ),
    ],
)
def test_pattern_that_cannot_be_evaluated_errs(grader: GraderSpec, explanation: str) -> None:
    verdict = only(grader)

    assert (verdict.status, verdict.explanation) == (ERRORED, explanation)


def test_endless_pattern_errs_and_the_others_are_judged() -> None:
    run = record(said("a" * 40 + "b"))
    graders = (spec("regex", "slow", pattern="(a+)+$"), spec("regex", "ok", pattern="[a]b"))
    context = GradingContext(timeout_s=0.3)

    verdicts = grade(case(*graders), run, two_arms=False, context=context).verdicts

    assert [verdict.status for verdict in verdicts] == [ERRORED, PASSED]
    assert verdicts[0].explanation == (
        "pattern (a+)+$ on last_message: the pattern was stopped after 0.3 s"
    )


SKILL = spec("tool_used", "skill", tool="Skill", min=0, max=0)
SKILL_BOTH = spec("tool_used", "skill-both", tool="Skill", arm="both")
MARKED = spec("regex", "marked", pattern="x", arm="with-only")
MOCK = spec("regex", "mock", pattern="x", target="mock_calls")
MOCK_BOTH = spec("regex", "mock-both", pattern="x", target="mock_calls", arm="both")
MOCK_LLM = spec("llm", "mock-llm", criteria="x", focus="mock_calls")
ORDER = spec("tool_order", "order", before="Skill", after="Read")
PLAIN = spec("regex", "plain", pattern="fin", weight=2.5)
LLM = spec("llm", "llm", criteria="x")
BASELINE = spec("baseline", "base", criteria="x", baseline_file="b.jsonl")


def test_with_only_is_what_only_the_with_arm_can_have() -> None:
    graders = (SKILL, SKILL_BOTH, MARKED, MOCK, MOCK_BOTH, MOCK_LLM, ORDER, PLAIN, LLM, BASELINE)

    assert with_only_names(graders, True) == {"skill", "marked"}
    assert with_only_names(graders, True, own_mocks=True) == {"skill", "marked", "mock", "mock-llm"}
    assert with_only_names(graders, False, own_mocks=True) == frozenset()


def test_none_is_with_only_where_all_would_be() -> None:
    assert with_only_names((SKILL, MARKED), True) == frozenset()


def test_with_only_graders_are_reported_in_the_with_arm_alone_and_not_scored() -> None:
    graded = case(SKILL, PLAIN)
    baseline = record(said("x"), arm=Arm.WITHOUT)

    with_arm = grade(graded, record(said("fin")), two_arms=True, context=CONTEXT).verdicts
    without = grade(graded, baseline, two_arms=True, context=CONTEXT).verdicts

    assert [(v.grader, v.with_only, v.scored) for v in with_arm] == [
        ("skill", True, False),
        ("plain", False, True),
    ]
    assert [(v.grader, v.status, v.weight) for v in without] == [("plain", FAILED, 2.5)]


def test_paid_graders_are_left_out_by_name_under_free_only() -> None:
    verdicts = grade(case(LLM, PLAIN, BASELINE), RUN, two_arms=True, context=FREE_ONLY).verdicts

    assert [(v.grader, v.type, v.status, v.scored) for v in verdicts] == [
        ("llm", "llm", SKIPPED, False),
        ("plain", "regex", PASSED, True),
        ("base", "baseline", SKIPPED, False),
    ]
    assert verdicts[0].explanation == "left out by --eval-free-only: it needs a judge"


def test_with_only_is_decided_on_the_full_list_before_paid_graders_are_left_out() -> None:
    verdicts = grade(case(SKILL, LLM), RUN, two_arms=True, context=FREE_ONLY).verdicts

    assert [(v.with_only, v.scored) for v in verdicts] == [(True, False), (False, False)]


def test_paid_grader_without_a_judge_is_an_error() -> None:
    with pytest.raises(EvalError, match=r"^evals/first: grader 'llm' needs a judge, and there is"):
        grade(case(PLAIN, LLM), RUN, two_arms=True, context=CONTEXT)


@pytest.mark.parametrize(
    ("graders", "two_arms", "expected"),
    [
        pytest.param((PLAIN, LLM), True, True, id="plain"),
        pytest.param((LLM, BASELINE), True, False, id="paid only"),
        pytest.param((SKILL, LLM), True, False, id="free one is with-only"),
        pytest.param((SKILL, LLM), False, True, id="but scored in one arm"),
        pytest.param((SKILL,), True, True, id="all with-only"),
    ],
)
def test_has_scored_free_grader(
    graders: tuple[GraderSpec, ...], two_arms: bool, expected: bool
) -> None:
    assert has_scored_free_grader(case(*graders), two_arms) is expected
