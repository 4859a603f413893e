"""Arms, weights and thresholds: the same scores and differences as the reference's."""

from __future__ import annotations

import json

import pytest

from tests.differential.compare import check, compare
from tests.differential.suite import Fields, Suite, regex, used
from tests.support.script import rule, script, tool

pytestmark = pytest.mark.agent

ONE_ARM = ("--ablation", "none")
SKILL = tool("Skill", skill="demo:greet")


def test_skill_is_scored_in_the_with_arm_only(suite: Suite) -> None:
    graders = {
        "fired": used("Skill", input_match="greet"),
        "quiet": used("Skill", min=0, max=0),
        "says": regex("bonjour"),
        "marked": regex("hello", arm="with-only"),
        "both": used("Skill", arm="both", weight=0.5),
    }
    suite.case("greet", graders, front={"runs": 2})
    suite.case("quiet", {"silent": used("Skill", min=0, max=0, arm="both"), "ok": regex("fine")})
    answers = script(
        rule(prompt="Do greet", arm="with", runs=[[[SKILL], "bonjour"], ["hello"]]),
        rule(prompt="Do greet", arm="without", runs=[["hello"], ["bonjour"]]),
        rule(prompt="Do quiet", turns=["fine"]),
        plugin_text="demo:greet",
    )

    result = compare(suite, answers)

    check("with-only graders", result)


def test_all_graders_with_only(suite: Suite) -> None:
    suite.case("only", {"fired": used("Skill"), "marked": regex("bonjour", arm="with-only")})
    answers = script(
        rule(arm="with", turns=[[SKILL], "bonjour"]),
        rule(arm="without", turns=["bonjour"]),
        plugin_text="demo:greet",
    )

    result = compare(suite, answers)

    check("all graders with-only", result)


def test_weights_and_threshold(suite: Suite) -> None:
    def graders(*weights: float) -> dict[str, Fields]:
        return {f"g{n}": regex(f"w{n}", weight=weight) for n, weight in enumerate(weights)}

    suite.case("odd", graders(3, 1, 0.5, 2))
    suite.case("tenths", graders(0.1, 0.2, 0.3, 0.7))
    suite.case("runs", graders(1, 2), front={"runs": 3})
    suite.case("below", graders(1, 1))
    answers = script(
        rule(prompt="Do odd", turns=["w0 w1"]),
        rule(prompt="Do tenths", turns=["w0 w3"]),
        rule(prompt="Do runs", runs=[["w0 w1"], ["w1"], ["w0"]]),
        rule(prompt="Do below", turns=["nothing"]),
    )

    result = compare(suite, answers, "--ablation", "none", "--threshold", "0.6")

    check("weights and threshold", result)


@pytest.mark.parametrize("threshold", ["0.6666666666666666", "0.67"])
def test_threshold(loose: Suite, threshold: str) -> None:
    loose.case("thirds", {"yes": regex("yes")}, front={"runs": 3})
    answers = script(rule(runs=[["yes"], ["no"], ["yes"]]))

    result = compare(loose, answers, "--threshold", threshold)

    check(f"threshold {threshold}", result)


def test_negative_difference(suite: Suite) -> None:
    suite.case("worse", {"a": regex("a", weight=2), "b": regex("b"), "c": regex("c", weight=3.5)})
    answers = script(
        rule(arm="with", turns=["a"]),
        rule(arm="without", turns=["a b c"]),
        plugin_text="demo:greet",
    )

    result = compare(suite, answers, "--threshold", ".25")

    check("negative difference", result)


def test_several_plugins_and_none(suite: Suite) -> None:
    suite.plugin("other", at="extra/other", version=None).skill("wave", at="extra/other")
    ok = {"ok": regex("OK"), "init": regex("other:wave|demo:greet", target="trace")}
    suite.case("both", ok, front={"plugins": ["../..", "../../extra/other"]})
    suite.case("other", ok, front={"plugins": ["../../extra/other"]})
    suite.case("empty", ok, front={"plugins": []})

    result = compare(suite, script())

    check("several plugins", result)


def test_no_plugin(loose: Suite) -> None:
    loose.case("plain", {"ok": regex("OK"), "fired": used("Skill"), "bad": regex("never")})

    result = compare(loose, script())

    check("no plugin", result)


def test_two_arms_without_a_plugin(loose: Suite) -> None:
    loose.case("plain", {"ok": regex("OK")})

    result = compare(loose, script(), "--ablation", "with-without")

    check("two arms without a plugin", result)


def test_skill_folder_as_plugin(suite: Suite) -> None:
    suite.case("skills/greet/evals/hi", {"ok": regex("OK"), "fired": used("Skill")})

    result = compare(suite, script(), target="skills/greet")

    check("skill folder", result)


def test_plugin_with_other_components(suite: Suite) -> None:
    suite.write("agents/helper.md", "---\nname: helper\ndescription: Helps\n---\nHelp.\n")
    suite.write("commands/cheer.md", "---\ndescription: Cheers\n---\nCheer.\n")
    hook = {"hooks": [{"type": "command", "command": "echo from-the-hook"}]}
    suite.write("hooks/hooks.json", json.dumps({"hooks": {"UserPromptSubmit": [hook]}}))
    suite.write(".mcp.json", json.dumps({"mcpServers": {"away": {"command": "false"}}}))
    graders = {
        "hook": regex("from-the-hook", target="trace"),
        "agent": regex("demo:helper", target="trace"),
        "command": regex("demo:cheer", target="trace"),
        "asked": used("Agent", input_match="demo:helper"),
        "last": regex("^done$"),
    }
    suite.case("all", graders)
    ask = tool("Agent", description="help", prompt="Help me", subagent_type="demo:helper")
    answers = script(rule(kind="subagent", turns=["helped"]), rule(turns=[[ask], "done"]))

    result = compare(suite, answers)

    # A server without a stand-in is not started by either.
    check("plugin with hook, agent, command, server", result)


def test_skill_that_is_not_there(suite: Suite) -> None:
    suite.write("skills/wave/notes.md", "no SKILL.md here")
    suite.case("a", {"ok": regex("OK")})
    suite.case("wave", {"waved": used("Skill", input_match="demo:wave"), "ok": regex("OK")})

    result = compare(suite, script(), *ONE_ARM)

    case = "cases.evals/wave"
    lost = [f"{case}.arms.with.0.*", f"{case}.aggregates.*", "aggregates.*"]
    check("skill that is not there", result, {"D8": [*lost, "costUsd", "partial*"]})
