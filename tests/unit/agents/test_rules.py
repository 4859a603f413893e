"""What the agent may read and write."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.agents.grants import ToolEntry
from pytest_plugin_eval.agents.rules import allow_rules, deny_rules, hidden_directories
from pytest_plugin_eval.agents.sandbox import Sandbox
from pytest_plugin_eval.records.model import Arm
from tests.support.agents import make_case, write_files, write_plugin

RUN = Sandbox(Path("/runs/eval-1"))
READ = ToolEntry("Read")


def test_listing_one_reading_tool_grants_all_three_below_home_and_tmp(tmp_path: Path) -> None:
    case = make_case(write_plugin(tmp_path))

    assert allow_rules(case, Arm.WITHOUT, RUN, [ToolEntry("Skill"), ToolEntry("Grep")]) == (
        "Skill",
        "Read(//runs/eval-1/home/**)",
        "Glob(//runs/eval-1/home/**)",
        "Grep(//runs/eval-1/home/**)",
        "Read(//runs/eval-1/tmp/**)",
        "Glob(//runs/eval-1/tmp/**)",
        "Grep(//runs/eval-1/tmp/**)",
    )


def test_with_arm_reads_the_plugin_entry_by_entry_but_not_the_suite(tmp_path: Path) -> None:
    root = write_plugin(tmp_path, {".git/HEAD": "", "docs/a.md": ""})

    rules = allow_rules(make_case(root), Arm.WITH, RUN, [READ])

    assert [rule for rule in rules if str(root) in rule and rule.startswith("Read")] == [
        f"Read(/{root}/.claude-plugin/**)",
        f"Read(/{root}/CLAUDE.md)",
        f"Read(/{root}/agents/**)",
        f"Read(/{root}/docs/**)",
        f"Read(/{root}/hooks/**)",
        f"Read(/{root}/notes.txt)",
        f"Read(/{root}/skills/**)",
    ]


def test_entries_beside_a_deeper_eval_directory_are_granted_one_by_one(tmp_path: Path) -> None:
    root = write_plugin(tmp_path, {"quality/notes.txt": "", "quality/checks/c/prompt.md": ""})
    case = make_case(root, eval_dir=root / "quality" / "checks")

    rules = allow_rules(case, Arm.WITH, RUN, [READ])

    assert f"Read(/{root}/quality/notes.txt)" in rules
    assert f"Read(/{root}/quality/**)" not in rules
    assert [rule for rule in rules if "evals" in rule or "checks" in rule] == []


def test_hidden_directory_of_the_request_is_not_granted(tmp_path: Path) -> None:
    root = write_plugin(tmp_path, {"results/1/trace.jsonl": ""})
    hidden = (root / "results",)

    allowed = allow_rules(make_case(root), Arm.WITH, RUN, [READ], hidden)
    denied = deny_rules(make_case(root), RUN, hidden)

    assert [rule for rule in allowed if "results" in rule] == []
    assert f"Read(/{root}/results/**)" in denied


@pytest.mark.parametrize(
    ("entry", "rules"),
    [
        (ToolEntry("Read", "foo/**"), ("Read(//runs/eval-1/home/cwd/foo/**)",)),
        (ToolEntry("Read", "./foo/x"), ("Read(//runs/eval-1/home/cwd/foo/x)",)),
        (ToolEntry("Write", "b"), ("Write(//runs/eval-1/home/cwd/**/b)",)),
        (ToolEntry("Read", "//etc/**"), ("Read(//etc/**)",)),
        (ToolEntry("Skill", "demo:greet"), ("Skill(demo:greet)",)),
        (ToolEntry("mcp__a__*"), ("mcp__a__*",)),
    ],
)
def test_patterns_of_the_workspace(
    entry: ToolEntry, rules: tuple[str, ...], tmp_path: Path
) -> None:
    assert allow_rules(make_case(tmp_path), Arm.WITHOUT, RUN, [entry]) == rules


@pytest.mark.parametrize(
    ("granted", "tools"),
    [
        (("Edit",), ("Edit",)),
        (("Write",), ("Edit", "Write")),
        (("NotebookEdit",), ("Edit", "NotebookEdit")),
        (("Write", "Edit"), ("Edit", "Write")),
    ],
)
def test_writing_reaches_workspace_and_tmp(
    granted: tuple[str, ...], tools: tuple[str, ...], tmp_path: Path
) -> None:
    entries = [ToolEntry(name) for name in granted]

    rules = allow_rules(make_case(tmp_path), Arm.WITHOUT, RUN, entries)

    places = ("//runs/eval-1/home/cwd/**", "//runs/eval-1/tmp/**")
    assert rules == tuple(f"{tool}({place})" for place in places for tool in tools)


def test_suite_and_harness_are_denied_in_both_arms(tmp_path: Path) -> None:
    root = write_plugin(tmp_path)

    rules = deny_rules(make_case(root), RUN)

    for rule in (
        "Read(//runs/eval-1/config/**)",
        "Edit(//runs/eval-1/out/**)",
        "Edit(//runs/eval-1/home/cwd/.git/**)",
        f"Edit(/{root}/**)",
        f"Read(/{root}/evals)",
        f"Read(/{root}/evals/**)",
        f"Edit(/{root}/evals/**)",
        f"Read(/{root}/.git/**)",
        "Read(//proc/**)",
    ):
        assert rule in rules


def test_other_eval_directories_stay_hidden(tmp_path: Path) -> None:
    manifest = '{"name": "demo", "experimental": {"evals": "quality/named"}}'
    root = write_files(tmp_path, {".claude-plugin/plugin.json": manifest})
    case = make_case(root, eval_dir=root / "quality" / "asked")

    assert hidden_directories(case) == (
        root / "quality" / "asked",
        root / "evals",
        root / "quality" / "named",
    )


def test_linked_eval_directory_is_denied_by_both_names(tmp_path: Path) -> None:
    root = write_plugin(tmp_path / "plugin", {"elsewhere/hello/prompt.md": ""})
    (root / "linked").symlink_to(root / "elsewhere")
    case = make_case(root, eval_dir=root / "linked")

    denied = deny_rules(case, RUN)
    allowed = allow_rules(case, Arm.WITH, RUN, [READ])

    assert f"Read(/{root}/linked/**)" in denied
    assert f"Read(/{root}/elsewhere/**)" in denied
    assert [rule for rule in allowed if "/linked" in rule or "elsewhere" in rule] == []


def test_characters_that_rules_read_otherwise_are_wildcards(tmp_path: Path) -> None:
    root = write_plugin(tmp_path / r"a[b]\c*d")

    assert f"Read(/{tmp_path}/a?b??c?d/evals/**)" in deny_rules(make_case(root), RUN)


def test_repository_around_the_plugin_is_denied(tmp_path: Path) -> None:
    root = write_plugin(tmp_path / "repo" / "plugins" / "demo", {"../../.git/HEAD": ""})

    rules = deny_rules(make_case(root), RUN)

    assert f"Read(/{tmp_path}/repo/.git/**)" in rules
    assert f"Edit(/{tmp_path}/repo/.git/**)" in rules


def test_repository_of_a_worktree_is_denied_where_it_lies(tmp_path: Path) -> None:
    kept = tmp_path / "main" / ".git" / "worktrees" / "tree"
    root = write_plugin(tmp_path / "tree", {".git": f"gitdir: {kept}\n"})
    write_files(kept, {"commondir": "../..\n"})

    rules = deny_rules(make_case(root), RUN)

    assert f"Read(/{kept}/**)" in rules
    assert f"Read(/{tmp_path}/main/.git/**)" in rules


def test_submodule_names_its_repository_relatively(tmp_path: Path) -> None:
    root = write_plugin(
        tmp_path / "whole" / "sub",
        {".git": "gitdir: ../.git/modules/sub\n", "../.git/modules/sub/HEAD": ""},
    )

    assert f"Read(/{tmp_path}/whole/.git/modules/sub/**)" in deny_rules(make_case(root), RUN)


@pytest.mark.parametrize("text", ["", "gitdir:", "something else"])
def test_file_called_git_that_names_nothing_is_denied_itself(tmp_path: Path, text: str) -> None:
    root = write_plugin(tmp_path / "demo", {".git": text})

    assert f"Read(/{root}/.git)" in deny_rules(make_case(root), RUN)


@pytest.mark.parametrize(
    "entry",
    [
        ToolEntry("Bash"),
        ToolEntry("Bash", "git *"),
        ToolEntry("WebFetch", "domain:x.com"),
        ToolEntry("mcp__plugin_a_b__*"),
    ],
)
def test_grants_without_a_path_are_rules_as_they_are(entry: ToolEntry, tmp_path: Path) -> None:
    assert allow_rules(make_case(tmp_path), Arm.WITHOUT, RUN, [entry]) == (str(entry),)
