"""Costs, cost ceilings and exit codes: the same as the reference's, but for the named rows."""

from __future__ import annotations

import pytest

from tests.differential.compare import Comparison, Json, check, compare
from tests.differential.suite import Fields, Suite, llm, regex
from tests.support.script import TurnData, error, rule, script, thinking, tool, turn

pytestmark = pytest.mark.agent
pytest.importorskip("anthropic", reason="the judge is in the extra `judge`")

ONE_ARM = ("--ablation", "none")
OK = {"ok": regex("OK")}
FAILS = {"ok": regex("OK"), "other": regex("none")}
HAIKU: Fields = {"model": "claude-haiku-4-5"}
JUDGE = ("--judge-model", "claude-haiku-4-5")
USAGE = {"input": 1000, "output": 100, "cache_write": 2000, "cache_read": 3000}
MILL = {"input": 1000, "output": 0}
"""A call that costs $0.001 with Haiku 4.5."""
PAID = turn("OK", usage=MILL)
PASS = turn("PASS", usage=MILL)
AT_ONCE = turn("PASS", usage=MILL, delay_s=1)
"""A vote that takes so long that others start before it is counted."""
SKILL = "demo:greet"


def judging(*turns: TurnData, contains: str = "") -> dict[str, object]:
    """Return a rule for judges: turn k answers the k-th call, then over again."""
    return {"kind": "bare", "contains": contains, "runs": [[one] for one in turns]}


def both(result: Comparison, case: str) -> list[Json]:
    """Return the case in the reference's document and in ours."""
    return [
        next(one for one in side.document["cases"] if one["dir"] == f"evals/{case}")
        for side in (result.theirs, result.ours)
        if side.document is not None
    ]


PARTIAL = ("partial", "partialReason", "?aggregates.*")
CUT_SHORT = "case cut short"
"""The reference counts a case as passed by what of it was made before the ceiling."""


def lost(case: str, *fields: str, arm: str = "with") -> list[str]:
    """Return the fields that a run changes by not being measured, and *fields* of it."""
    place = f"cases.evals/{case}"
    changed = (f"{place}.arms.{arm}.0.{name}" for name in ("score", *fields))
    return [*changed, f"?{place}.aggregates.*"]


def test_cost_of_agent_models(suite: Suite) -> None:
    models = (
        *("claude-haiku-4-5", "claude-sonnet-4-5", "claude-sonnet-5", "claude-opus-4-1"),
        *("claude-3-5-haiku-20241022", "haiku", "sonnet", "opus", "no-such-model"),
    )
    for model in models:
        suite.case(f"m-{model}", OK, front={"model": model})
    suite.case("default", OK)

    result = compare(suite, script(rule(turns=[turn("OK", usage=USAGE)])), *ONE_ARM, "-j", "2")

    check("cost of agent models", result)


COSTS = [
    *("costUsd", "cases.evals/judged.arms.with.0.costUsd"),
    "cases.evals/judged.arms.with.0.judgeCostUsd",
]
LARGE = {"input": 300_000, "output": 1000, "cache_write": 0, "cache_read": 0}


@pytest.mark.parametrize(
    ("model", "usage", "rows"),
    [
        ("claude-haiku-4-5", USAGE, {}),
        ("claude-haiku-4-5-20251001", USAGE, {}),
        ("claude-sonnet-4-5", USAGE, {}),
        ("claude-opus-4-5", USAGE, {}),
        ("claude-opus-4-1", USAGE, {}),
        ("claude-3-5-haiku-20241022", USAGE, {}),
        ("opus", USAGE, {}),
        ("sonnet", USAGE, {}),
        (" Haiku ", USAGE, {}),
        # The list price of a long context is a higher one.
        ("claude-sonnet-4-5", LARGE, {"D19": COSTS}),
        # The reference takes the price of its default for it.
        ("no-such-model", USAGE, {"D19": COSTS}),
    ],
)
def test_cost_of_judge_models(
    suite: Suite, model: str, usage: dict[str, int], rows: dict[str, list[str]]
) -> None:
    suite.case("judged", {"a": llm("criterion a;")}, front=HAIKU)
    answers = script(judging(turn("PASS", usage=usage)), rule(turns=["Bonjour"]))

    result = compare(suite, answers, *ONE_ARM, "--judge-model", model)

    check(f"cost of judge {model}, {usage['input']} tokens", result, rows)


SONNET = "claude-sonnet-4-5"


@pytest.mark.parametrize(
    ("env", "options"),
    [
        ({"ANTHROPIC_SMALL_FAST_MODEL": SONNET}, []),
        ({"ANTHROPIC_DEFAULT_HAIKU_MODEL": SONNET}, []),
        ({"ANTHROPIC_MODEL": SONNET}, []),
        ({"ANTHROPIC_DEFAULT_HAIKU_MODEL": SONNET}, ["--judge-model", "haiku"]),
        ({}, ["--model", SONNET]),
    ],
    ids=["small-fast", "default-haiku", "model", "alias", "option"],
)
def test_default_judge_has_the_same_price(
    suite: Suite, env: dict[str, str], options: list[str]
) -> None:
    suite.case("judged", {"a": llm("criterion a;")}, front=HAIKU)
    answers = script(judging(turn("PASS", usage=USAGE)), rule(turns=["Bonjour"]))

    result = compare(suite, answers, *ONE_ARM, *options, env=env)

    check(f"default judge, {' '.join([*env, *options])}", result)


def test_sums_of_runs_cases_and_suite(suite: Suite) -> None:
    graders = {
        "cheap": llm("criterion cheap;", weight=3),
        "dear": llm("criterion dear;", weight=0.5),
        "extra": llm("criterion extra;", arm="with-only", weight=2),
        "free": regex("OK", weight=1.5),
    }
    suite.case("one", graders, front={**HAIKU, "runs": 2})
    suite.case("two", {**FAILS, "cheap": graders["cheap"]}, front={"model": "sonnet"})
    answers = script(
        judging(turn("PASS", usage=MILL), contains="criterion cheap;"),
        judging(turn("FAIL", usage=USAGE), contains="criterion dear;"),
        judging(turn("PASS", usage={"input": 7, "output": 3}), contains="criterion extra;"),
        rule(prompt="Do one", arm="with", turns=[turn("OK", usage=USAGE)]),
        rule(prompt="Do one", turns=[turn("no", usage=MILL)]),
        rule(prompt="Do two", turns=[turn("OK", usage={"input": 333, "output": 77})]),
        plugin_text=SKILL,
    )

    result = compare(suite, answers, *JUDGE, "--threshold", "0.85")

    check("sums of runs, cases and suite", result)
    assert result.ours.exit_code == 1
    document = result.ours.document
    assert document is not None
    parts = [one["costs"] for one in document["cases"]]
    assert document["costUsd"] == pytest.approx(
        sum(one["agentUsd"] + one["judgeUsd"] for one in parts)
    )


CEILINGS = {
    "none": ["--max-cost-usd", "0"],
    "below-first": ["--max-cost-usd", "0.0009"],
    "first": ["--max-cost-usd", "0.001"],
    "above-first": ["--max-cost-usd", "0.0011"],
    "case": ["--max-cost-usd", "0.002"],
    "threshold-0": ["--max-cost-usd", "0.001", "--threshold", "0"],
    "four-at-once": ["--max-cost-usd", "0.0005", "-j", "4"],
    # The last run passes it, so that nothing is skipped and scores decide.
    "last": ["--max-cost-usd", "0.006"],
    "last-threshold": ["--max-cost-usd", "0.006", "--threshold", "0.5"],
    "more-than-all": ["--max-cost-usd", "0.0061"],
}


@pytest.mark.parametrize("options", CEILINGS.values(), ids=CEILINGS.keys())
def test_ceiling(suite: Suite, options: list[str]) -> None:
    suite.case("a", FAILS, front={**HAIKU, "runs": 2})
    suite.case("b", OK, front={**HAIKU, "runs": 3})
    suite.case("c", OK, front=HAIKU)

    result = compare(suite, script(rule(turns=[PAID])), *ONE_ARM, *options)

    passed = ["?aggregates.casesPassed"]
    check(f"ceiling {' '.join(options)}", result, {CUT_SHORT: passed})


@pytest.mark.parametrize("ceiling", ["0.001", "0.002", "0.003"])
def test_ceiling_between_arms(suite: Suite, ceiling: str) -> None:
    suite.case("a", OK, front={**HAIKU, "runs": 2})
    suite.case("b", OK, front=HAIKU)

    result = compare(suite, script(rule(turns=[PAID])), "--max-cost-usd", ceiling)

    passed = ["aggregates.casesPassed"]
    check(f"ceiling between arms {ceiling}", result, {CUT_SHORT: passed})


def test_ceiling_passed_by_votes_in_flight(suite: Suite) -> None:
    suite.case("a", {"a": llm("criterion a;")}, front=HAIKU)
    answers = script(judging(AT_ONCE), rule(turns=[PAID]))

    result = compare(suite, answers, *ONE_ARM, *JUDGE, "--max-cost-usd", "0.002")

    check("ceiling passed by the last votes", result)
    assert result.ours.exit_code == 0


@pytest.mark.parametrize("threshold", ["0", "1"])
def test_ceiling_amid_votes(suite: Suite, threshold: str) -> None:
    suite.case("a", {f"g{n}": llm(f"criterion {n};") for n in range(6)}, front=HAIKU)
    answers = script(judging(AT_ONCE), rule(turns=[PAID]))

    options = (*ONE_ARM, *JUDGE, "--max-cost-usd", "0.0035", "--threshold", threshold)
    result = compare(suite, answers, *options)

    run = "cases.evals/a.arms.with.0"
    fields = [
        *("exit_code", "costUsd", *PARTIAL),
        *lost("a", "passed", "error", "costUsd", "judgeCostUsd"),
        *(f"{run}.skippedPaidGraders", f"{run}.graders.*"),
    ]
    check(f"ceiling amid votes, threshold {threshold}", result, {"D16": fields})
    theirs, ours = result.theirs.document, result.ours.document
    assert theirs is not None
    assert ours is not None
    assert (result.ours.exit_code, ours["partialReason"]) == (2, "cost_ceiling")
    assert theirs["costUsd"] == pytest.approx(0.019)
    # Eight calls are in flight at the most.
    assert 0.0035 <= ours["suite"]["spentUsd"] <= 0.0035 + 8 * 0.001


def test_judges_skipped_in_one_arm(suite: Suite) -> None:
    suite.case("a", {"a": llm("criterion a;"), **OK}, front=HAIKU)
    answers = script(judging(PASS), rule(turns=[PAID]))

    result = compare(suite, answers, *JUDGE, "--max-cost-usd", "0.0045")

    fields = ["exit_code", *PARTIAL, *lost("a", "error", "graders.a", arm="without")]
    check("judges skipped in one arm", result, {"D4": fields})
    for case in both(result, "a"):
        assert case["arms"]["without"][0]["skippedPaidGraders"] is True
        assert "delta" not in case["aggregates"]


def test_with_only_judges_skipped(suite: Suite) -> None:
    suite.case("a", {"a": llm("criterion a;", arm="with-only"), **OK}, front=HAIKU)
    answers = script(judging(PASS), rule(turns=[PAID]))

    result = compare(suite, answers, *JUDGE, "--max-cost-usd", "0.001")

    rows = {"D4": ["cases.evals/a.arms.with.0.graders.a"], CUT_SHORT: ["aggregates.casesPassed"]}
    check("with-only judges skipped", result, rows)
    for case in both(result, "a"):
        run = case["arms"]["with"][0]
        assert (run["score"], run["skippedPaidGraders"]) == (1, True)


def test_unpriceable_judge_under_a_ceiling(suite: Suite) -> None:
    suite.case("a", {"a": llm("criterion a;")}, front=HAIKU)
    answers = script(judging(PASS), rule(turns=[PAID]))

    options = ("--judge-model", "no-such-model", "--max-cost-usd", "5")
    result = compare(suite, answers, *ONE_ARM, *options)

    # It is refused before anything is spent.
    check("unpriceable judge under a ceiling", result, {"D19": ["exit_code", "*"]})
    assert (result.theirs.exit_code, result.ours.exit_code) == (0, 1)


@pytest.mark.parametrize("threshold", ["0", "0.5", "1"])
def test_exit_code_when_the_judge_fails(suite: Suite, threshold: str) -> None:
    suite.case("a", {"a": llm("criterion a;"), "b": llm("criterion b;"), **OK}, front=HAIKU)
    suite.case("b", {"c": llm("criterion c;"), **OK}, front=HAIKU)
    suite.case("c", {"d": llm("criterion d;"), **OK}, front=HAIKU)
    answers = script(
        judging(error(400), contains="criterion a;"),
        judging(PASS, contains="criterion b;"),
        judging(turn(thinking("hm")), contains="criterion c;"),
        judging(PASS),
        rule(turns=[PAID]),
    )

    result = compare(suite, answers, *ONE_ARM, *JUDGE, "--threshold", threshold)

    fields = [
        *lost("a", "error", "graders.a"),
        *lost("b", "error", "graders.c"),
        *("?exit_code", *PARTIAL),
        *("?costUsd", "?cases.evals/[ab].arms.with.0.*ostUsd"),
    ]
    check(f"failing judge, threshold {threshold}", result, {"D2": fields})
    assert result.ours.exit_code == 1


REFUSED_JUDGE = "the judge's credential is refused"


@pytest.mark.parametrize("status", [401, 403])
def test_credential_refused_to_the_judge(suite: Suite, status: int) -> None:
    suite.case("a", {"a": llm("criterion a;"), **OK}, front={**HAIKU, "runs": 2})
    suite.case("b", OK, front=HAIKU)

    result = compare(suite, script(judging(error(status)), rule(turns=[PAID])), *ONE_ARM)

    fields = [
        *("exit_code", "costUsd", *PARTIAL, *lost("a", "error", "graders.a")),
        *("cases.evals/a.arms.with.1", "cases.evals/b"),
    ]
    check(f"credential refused to the judge, {status}", result, {REFUSED_JUDGE: fields})
    assert result.ours.document is not None
    assert (result.theirs.exit_code, result.ours.exit_code) == (1, 2)
    assert result.ours.document["partialReason"] == "auth_failed"


def test_credential_refused_to_the_judge_later(suite: Suite) -> None:
    suite.case("a", {"a": llm("criterion a;")}, front=HAIKU)
    suite.case("b", {"b": llm("criterion b;"), **OK}, front=HAIKU)
    suite.case("c", {"c": llm("criterion c;")}, front=HAIKU)
    answers = script(
        judging(error(401), contains="criterion b;"), judging(PASS), rule(turns=[PAID])
    )

    result = compare(suite, answers, *ONE_ARM, *JUDGE)

    fields = [*PARTIAL, *lost("b", "error", "graders.b")]
    check("credential refused to the judge later", result, {"D2": fields})
    assert result.ours.exit_code == 1


def test_first_runs_fail_alike(suite: Suite) -> None:
    for name in ("a", "b", "c", "d"):
        suite.case(name, OK, front=HAIKU)

    result = compare(suite, script(rule(turns=[error(413)])), *ONE_ARM)

    fields = [*PARTIAL, "cases.evals/d", *(one for name in "abc" for one in lost(name))]
    check("first runs fail alike", result, {"first three runs": fields})
    assert result.ours.exit_code == 1


def test_run_that_is_repeated(suite: Suite) -> None:
    suite.case("again", OK, front=HAIKU)
    suite.case("fine", OK, front=HAIKU)
    answers = script(rule(prompt="Do again", runs=[[error(500)], [PAID]]), rule(turns=[PAID]))

    result = compare(suite, answers, *ONE_ARM)

    run = "cases.evals/again.arms.with.0"
    fields = [
        *("exit_code", "aggregates.*", "costUsd", "cases.evals/again.aggregates.*"),
        *(f"{run}.{name}" for name in ("score", "passed", "error", "costUsd", "graders.*")),
    ]
    check("run that is repeated", result, {"D1": fields})
    assert (result.theirs.exit_code, result.ours.exit_code) == (1, 0)


def test_run_that_the_ceiling_keeps_from_being_repeated(suite: Suite) -> None:
    suite.case("again", OK, front=HAIKU)
    look = turn(tool("Glob", pattern="x"), usage=MILL)

    options = (*ONE_ARM, "--max-cost-usd", "0.001", "--threshold", "0")
    result = compare(suite, script(rule(turns=[look, error(500)])), *options)

    # Nothing was left unstarted.
    check("run not repeated at the ceiling", result, {"D1": [*PARTIAL, *lost("again")]})
    assert result.ours.document is not None
    assert result.ours.document["partialReason"] == "not_measured"
    assert result.ours.exit_code == 1


def test_judge_fails_in_one_arm(suite: Suite) -> None:
    suite.case("a", {"a": llm("criterion a;"), **OK}, front=HAIKU)
    answers = script(
        judging(PASS, contains="OK with"),
        judging(error(400)),
        rule(arm="with", turns=[turn("OK with", usage=MILL)]),
        rule(turns=[PAID]),
        plugin_text=SKILL,
    )

    result = compare(suite, answers, *JUDGE)

    fields = ["exit_code", *PARTIAL, *lost("a", "error", "graders.a", arm="without")]
    check("judge fails in one arm", result, {"D2": fields})
    theirs, ours = both(result, "a")
    assert theirs["aggregates"]["delta"] == 0.5
    assert "delta" not in ours["aggregates"]
