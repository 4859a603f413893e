"""Hints on graders that cannot pass, cannot fail, or ask for a tool by a wrong name."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.cases.mock import MockServer
from tests.support.hints import (
    FILE,
    SAID,
    SERVERS,
    SKILL,
    Fields,
    case_of,
    file,
    regex,
    told,
    used,
)
from tests.support.mocks import mock_tool


@pytest.mark.parametrize(
    ("grader", "part"),
    [
        (used("Read", min=0), "any number of calls"),
        (used("Bash", min=0, max=0, input_match='"command": "rm'), "space after the colon"),
        (file("./a.txt", exists=False), "matches no path"),
        (file("*.{md,txt}", exists=False), "braces for themselves"),
        (regex(""), "found in every text"),
        (regex(".*"), "found in every text"),
        (regex("^.*", target="trace"), "found in every text"),
        (regex("one|two|"), "found in every text"),
        (regex("one||two", target="files"), "found in every text"),
        (regex(r"^[\s\S]*$"), "found in every text"),
    ],
)
def test_grader_that_cannot_fail_is_told(grader: Fields, part: str) -> None:
    [text] = told(case_of(SAID, grader))

    assert text.startswith("grader 'b' cannot fail: ")
    assert part in text


@pytest.mark.parametrize(
    "grader",
    [
        used("Read", min=0, max=3),
        used("Read", min=1),
        used("Read"),
        used("Bash", min=1, input_match=r'"command":\s*"rm'),
        used("Bash", min=1, input_match='"command": ?"rm'),
        used("Bash", min=1, input_match='"command": *"rm'),
        used("Bash", min=1, input_match='"command":"rm|"command": "rm'),
        used("Bash", min=1, input_match='"command":(?: "|")rm'),
        file("a.txt", exists=False),
        file("app/[id]/page.tsx"),
        file("a{b}.txt"),
        file("**/a.md"),
        file(".github/*.yml"),
        regex(".+"),
        regex("^.*$"),
        regex("(?:one|two|)x"),
        regex("[|]"),
        regex(r"one\|"),
        regex("(one)"),
        regex("", target=FILE),
        regex("", match="count:3"),
        regex("x", match="not_contains", target="files"),
        regex("x", match="count:0", target="files"),
        {"type": "tool_order", "before": "Read", "after": "Write"},
        {"type": "tool_order", "before": "Read", "after": {"tool": "Read", "input_match": "x"}},
        {"type": "llm", "criteria": "It is nice"},
    ],
)
def test_grader_that_can_do_both_is_not_told(grader: Fields) -> None:
    case = case_of(SAID, grader, prompt="")

    assert told(case, grants=("Write", "Bash"), matches=lambda *_: False) == []


@pytest.mark.parametrize(
    ("grader", "part"),
    [
        (used("Bash", min=0, max=0), "Bash is not granted"),
        (used("WebFetch", min=0, max=2), "WebFetch is not granted"),
        (used("Monitor", min=0, max=0), "no eval run offers Monitor"),
        (used("Read", min=0, max=0), "Read is taken away"),
        (file("a.txt", exists=False), "no granted tool can make a file"),
        (regex("a", match="not_contains", target="files"), "no granted tool can make a file"),
        (regex("a", match="count:0", target="files"), "no granted tool can make a file"),
    ],
)
def test_grader_that_the_grants_leave_nothing_to_fail_on_is_told(grader: Fields, part: str) -> None:
    case = case_of(SAID, grader, disallowed_tools=("Read",))

    [text] = told(case, grants=("WebSearch",))

    assert text.startswith("grader 'b' can hardly fail: ")
    assert part in text


def test_grants_are_not_guessed_in_a_replay() -> None:
    case = case_of(SAID, used("Bash", min=0, max=0), file("a", exists=False))

    assert told(case, grants=None) == []


def test_graders_of_one_cause_are_told_together() -> None:
    [text] = told(case_of(SAID, used("Bash", min=0, max=0), used("Bash", min=0, max=1)))

    assert text.startswith("graders 'b' and 'c' can hardly fail: ")


@pytest.mark.parametrize(
    ("grader", "part"),
    [
        (file("/a.txt"), "matches no path"),
        (file("a/../b.txt"), "matches no path"),
        (file("out/"), "matches no path"),
        (file(""), "matches no path"),
        (file("{a,b}.txt"), "braces for themselves"),
        (regex("x", target={"source": "file", "path": "*.md"}), "by that very name"),
        (regex("x", target={"source": "file", "path": "/etc/x"}), "not in the workspace"),
        (regex("x", target={"source": "file", "path": "a/../../x"}), "not in the workspace"),
        (regex("x", target={"source": "file", "path": "."}), "is a directory"),
        (regex("x", target="mock_calls"), "no mocks/ directory"),
        ({"type": "llm", "criteria": "x", "focus": "mock_calls"}, "no mocks/ directory"),
        (regex("", match="not_contains"), "found in every text"),
        (used("Bash", input_match='"command": "ls"'), "space after the colon"),
        (used("Skill", input_match='"skill": "(?:demo:)?greet"'), "space after the colon"),
        ({"type": "tool_order", "before": "Read", "after": "Read"}, "cannot come before itself"),
    ],
)
def test_grader_that_cannot_pass_is_told(grader: Fields, part: str) -> None:
    [text] = told(case_of(SAID, grader))

    assert text.startswith("grader 'b' cannot pass: ")
    assert part in text


def test_grader_that_the_reference_tells_of_is_not_told_twice() -> None:
    assert told(case_of(SAID, file("/a.txt")), advised=frozenset({"b"})) == []


def test_max_of_zero_alone_is_left_to_loading() -> None:
    assert told(case_of(SAID, used("Bash", max=0), used("Bash"))) == []


def test_mock_calls_of_a_case_with_mocks_can_pass() -> None:
    mocks = (MockServer(name="tracker", tools=(mock_tool(),)),)

    assert told(case_of(SAID, regex("x", target="mock_calls"), mocks=mocks)) == []


def test_mock_calls_of_a_case_whose_mocks_are_off_cannot_pass() -> None:
    case = case_of(SAID, regex("x", target="mock_calls"), mock_servers=("tracker",))

    [text] = told(case)

    assert text.endswith("no mocks/ directory applies to this case, or mocks are off")


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        (regex("x"), regex("x", "not_contains"), "the pattern 'x' in last_message"),
        (regex("x", "count:2"), regex("x", "count:3"), "the pattern 'x' in last_message"),
        (regex("x", target=FILE), regex("x", "count:0", FILE), "'x' in file a.txt"),
        (file("a.txt"), file("a.txt", exists=False), "the file 'a.txt'"),
        (used("Read"), used("Read", min=0, max=0), "calls of Read"),
        (used("Read", input_match="x"), used("Read", min=0, max=0), "calls of Read"),
        (used("Read", min=3), used("Read", max=2), "calls of Read"),
        (
            {"type": "tool_order", "before": "Glob", "after": "Read"},
            used("Read", min=0, max=0),
            "calls of Read",
        ),
    ],
)
def test_graders_that_cannot_both_pass_are_told(one: Fields, other: Fields, what: str) -> None:
    texts = told(case_of(SAID, one, other))

    assert [text for text in texts if what in text] == [
        text for text in texts if text.startswith("graders 'b' and 'c' cannot both pass: ")
    ]
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (regex("x"), regex("y", "not_contains")),
        (regex("x"), regex("x", "not_contains", "trace")),
        (regex("x"), {**regex("x", "not_contains"), "flags": "i"}),
        (regex("x"), regex("x", "count:2")),
        (file("a.txt"), file("b.txt", exists=False)),
        (used("Read"), used("Grep", min=0, max=0)),
        (used("Read"), used("Read", input_match="x", min=0, max=0)),
        (used("Read", min=2), used("Read", max=2)),
    ],
)
def test_graders_that_can_both_pass_are_not_told(one: Fields, other: Fields) -> None:
    assert told(case_of(SAID, one, other)) == []


@pytest.mark.parametrize(
    ("tool", "part"),
    [
        ("search", "'mcp__plugin_demo_tracker__search'"),
        ("tracker__search", "'mcp__plugin_demo_tracker__search'"),
        ("mcp__tracker__search", "'mcp__plugin_demo_tracker__search'"),
        ("bash", "did you mean 'Bash'?"),
        ("Wrte", "did you mean 'Write'?"),
        ("Bash(git *)", "write tool: Bash"),
        ("greet", """input_match: '"skill":"(?:demo:)?greet"'"""),
        ("demo:greet", "is a skill and no tool"),
    ],
)
def test_tool_of_a_wrong_name_is_told(tool: str, part: str) -> None:
    case = case_of(SAID, used(tool))

    [text] = told(case, servers=SERVERS, skills=(SKILL,))

    assert text.startswith("grader 'b': ")
    assert part in text


@pytest.mark.parametrize(
    "tool",
    ["Read", "Task", "mcp__plugin_demo_tracker__search", "mcp__other__search", "Monitor"],
)
def test_tool_of_a_right_name_is_not_told(tool: str) -> None:
    assert told(case_of(SAID, used(tool)), servers=SERVERS) == []


@pytest.mark.parametrize("tool", ["search", "Frobnicate", "mcp__tracker__search"])
def test_unknown_tool_may_be_one_of_a_later_version(tool: str) -> None:
    assert told(case_of(SAID, used(tool))) == []


def test_listed_tool_of_a_server_is_told_by_its_full_name() -> None:
    case = case_of(SAID, used("Read"), allowed_tools=("Read", "search", "Wrte"))

    [text] = told(case, servers=SERVERS)

    assert text.startswith("allowed_tools: 'search' is no built-in tool")
