"""Options, filters, limits and exit codes."""

from __future__ import annotations

import pytest

from tests.differential.compare import check, compare
from tests.differential.suite import Suite, exists, regex, used
from tests.support.script import rule, script, tool

pytestmark = pytest.mark.agent

OK = {"ok": regex("OK")}
ONE_ARM = ("--ablation", "none")
FILTERS = {
    "case": ["--case", "a*"],
    "case-one-char": ["--case", "?b", "--runs", "1"],
    "last-case-wins": ["--case", "zz", "--case", "[x]"],
    "empty-case": ["--case", ""],
    "tags": ["--tag", "smoke", "a b"],
    "both": ["--case", "a*", "--tag", "smoke", "--tag", "none"],
    "no-match": ["--case", "zz"],
    "no-tag": ["--tag", "Smoke"],
}


@pytest.mark.parametrize("options", FILTERS.values(), ids=FILTERS.keys())
def test_filter(loose: Suite, options: list[str]) -> None:
    loose.case("one", OK, front={"name": "abc", "tags": ["smoke"]})
    loose.case("two", OK, front={"name": "ab", "tags": ["a b", "other"]})
    loose.case("three", OK, front={"name": "[x]"})

    result = compare(loose, script(), *options)

    check(f"filter {' '.join(options)}", result)


def test_runs_model_and_fields(loose: Suite) -> None:
    front = {"runs": 2, "model": "claude-haiku-4-5", "max_turns": 7, "timeout_seconds": 100}
    loose.case("a", OK, front=front)
    loose.case("b", OK, front={**front, "append_system_prompt": "Be kind", "env": {"EVAL_X": "1"}})

    options = ["--runs", "1.9x", "--model", "claude-sonnet-4-5", "--judge-model", "haiku"]
    result = compare(loose, script(), *options, "--threshold", "1e-1", "-j", "2")

    check("runs, model and other fields", result, {"D13": []})
    assert result.ours.document is not None
    case = result.ours.document["cases"][0]
    # D13: the number really planned stands beside the case's own.
    assert (case["runsPerCase"], case["runsPlanned"]) == (2, 1)


def test_four_at_once(suite: Suite) -> None:
    for name in ("a", "b"):
        suite.case(name, {"ok": regex("OK"), "not": regex("OK", match="not_contains")})

    result = compare(suite, script(), "-j", "4", "--runs", "2", "--threshold", "0.5")

    check("four at once", result)


@pytest.mark.parametrize("ceiling", ["0", "0.0002", "0.0004"])
def test_cost_ceiling(suite: Suite, ceiling: str) -> None:
    suite.case("a", OK, front={"runs": 2, "model": "claude-haiku-4-5"})
    suite.case("b", OK, front={"model": "claude-haiku-4-5"})

    result = compare(suite, script(), "--max-cost-usd", ceiling, *ONE_ARM)

    check(f"cost ceiling {ceiling}", result)


def test_tools_not_granted(suite: Suite) -> None:
    graders = {
        "wrote": used("Write"),
        "file": exists("a.txt"),
        "no-file": exists("a.txt", exists=False),
        "ran": used("Bash", min=0, max=0),
    }
    front = {"allowed_tools": ["Write", "Bash", "Read", "NoSuch"]}
    suite.case("asks", graders, front=front)
    suite.case("barred", {"read": used("Read")}, front={"disallowed_tools": ["Read"]})
    writes = [tool("Write", file_path="{cwd}/a.txt", content="x")]
    answers = script(
        rule(prompt="Do asks", turns=[writes, "done"]),
        rule(prompt="Do barred", turns=[[tool("Read", file_path="{cwd}/a.txt")], "done"]),
    )

    result = compare(suite, answers, *ONE_ARM)

    check("tools not granted", result)


@pytest.mark.parametrize("grants", ["Write,Edit", "Edit Write(in/**)"])
def test_grants_in_one_word(suite: Suite, grants: str) -> None:
    suite.case("writes", {"in": exists("in/a.txt"), "out": exists("b.txt")})
    calls = [
        tool("Write", file_path=f"{{cwd}}/{path}", content="x") for path in ("in/a.txt", "b.txt")
    ]

    options = (*ONE_ARM, "--allow-tools", grants, "--disallow-tools", "Glob,Grep")
    result = compare(suite, script(rule(turns=[calls, "done"])), *options)

    check(f"grants {grants}", result)


def test_granted_by_pattern_and_taken(suite: Suite) -> None:
    graders = {"in": exists("in/a.txt"), "out": exists("b.txt"), "glob": used("Glob")}
    suite.case("writes", graders)
    calls = [
        tool("Write", file_path="{cwd}/in/a.txt", content="x"),
        tool("Edit", file_path="{cwd}/b.txt", old_string="", new_string="y"),
        tool("Glob", pattern="*"),
    ]

    result = compare(
        suite,
        script(rule(turns=[calls, "done"])),
        *ONE_ARM,
        "--allow-tools",
        "Write",
        "Edit",
        "--disallow-tools",
        "Glob",
    )

    check("granted and taken tools", result)
