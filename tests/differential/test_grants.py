"""Which tools a run may use, beside the reference.

The reference's run directories lie in a place of the test outside of ``/tmp`` where a shell is
granted: below ``/tmp`` its sandbox lets nobody write (D14).
"""

from __future__ import annotations

import os
import pwd
import tempfile
from collections.abc import Iterator, Sequence

import pytest

from tests.differential.compare import Comparison, check, compare
from tests.differential.suite import Suite, exists, regex, used
from tests.support.script import TurnData, rule, script, tool

pytestmark = pytest.mark.agent

ONE_ARM = ("--ablation", "none")
OK = {"ok": regex("done")}


def write(path: str) -> object:
    return tool("Write", file_path=f"{{cwd}}/{path}", content="x")


def run(suite: Suite, calls: Sequence[object], *options: str) -> Comparison:
    turns: list[TurnData] = [[call] for call in calls]
    return compare(suite, script(rule(turns=[*turns, "done"])), *ONE_ARM, *options)


@pytest.mark.parametrize(
    "grants",
    ["Write", "Edit", "NotebookEdit", "Write(in/**)", "Write(./in/a.txt)", "Edit(**/*.txt)"],
)
def test_writing(suite: Suite, grants: str) -> None:
    graders = {
        "in": exists("in/a.txt"),
        "out": exists("b.txt"),
        "edited": regex("y", target="files"),
    }
    suite.case("writes", graders, front={"allowed_tools": ["Read", "Write", "Edit"]})
    edit = tool("Edit", file_path="{cwd}/in/a.txt", old_string="x", new_string="y")
    outside = tool("Write", file_path="{cwd}/../evil.txt", content="x")

    result = run(
        suite,
        [
            write("in/a.txt"),
            tool("Read", file_path="{cwd}/in/a.txt"),
            edit,
            write("b.txt"),
            outside,
        ],
        "--allow-tools",
        grants,
    )

    check(f"writing with {grants}", result)


@pytest.mark.parametrize("entry", ["Monitor", "Bad(", "mcp__*", "EnterWorktree", "Artifact"])
def test_refused_entry(suite: Suite, entry: str) -> None:
    """Ours says so before anything is spent, the reference runs the suite; both end with 1."""
    suite.case("a", OK)

    result = compare(suite, script(), *ONE_ARM, "--allow-tools", entry)

    assert (result.ours.exit_code, result.theirs.exit_code) == (1, 1)
    assert (result.ours.document, result.theirs.document is None) == (None, False)
    assert f"--eval-allow-tools: {entry!r} is" in result.ours.stderr


@pytest.mark.parametrize("removed", ["Write", "Write,Edit,NotebookEdit", "Glob,Agent"])
def test_removal_wins(suite: Suite, removed: str) -> None:
    graders = {
        "made": exists("a.txt"),
        "not-made": exists("a.txt", exists=False),
        "written": used("Write"),
        "agent": used("Agent", min=0, max=0),
        "glob": used("Glob"),
    }
    suite.case("a", graders, front={"allowed_tools": ["Write", "Agent", "Glob"]})
    calls = [write("a.txt"), tool("Glob", pattern="*")]

    options = ("--allow-tools", "Write", "Edit", "--disallow-tools", *removed.split(","))
    result = run(suite, calls, *options)

    check(f"removed {removed}", result)


@pytest.mark.parametrize("grants", [(), ("WebFetch(domain:a.example)",), ("WebSearch", "WebFetch")])
def test_web(suite: Suite, grants: tuple[str, ...]) -> None:
    graders = {"fetched": used("WebFetch"), "found": used("WebSearch"), "ok": regex("done")}
    suite.case("a", graders, front={"allowed_tools": ["WebFetch(domain:a.example)", "WebSearch"]})

    options = ("--allow-tools", *grants) if grants else ()
    result = run(suite, [tool("ToolSearch", query="select:WebFetch,WebSearch")], *options)

    check(f"web with {' '.join(grants) or 'nothing'}", result)


def test_reading_by_rule(suite: Suite) -> None:
    names = ["Read(in/**)", "Grep(/etc/**)", "Skill(demo:greet)", "Agent", "TaskList", "TodoWrite"]
    graders = {
        "read": used("Read", min=3),
        "skill": used("Skill", input_match="demo:greet"),
        "bonjour": regex("bonjour", target="last_message"),
    }
    suite.case("a", graders, front={"allowed_tools": names})
    calls = [
        tool("Skill", skill="demo:greet"),
        tool("Read", file_path="{cwd}/in/a.txt"),
        tool("Read", file_path="{cwd}/../.gitconfig"),
        tool("Read", file_path="/etc/hostname"),
    ]

    check("reading by rule", run(suite, calls))


def test_not_granted(suite: Suite) -> None:
    names = ["Bash(ls *)", "mcp__x__y", "Foo", "Write", "Read(/etc/**)", "ToolSearch", "WebFetch"]
    suite.case("a", {"wrote": exists("a.txt"), **OK}, front={"allowed_tools": names, "runs": 2})
    suite.case("b", {"ran": used("Bash")}, front={"allowed_tools": ["Bash", "Read"]})

    result = run(suite, [write("a.txt"), tool("Bash", command="ls")])

    check("not granted", result)
    told = [line for line in result.ours.stderr.splitlines() if "not granted:" in line]
    # Once a case, however many runs it has.
    assert len(told) == 2


def test_grant_that_is_taken_back(suite: Suite) -> None:
    suite.case("a", OK, front={"allowed_tools": ["Write", "Edit", "Read"]})
    options = ("--allow-tools", "Write", "Edit", "--disallow-tools", "Write")

    check("grant taken back", run(suite, [write("a.txt")], *options))


@pytest.fixture
def outside() -> Iterator[dict[str, str]]:
    """Return variables that put the run directories of both outside of ``/tmp``, below a home."""
    home = pwd.getpwuid(os.getuid()).pw_dir
    with tempfile.TemporaryDirectory(prefix="pe-", dir=home) as place:
        yield {"TMPDIR": place, "XDG_CACHE_HOME": f"{place}/c"}


SHELL_GRADERS = {
    "made": exists("a.txt"),
    "other": exists("b.txt"),
    "ran": used("Bash"),
    "grep": used("Grep"),
    "files": regex("a.txt", target="files"),
    "seen": regex("GRADER-MARK"),
}
SHELL_FRONT = {"allowed_tools": ["Bash", "Read", "Grep"], "timeout_seconds": 120}


@pytest.mark.parametrize(
    "grants",
    [
        ["Bash"],
        ["Bash(echo *)"],
        ["Bash(touch *)", "Write"],
        ["Bash", "WebFetch(domain:a.example)"],
    ],
    ids=" ".join,
)
def test_shell(suite: Suite, outside: dict[str, str], grants: list[str]) -> None:
    suite.case("a", SHELL_GRADERS, front=SHELL_FRONT)
    commands = (
        "echo one > a.txt",
        "touch b.txt",
        f"cat {suite.root}/evals/a/graders/seen.md",
        f"cd {suite.root} && cat e*/a/graders/seen.md",
        "echo x > ../../out/evil; echo x > ../../config/evil",
    )
    turns: list[TurnData] = [[tool("Bash", command=command)] for command in commands]

    result = compare(
        suite,
        script(rule(turns=[*turns, "done"])),
        *("--allow-tools", *grants),
        *ONE_ARM,
        env=outside,
    )

    check(f"shell with {' '.join(grants)}", result)


def test_shell_taken_away(suite: Suite) -> None:
    suite.case("a", SHELL_GRADERS, front=SHELL_FRONT)
    turns: list[TurnData] = [[tool("Bash", command="touch a.txt")], [tool("Grep", pattern="x")]]

    options = ("--allow-tools", "Bash", "--disallow-tools", "Bash", *ONE_ARM)
    result = compare(suite, script(rule(turns=[*turns, "done"])), *options)

    check("shell taken away", result)


def test_shell_below_tmp(suite: Suite) -> None:
    """The reference's run directories lie below ``/tmp``, where its own rule lets nobody write."""
    suite.case("a", {"made": exists("a.txt")}, front=SHELL_FRONT)
    answers = script(rule(turns=[[tool("Bash", command="touch a.txt")], "done"]))

    with tempfile.TemporaryDirectory(prefix="pe-", dir="/tmp") as place:
        env = {"TMPDIR": place, "XDG_CACHE_HOME": f"{place}/c"}
        result = compare(suite, answers, "--allow-tools", "Bash", *ONE_ARM, env=env)

    check("shell below /tmp", result, {"D14": BY_SCORE})


# Everything that follows from a grader that passes in one of both.
BY_SCORE = (
    "exit_code",
    "*.explanation",
    "*.passed",
    "*.score",
    "*.aggregates.*",
    "aggregates.*",
)
