"""Cross references, what is not portable, and the anti-patterns, rule by rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.quality.counts import counts_of
from pytest_plugin_eval.quality.parse import read_skill
from pytest_plugin_eval.quality.static.anti_patterns import anti_patterns
from pytest_plugin_eval.quality.static.portability import harness_portability
from tests.support.suites import write_tree

GOOD = "Use this skill when a test needs one more line of text."
"""A description that raises no flag."""


def front(description: str = GOOD, more: str = "") -> str:
    return f'---\nname: other\ndescription: "{description}"\n{more}---\n'


def flags_of(root: Path, text: str, files: dict[str, str] | None = None) -> list[str]:
    write_tree(root / "skill", {"SKILL.md": text, **(files or {})})
    return [entry.flag for entry in anti_patterns(read_skill(root / "skill"))]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("skills/a", ("a",)),
        ("skill/a skill/a", ("a", "a")),
        ("sub-skills/a", ("sub-skills/a",)),
        ("sub-skill/a", ()),
        ("plugins/p/skills/x", ("x",)),
        ("skills/x/SKILL.md", ("x",)),
        ("skills/x.md", ("x",)),
        ("skills/Ghost", ()),
        ("skills/a/b-1/2", ("a/b-1/2",)),
        ("skills/7", ("7",)),
        ("xskills/a -skills/a _skill/a éskills/a", ()),
        ("xskills/skills/a", ("a",)),
        ("skills/skill/a", ("skill/a",)),
        ("skill/skills/a", ("skills/a",)),
        ("skills/sub-skills/a", ("sub-skills/a",)),
        ("see skills/agents in prose", ("agents",)),
        ("skills//a skills/", ()),
        ("Skills/a", ()),
    ],
)
def test_cross_references(body: str, found: tuple[str, ...]) -> None:
    assert counts_of(body, body).cross_references == found


def test_frontmatter_has_no_cross_references(tmp_path: Path) -> None:
    text = front("See skills/ghost when a test needs it, use when") + "x"

    assert flags_of(tmp_path, text) == []


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("use `Read`", {"CLAUDE_TOOL_REFS": -0.02}),
        ("VIA\n`Read`", {"CLAUDE_TOOL_REFS": -0.02}),
        ("`Read` tool", {"CLAUDE_TOOL_REFS": -0.02}),
        ("`TodoWrite`\n tool", {"CLAUDE_TOOL_REFS": -0.02}),
        ("use `bash`, use `Bash`", {"CLAUDE_TOOL_REFS": -0.04}),
        ("use `Bash`, use `Bash`", {"CLAUDE_TOOL_REFS": -0.02}),
        ("".join(f"call `{x}` " for x in ("LS", "LSP", "Task", "Glob", "Grep", "Edit")),
         {"CLAUDE_TOOL_REFS": -0.10}),
        ("the `Read` tool", {"CLAUDE_TOOL_REFS": -0.02, "CLAUDE_TOOL_PROSE": -0.05}),
        ("The Read tool", {"CLAUDE_TOOL_PROSE": -0.05}),
        ("the\nWebFetch` tool", {"CLAUDE_TOOL_PROSE": -0.05}),
        ("the read tool", {}),
        ("the Read tools", {}),
        ("lathe Read tool", {}),
        ("reuse `Read`, `Read` tools, a `Read`, use ``Read``, use `Reads`", {}),
        ("use Read", {}),
        ("x" * 8192, {}),
        ("x" * 8193, {"SKILL_OVER_CODEX_CAP": -0.15}),
        ("é" * 4096, {}),
        ("é" * 4097, {"SKILL_OVER_CODEX_CAP": -0.15}),
    ],
)  # fmt: skip
def test_findings_of_portability(text: str, loss: dict[str, float]) -> None:
    parts = harness_portability(text, has_references=False).parts

    assert {part: points for part, points in parts.items() if points and part != "base"} == loss


def test_portability_loses_no_more_than_its_findings() -> None:
    text = "the `Read` tool " + "".join(
        f"call `{name}` " for name in ("LS", "LSP", "Task", "Glob", "Grep", "Edit")
    )

    found = harness_portability(text + "x" * 9000, has_references=False)

    assert found.score == pytest.approx(0.70)


def test_references_lift_the_cap_of_portability() -> None:
    assert harness_portability("x" * 9000, has_references=True).score == 1.0


@pytest.mark.parametrize(
    ("text", "files", "flags"),
    [
        (front(), {}, []),
        (front() + "MUST " * 15, {}, []),
        (front() + "MUST " * 16, {}, ["OVER_CONSTRAINED"]),
        (front("Use when it is late."), {}, []),
        (front("Use when it is late"), {}, ["EMPTY_DESCRIPTION"]),
        ("", {}, ["EMPTY_DESCRIPTION", "MISSING_TRIGGER"]),
        (front("A description without such words."), {}, ["MISSING_TRIGGER"]),
        (front("A long description of it.", "disable-model-invocation: true\n"), {}, []),
        (front("A long description of it.", "disable-model-invocation: yes\n"), {}, []),
        (front("A long description of it.", "disable-model-invocation: 'true'\n"), {},
         ["MISSING_TRIGGER"]),
        (front("A long description of it.", "disable-model-invocation: 1\n"), {},
         ["MISSING_TRIGGER"]),
        (front("A long description of it.", "paths: src\n"), {}, []),
        (front("A long description of it.", "paths: ''\n"), {}, ["MISSING_TRIGGER"]),
        (front("A long description of it.", "paths: [src]\n"), {}, ["MISSING_TRIGGER"]),
        (front() + "\n" * 795, {}, []),
        (front() + "\n" * 796, {}, ["BLOATED_SKILL"]),
        (front() + "\n" * 796, {"references/sub/a": ""}, []),
        (front() + "(references/a.md)", {}, []),
        (front() + "(references/a.md)", {"references/A.MD": ""}, []),
        (front() + "(references/a.md)", {"references/b.md": ""}, ["ORPHAN_REFERENCE"]),
        (front() + "(references/a.md#x) (references/a.md 'x')", {"references/a.md": ""},
         ["ORPHAN_REFERENCE"] * 2),
        (front() + "(references/sub/a.md)", {"references/sub/a.md": ""}, ["ORPHAN_REFERENCE"]),
        (front() + "(references/other/a.md)", {"references/a.md": ""}, []),
        (front() + "(./references/x) references/x (references/)", {"references/a": ""}, []),
        (front() + "(references/\nx\n)", {"references/a": ""}, ["ORPHAN_REFERENCE"]),
        (front() + "(references/x", {"references/a": ""}, []),
        (front() + "(references/(references/x)", {"references/x": ""}, []),
        (front() + "skills/a skills/a", {}, ["DEAD_CROSS_REF"] * 2),
        (front() + "skills/skill skills/there skills/there/f", {"../there/f": ""}, []),
        (front() + "sub-skills/in sub-skills/out", {"sub-skills/in/SKILL.md": ""},
         ["DEAD_CROSS_REF"]),
        (front() + "sub-skills/out", {"../sub-skills/out/SKILL.md": ""}, []),
        (front() + "skills/in", {"in/SKILL.md": ""}, ["DEAD_CROSS_REF"]),
    ],
)  # fmt: skip
def test_anti_patterns(tmp_path: Path, text: str, files: dict[str, str], flags: list[str]) -> None:
    assert flags_of(tmp_path, text, files) == flags


def test_entries_say_what_was_found_and_the_limit(tmp_path: Path) -> None:
    text = "---\ndescription: short\n---\n" + "NEVER " * 16 + "(references/x.md) skills/gone"
    write_tree(tmp_path / "skill", {"SKILL.md": text, "references/a.md": ""})

    entries = anti_patterns(read_skill(tmp_path / "skill"))

    assert [(entry.description, entry.severity) for entry in entries] == [
        ("MUST, NEVER and ALWAYS stand 16 times, expected at most 15", 0.10),
        ("the description has 5 characters, expected at least 20", 0.10),
        (
            "the description does not say when to load the skill, expected words such as"
            " 'Use this skill when'",
            0.15,
        ),
        ("the link to 'references/x.md' leads to no file directly in references", 0.05),
        ("the cross reference 'gone' leads to nothing", 0.05),
    ]
