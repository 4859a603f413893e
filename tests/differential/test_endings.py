"""Runs that end otherwise than well."""

from __future__ import annotations

import pytest

from tests.differential.compare import check, compare
from tests.differential.suite import Suite, exists, regex, used
from tests.support.script import body, drop, error, rule, script, text, tool, turn

pytestmark = pytest.mark.agent

ONE_ARM = ("--ablation", "none")
LOOKING = {"looked": used("Glob"), "absent": used("Bash", min=0, max=0), "last": regex("looking")}


def test_turn_cap(suite: Suite) -> None:
    suite.case("cap", LOOKING, front={"max_turns": 2})
    suite.case("two", LOOKING)
    look = [text("looking"), tool("Glob", pattern="*.x")]
    answers = script(
        rule(prompt="Do cap", turns=[look], end=None),
        rule(prompt="Do two", turns=[look, "looking"]),
    )

    result = compare(suite, answers)

    check("turn cap", result)


def test_time_limit(suite: Suite) -> None:
    suite.case("slow", LOOKING, front={"timeout_seconds": 5})
    look = [text("looking"), tool("Glob", pattern="*.x")]
    answers = script(rule(turns=[look, turn("too late", delay_s=60)]))

    result = compare(suite, answers, *ONE_ARM)

    # The reference counts what a stream had said when it began.
    check("time limit", result, {KILLED: ["costUsd", "cases.evals/slow.arms.with.0.costUsd"]})


def test_nothing_came(suite: Suite) -> None:
    suite.case("never", LOOKING, front={"timeout_seconds": 5})
    suite.case("fine", {"ok": regex("fine")})
    answers = script(
        rule(prompt="Do never", turns=[turn("too late", delay_s=60)]),
        rule(prompt="Do fine", turns=["fine"]),
    )

    result = compare(suite, answers, *ONE_ARM)

    run = "cases.evals/never.arms.with.0"
    lost = [
        f"{run}.score",
        f"{run}.graders.*",
        f"?{run}.costUsd",
        "?costUsd",
        *NOT_MEASURED,
        *means("never"),
    ]
    check("time limit before any message", result, {"D7": lost})


def test_time_limit_while_a_request_is_repeated(suite: Suite) -> None:
    suite.case("slow", LOOKING, front={"timeout_seconds": 8})
    look = [text("looking"), tool("Glob", pattern="*.x")]
    answers = script(rule(turns=[look, error(500)]))

    result = compare(suite, answers, *ONE_ARM, env={"CLAUDE_CODE_MAX_RETRIES": "10"})

    # The reference grades what came before the service refused to go on.
    run = "cases.evals/slow.arms.with.0"
    lost = [f"{run}.score", f"{run}.passed", f"{run}.graders.*", f"?{run}.costUsd", "?costUsd"]
    lost += ["exit_code", *NOT_MEASURED, *means("slow")]
    check("time limit while refused", result, {"D1": lost})


def test_api_error(suite: Suite) -> None:
    suite.case("fine", {"ok": regex("fine")})
    suite.case("later", LOOKING)
    look = [text("looking"), tool("Glob", pattern="*.x")]
    answers = script(
        rule(prompt="Do fine", turns=["fine"]),
        rule(prompt="Do later", turns=[look, error(529)]),
    )

    result = compare(suite, answers, *ONE_ARM, "--threshold", "0")

    # Ours has made the run twice and says what both attempts cost.
    run = "cases.evals/later.arms.with.0"
    lost = [f"{run}.score", f"{run}.costUsd", "costUsd", *NOT_MEASURED, *means("later")]
    check("API error", result, {"D1": lost})


def test_api_error_in_one_arm(suite: Suite) -> None:
    suite.case("half", {"ok": regex("fine")})
    answers = script(
        rule(arm="with", turns=["fine"]),
        rule(arm="without", turns=[error(400, "no")]),
        plugin_text="demo:greet",
    )

    result = compare(suite, answers)

    lost = ["cases.evals/half.arms.without.0.score", "cases.evals/half.aggregates.passRateWithout"]
    lost += ["aggregates.casesPassed", *NOT_MEASURED]
    check("API error in one arm", result, {"D1": lost})


@pytest.mark.parametrize("status", [401, 403])
def test_credential_refused(suite: Suite, status: int) -> None:
    suite.case("first", {"ok": regex("fine")}, front={"runs": 2})
    suite.case("second", {"ok": regex("fine")})

    result = compare(suite, script(rule(turns=[error(status)])))

    lost = ["cases.evals/first.arms.with.0.score", "aggregates.overall*", *means("first")[1:]]
    check(f"credential refused, {status}", result, {"D1": lost})


def test_no_credential(suite: Suite) -> None:
    suite.case("first", {"ok": regex("OK"), "not": regex("OK", match="not_contains")})
    suite.case("second", {"ok": regex("OK")})

    result = compare(suite, script(), env={"ANTHROPIC_API_KEY": ""})

    # The reference grades what the client says of it.
    run = "cases.evals/first.arms.with.0"
    lost = [f"{run}.score", f"{run}.graders.*", "aggregates.overall*", *means("first")[1:]]
    check("no credential", result, {"D1": lost})


def test_credential_refused_later(suite: Suite) -> None:
    suite.case("a", {"ok": regex("fine")})
    suite.case("b", {"ok": regex("fine")})
    suite.case("c", {"ok": regex("fine")})
    answers = script(rule(prompt="Do b", turns=[error(403)]), rule(turns=["fine"]))

    result = compare(suite, answers, *ONE_ARM)

    lost = ["cases.evals/b.arms.with.0.score", *NOT_MEASURED, *means("b")]
    check("credential refused later", result, {"D1": lost})


def test_lost_connection(suite: Suite) -> None:
    for name in ("dropped", "garbled", "mended"):
        suite.case(name, {"ok": regex("OK")})
    answers = script(
        rule(prompt="Do dropped", turns=[drop()]),
        rule(prompt="Do garbled", turns=[body("nonsense")]),
        rule(prompt="Do mended", turns=[turn("OK", faults=[error(529)])]),
    )

    result = compare(suite, answers, *ONE_ARM, "-j", "2")

    # The reference grades the client's own words about it.
    lost = [*NOT_MEASURED, *means("dropped", "garbled")]
    for name in ("dropped", "garbled"):
        run = f"cases.evals/{name}.arms.with.0"
        lost += [f"{run}.score", f"{run}.graders.*"]
    check("lost connection", result, {"D1": lost})


def test_empty_reply_and_pause(suite: Suite) -> None:
    graders = {
        "any": regex("\\S"),
        "none": regex("\\S", match="not_contains"),
        "empty": regex("^$"),
    }
    suite.case("empty", graders)
    suite.case("pause", graders)
    suite.case("tool-last", graders)
    answers = script(
        rule(prompt="Do empty", turns=[turn("")]),
        rule(prompt="Do pause", turns=[turn("wait", stop_reason="pause_turn")]),
        rule(prompt="Do tool-last", turns=[[tool("Glob", pattern="x")], turn("")]),
    )

    result = compare(suite, answers, *ONE_ARM)

    check("empty reply", result)


def test_output_limit_and_refusal(suite: Suite) -> None:
    graders = {"part": regex("part"), "file": exists("x", exists=False), "looked": used("Glob")}
    suite.case("limit", graders)
    suite.case("refusal", graders)
    look = [text("part one"), tool("Glob", pattern="*.x")]
    answers = script(
        rule(prompt="Do limit", turns=[look, turn("part", stop_reason="max_tokens")], end=None),
        rule(prompt="Do refusal", turns=[look, turn("part", stop_reason="refusal")], end=None),
    )

    result = compare(suite, answers, *ONE_ARM)

    check("output limit and refusal", result)


def means(*cases: str) -> list[str]:
    """Return the fields that a run left out of the means changes."""
    return ["aggregates.*", *(f"cases.evals/{case}.aggregates.*" for case in cases)]


# The reference guesses from what it saw; ours takes the agent's own account, or says it is unknown.
KILLED = "cost of a killed run"
NOT_MEASURED = ["partial", "partialReason"]
