"""The names of a plugin's skills."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.cases.case import Plugin
from pytest_plugin_eval.cases.plugin_skills import Skill, declared_skills
from tests.support.suites import write_tree


def _skills(root: Path, files: dict[str, str]) -> tuple[Skill, ...]:
    return declared_skills((Plugin(name="demo", path=write_tree(root, files)),))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("---\nname: greet\ndescription: x\n---\nHi\n", [("greet", False)]),
        ("---\nname: 'other'\n---\n", [("greet", False), ("other", False)]),
        ('---\r\nname: "other" # so\r\n---\r\n', [("greet", False), ("other", False)]),
        ("\ufeff---\nname: other\n---\n", [("greet", False), ("other", False)]),
        ("---\ndisable-model-invocation: true\n---\n", [("greet", True)]),
        ("---\ndisable-model-invocation: false\n---\n", [("greet", False)]),
        ("no frontmatter\nname: other\n", [("greet", False)]),
        ("---\nname: never closed\n", [("greet", False)]),
        ("", [("greet", False)]),
    ],
)
def test_skill_is_known_by_its_folder_and_its_own_name(
    tmp_path: Path, content: str, expected: list[tuple[str, bool]]
) -> None:
    found = _skills(tmp_path, {"skills/greet/SKILL.md": content})

    assert found == tuple(Skill("demo", name, user_only) for name, user_only in expected)


def test_skills_are_those_with_a_file(tmp_path: Path) -> None:
    found = _skills(
        tmp_path,
        {
            "skills/b/SKILL.md": "",
            "skills/a/SKILL.md": "",
            "skills/c/README.md": "",
            "skills/README.md": "",
        },
    )

    assert [skill.name for skill in found] == ["a", "b"]


def test_bare_skill_folder_is_a_skill(tmp_path: Path) -> None:
    found = _skills(tmp_path / "greet", {"SKILL.md": "---\nname: greet\n---\n"})

    assert [skill.name for skill in found] == ["greet"]


def test_plugin_without_skills_has_none(tmp_path: Path) -> None:
    assert _skills(tmp_path, {"README.md": ""}) == ()


def test_skills_are_read_once_a_plugin(tmp_path: Path) -> None:
    before = _skills(tmp_path, {"skills/a/SKILL.md": ""})

    (tmp_path / "skills" / "a" / "SKILL.md").unlink()

    assert declared_skills((Plugin(name="demo", path=tmp_path),)) == before
