"""What is said of a plugin before anything is asked."""

from __future__ import annotations

import json
from pathlib import Path

from pytest_plugin_eval.authoring.view import found_lines, view_of
from tests.support.proposals import plugin_files
from tests.support.suites import write_tree


def test_plugin_is_told_with_all_that_is_in_it(tmp_path: Path) -> None:
    view = view_of(write_tree(tmp_path, plugin_files()))

    assert list(found_lines(view)) == [
        "plugin demo: 1 skill, 1 agent, 1 MCP server",
        "  skill greet: Greets people in French",
        "  agent host: Welcomes guests",
        "  MCP server door",
    ]


def test_skill_folder_is_a_plugin_of_its_own(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "greet", {"SKILL.md": "---\ndescription: Greets\n---\n"})

    view = view_of(root)

    assert (view.name, [skill.name for skill in view.skills]) == ("greet", ["greet"])


def test_skill_goes_by_its_own_name_and_by_its_directory(tmp_path: Path) -> None:
    text = "---\nname: welcome\ndisable-model-invocation: true\n---\n"
    root = write_tree(tmp_path, {**plugin_files(), "skills/greet/SKILL.md": text})

    (skill,) = view_of(root).skills

    assert (skill.name, skill.aliases, skill.user_only) == ("welcome", ("welcome", "greet"), True)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    root = write_tree(tmp_path, plugin_files())
    view = view_of(write_tree(root, {"skills/odd/SKILL.md": b"\xff\xfe"}))

    lines = list(found_lines(view))

    assert [skill.name for skill in view.skills] == ["greet"]
    assert lines[-1].startswith("  warning: ")
    assert "odd" in lines[-1]


def test_long_and_hostile_descriptions_take_one_line(tmp_path: Path) -> None:
    text = f"---\nname: greet\ndescription: {json.dumps(chr(27) + '[2J' + 'x ' * 500)}\n---\n"
    root = write_tree(tmp_path, {**plugin_files(), "skills/greet/SKILL.md": text})

    line = list(found_lines(view_of(root)))[1]

    assert len(line) < 220
    assert line.isprintable()
