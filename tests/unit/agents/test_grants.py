"""Which tools a run may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.agents.grants import (
    ToolEntry,
    grant_warnings,
    listed,
    not_granted,
    offered_tools,
    parse_entry,
    parse_grants,
    parse_removals,
    usable,
)
from tests.support.agents import make_case

BASE = ("Read", "Glob", "Grep", "Skill", "Agent", "TaskStop", "ToolSearch")
TASKS = ("TaskCreate", "TaskGet", "TaskList", "TaskUpdate")


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("Write", ToolEntry("Write")),
        ("Write(sub/**)", ToolEntry("Write", "sub/**")),
        ("WebFetch(domain:x.com)", ToolEntry("WebFetch", "domain:x.com")),
        ("mcp__a__b", ToolEntry("mcp__a__b")),
        ("mcp__a__*", ToolEntry("mcp__a__*")),
        ("Read()", ToolEntry("Read")),
        ("Bad(", None),
        ("mcp__*", None),
        ("W*", None),
        ("two words", None),
        ("", None),
    ],
)
def test_entry_is_a_tool_with_or_without_a_pattern(text: str, entry: ToolEntry | None) -> None:
    assert parse_entry(text) == entry


def test_grants_are_kept_in_order_and_once() -> None:
    assert parse_grants(["Write", "Edit", "", "Write", "mcp__a__*"]) == (
        ("Write", "Edit", "mcp__a__*"),
        (),
    )


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("Monitor", "'Monitor' is never available in an evaluation"),
        ("EnterWorktree", "never available"),
        ("ExitWorktree(x)", "never available"),
        ("Artifact", "not available in an evaluation"),
        ("Bad(", "'Bad(' is no grant, expected Tool or Tool(pattern)"),
        ("mcp__*", "is no grant"),
        ("Write(", "'Write(' is no grant"),
        ("Wri*", "'Wri*' is no grant"),
        ("*", "'*' is no grant"),
        ("mcp__*__send", "is no grant"),
        ("PowerShell", "'PowerShell' is refused: no sandbox confines it, expected 'Bash'"),
        ("wriet", "'wriet' is no tool, did you mean 'Write'?"),
        ("write", "'write' is no tool, did you mean 'Write'?"),
        ("bash(git *)", "'bash(git *)' is no tool, did you mean 'Bash'?"),
        ("WebFecth", "'WebFecth' is no tool, did you mean 'WebFetch'?"),
        ("Writes", "'Writes' is no tool, did you mean 'Write'?"),
        ("lsp", "'lsp' is no tool, did you mean 'LSP'?"),
    ],
)
def test_refused_grant_says_why(entry: str, message: str) -> None:
    accepted, refused = parse_grants([entry, "Write"])

    assert accepted == ("Write",)
    assert len(refused) == 1
    assert refused[0].startswith("--eval-allow-tools: ")
    assert message in refused[0]


@pytest.mark.parametrize(
    "entry", ["LS", "BashOutput", "MultiEdit", "TeamCreate", "TaskOutput", "Foo", "mcp__write__x"]
)
def test_tool_that_is_not_known_here_can_be_granted_and_taken_away(entry: str) -> None:
    # Of another version of the agent: a refusal could not be got round.
    assert parse_grants([entry]) == ((entry,), ())
    assert parse_removals([entry])[0] == ((entry,) if "__" not in entry else ())


@pytest.mark.parametrize(
    ("grants", "removals", "expected"),
    [
        (("Write", "Bash(git *)", "mcp__a__b", "WebFetch(domain:x.com)"), ("Agent",), []),
        (("Foo", "Foo"), (), ["--eval-allow-tools: 'Foo' is no tool that is known here"]),
        ((), ("Foo",), ["--eval-disallow-tools: 'Foo' is no tool that is known here"]),
        (("Write(/etc/*)",), (), ["--eval-allow-tools: 'Write(/etc/*)' opens nothing in a run"]),
        (("Edit(~/x)",), (), ["--eval-allow-tools: 'Edit(~/x)' opens nothing in a run"]),
        (("Write(../x)",), (), ["--eval-allow-tools: 'Write(../x)' opens nothing in a run"]),
        (("Write(//**)", "Write(~/**)", "Write(out/*)", "Read(/etc/*)"), (), []),
    ],
)
def test_odd_grants_are_warned_of_once(
    grants: tuple[str, ...], removals: tuple[str, ...], expected: list[str]
) -> None:
    warnings = grant_warnings(grants, removals)

    assert [text[: len(start)] for text, start in zip(warnings, expected, strict=True)] == expected


def test_removals_are_bare_names() -> None:
    accepted, refused = parse_removals(["Agent", "Bash(rm:*)", "mcp__a__b", "Agnt", "NewTool"])

    assert accepted == ("Agent", "NewTool")
    assert [message.split(" cannot")[0] for message in refused] == [
        "--eval-disallow-tools: 'Bash(rm:*)'",
        "--eval-disallow-tools: 'mcp__a__b'",
        "--eval-disallow-tools: 'Agnt'",
    ]
    assert "did you mean 'Agent'?" in refused[2]


@pytest.mark.parametrize(
    ("allowed", "grants", "missing"),
    [
        (("Read", "Glob", "Grep", "Skill", "Agent", "Task", "TodoWrite"), (), ()),
        (("Bash", "Read", "Write"), (), ("Bash", "Write")),
        (("Bash(ls *)", "mcp__x__y", "Foo"), (), ("Bash(ls *)", "mcp__x__y", "Foo")),
        (("Edit",), ("Write",), ("Edit",)),
        (("Write(sub/**)",), ("Write",), ()),
        (("Write",), ("Write(sub/**)",), ()),
        (("Write",), ("Write(/etc/*)",), ("Write",)),
        (("Write(/etc/*)",), ("Write(/etc/*)",), ()),
        (("Write",), ("Write(//**)",), ()),
        (("Write(a)",), ("Write(b)",), ("Write(a)",)),
        (("mcp__x__y", "mcp__x__z"), ("mcp__x__*",), ()),
        (("mcp__x__y",), ("mcp__x",), ()),
        (("mcp__xx__y",), ("mcp__x",), ("mcp__xx__y",)),
        (("mcp__plugin_a_b__c",), ("mcp__plugin_a_b__*",), ()),
        (("mcp__plugin_a_b__*",), ("mcp__plugin_a_b__*",), ()),
        (("mcp__plugin_a_b__*",), ("mcp__plugin_a_b__c",), ("mcp__plugin_a_b__*",)),
        (("Bash(ls *)", "Bash"), ("Bash",), ()),
        (("Bash", "Bash(git log *)"), ("Bash(git *)",), ("Bash(git log *)",)),
        (("WebFetch(domain:x.com)",), ("WebFetch(domain:y.com)",), ("WebFetch(domain:x.com)",)),
        (
            ("Read(/etc/**)", "Read(~/x)", "Grep(../x)"),
            (),
            ("Read(/etc/**)", "Read(~/x)", "Grep(../x)"),
        ),
        (("Read(foo/**)", "Skill(demo:greet)"), (), ()),
        (("ToolSearch", "skill", "Bad("), (), ("ToolSearch", "skill", "Bad(")),
    ],
)
def test_entries_without_a_grant_are_named_in_order(
    allowed: tuple[str, ...], grants: tuple[str, ...], missing: tuple[str, ...]
) -> None:
    case = make_case(Path("/plugin"), allowed_tools=allowed)

    assert not_granted(case, grants) == missing


def test_grant_that_is_taken_back_is_none() -> None:
    case = make_case(Path("/plugin"), allowed_tools=("Read", "Write", "Edit"))

    assert not_granted(case, ("Write", "Edit"), ("Write", "Read")) == ("Write",)


def test_grants_stand_before_the_entries_of_the_case() -> None:
    case = make_case(Path("/plugin"), allowed_tools=("Skill", "Bash", "Read", "Write"))

    assert listed(case, ("Write", "WebFetch(domain:x)")) == (
        ToolEntry("Write"),
        ToolEntry("WebFetch", "domain:x"),
        ToolEntry("Skill"),
        ToolEntry("Read"),
    )


def test_what_is_taken_away_is_not_usable() -> None:
    case = make_case(
        Path("/plugin"), allowed_tools=("Skill", "Read"), disallowed_tools=("Read", "Bash(rm *)")
    )

    assert usable(case, ("Write", "Bash", "Bash(git *)"), ("Write",)) == (
        ToolEntry("Bash"),
        ToolEntry("Bash", "git *"),
        ToolEntry("Skill"),
    )


@pytest.mark.parametrize("entry", [ToolEntry("Bash"), ToolEntry("Bash", "git *")])
def test_shell_stands_in_place_of_the_searching_tools(entry: ToolEntry) -> None:
    rules = (str(entry), "Read(//runs/**)", "Skill")

    assert offered_tools([entry], rules=rules) == (
        "Read",
        "Skill",
        "Agent",
        "TaskStop",
        "ToolSearch",
        "Bash",
    )


@pytest.mark.parametrize("rule", ["Grep", "Glob(//runs/**)"])
def test_rule_for_a_searching_tool_keeps_both_beside_a_shell(rule: str) -> None:
    assert offered_tools([ToolEntry("Bash")], rules=["Bash", rule]) == (*BASE, "Bash")


@pytest.mark.parametrize(
    ("names", "model", "extra"),
    [
        ((), None, ()),
        (("Read", "Skill", "Agent", "mcp__a__b"), None, ()),
        (("Write",), None, ("Edit", "Write", "NotebookEdit")),
        (("TaskGet",), None, TASKS),
        (("TodoWrite",), None, TASKS),
        (("WebSearch", "WebFetch"), None, ("WebFetch", "WebSearch")),
        ((), "claude-haiku-4-5", TASKS),
        ((), "us.anthropic.claude-sonnet-4-5-20250929-v1:0", TASKS),
        ((), "claude-opus-4-8", ()),
        ((), "claude-opus-5-5", ()),
    ],
)
def test_offered_tools(names: tuple[str, ...], model: str | None, extra: tuple[str, ...]) -> None:
    assert offered_tools([ToolEntry(name) for name in names], model) == (*BASE, *extra)
