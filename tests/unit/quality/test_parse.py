"""Reading of skills and plugins, and of what only looks like them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_plugin_eval.errors import QualityError
from pytest_plugin_eval.quality.parse import (
    PluginSource,
    SkillSource,
    read_plugin,
    read_skill,
    read_target,
)
from pytest_plugin_eval.quality.static import static_skill
from tests.support.suites import write_tree

SKILL = "---\nname: other\ndescription: Use this skill when a test is read.\n---\n\n# Body\n"
AGENT = "---\nname: a\ndescription: An agent of twenty letters.\n---\n"


def skill_of(root: Path, text: str | bytes, files: dict[str, str] | None = None) -> SkillSource:
    write_tree(root / "skill", {"SKILL.md": text, **(files or {})})
    return read_skill(root / "skill")


@pytest.mark.parametrize(
    "files",
    [
        {"SKILL.md": SKILL},
        {"SKILL.md": SKILL, ".claude-plugin/plugin.json": "{}"},
    ],
    ids=["skill", "skill-in-a-plugin-root"],
)
def test_directory_with_a_skill_file_is_a_skill(tmp_path: Path, files: dict[str, str]) -> None:
    write_tree(tmp_path, files)

    assert isinstance(read_target(tmp_path), SkillSource)


@pytest.mark.parametrize("marker", [".claude-plugin/x", ".claude-plugin"])
def test_directory_with_a_marker_is_a_plugin(tmp_path: Path, marker: str) -> None:
    write_tree(tmp_path, {marker: ""})

    source = read_target(str(tmp_path))

    assert isinstance(source, PluginSource)
    assert (source.name, source.skills, source.agents) == (tmp_path.name, (), ())


@pytest.mark.parametrize(
    ("path", "files", "said"),
    [
        ("gone", {}, "does not exist, expected a skill or plugin directory"),
        ("gone\0", {}, "does not exist, expected a skill or plugin directory"),
        ("gone/SKILL.md", {}, "does not exist, expected a skill or plugin directory"),
        ("a\x1b[31m\nb", {}, "does not exist, expected a skill or plugin directory"),
        ("x", {"x/README.md": ""},
         "SKILL.md is missing, expected a skill's SKILL.md file or a plugin's .claude-plugin"),
        ("x", {"x/SKILL.md/y": ""},
         "SKILL.md is a directory, expected a skill's SKILL.md file or a plugin's .claude-plugin"),
        ("f.md", {"f.md": SKILL},
         "is not a directory, expected that of a skill or plugin, or a SKILL.md"),
    ],
)  # fmt: skip
def test_path_that_is_neither_is_refused_in_one_line(
    tmp_path: Path, path: str, files: dict[str, str], said: str
) -> None:
    write_tree(tmp_path, files)

    with pytest.raises(QualityError) as caught:
        read_target(str(tmp_path / path))

    message = str(caught.value)
    assert message.startswith(str(tmp_path))
    assert message.endswith(said)
    assert message.isprintable()


@pytest.mark.parametrize("spelling", ["skill", "skill/", "./skill/../skill", "skill/SKILL.md"])
def test_spelling_of_a_path_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spelling: str
) -> None:
    write_tree(tmp_path, {"skill/SKILL.md": "skills/beside", "beside/x": ""})
    monkeypatch.chdir(tmp_path)

    source = read_target(spelling)

    assert source == read_skill(tmp_path / "skill")
    assert source.path == tmp_path.resolve() / "skill"


@pytest.mark.parametrize("spelling", [".", "SKILL.md", "../skill", "./."])
def test_skill_is_read_from_within(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spelling: str
) -> None:
    write_tree(tmp_path, {"skill/SKILL.md": "skills/beside", "beside/x": ""})
    monkeypatch.chdir(tmp_path / "skill")

    source = read_target(spelling)

    assert isinstance(source, SkillSource)
    assert (source.name, source.dead_cross_references) == ("skill", ())


def test_link_to_a_skill_is_the_skill(tmp_path: Path) -> None:
    write_tree(tmp_path, {"skills/real/SKILL.md": SKILL})
    (tmp_path / "link").symlink_to("skills/real")

    assert read_target(tmp_path / "link") == read_skill(tmp_path / "skills/real")


def test_skill_that_is_linked_into_a_plugin_has_the_name_of_the_link(tmp_path: Path) -> None:
    write_tree(tmp_path, {"store/x/SKILL.md": "skills/b", "p/skills/b/SKILL.md": SKILL})
    (tmp_path / "p/skills/a").symlink_to(tmp_path / "store/x")

    linked, _ = read_plugin(tmp_path / "p").skills

    assert (linked.name, linked.dead_cross_references) == ("a", ())


@pytest.mark.parametrize(
    ("text", "lines"), [("", 1), ("a", 1), ("a\n", 2), ("a\r\nb\rc\n\r", 5), ("\u2028\x0b", 1)]
)
def test_lines_end_at_line_feeds_whatever_they_were(tmp_path: Path, text: str, lines: int) -> None:
    assert skill_of(tmp_path, text).line_count == lines


@pytest.mark.parametrize("end", ["\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_byte_order_mark_change_no_number(
    tmp_path: Path, end: str, mark: str
) -> None:
    plain = skill_of(tmp_path / "plain", SKILL)

    odd = skill_of(tmp_path / "odd", mark + SKILL.replace("\n", end))

    assert (odd.content, odd.body, odd.fields) == (plain.content, plain.body, plain.fields)
    assert static_skill(odd) == static_skill(plain)


@pytest.mark.parametrize(
    ("text", "fields", "body"),
    [
        ("", {}, ""),
        ("# x\n---\na: b\n---\n", {}, "# x\n---\na: b\n---\n"),
        ("---\na: b\n", {}, "---\na: b\n"),
        ("---\n", {}, "---\n"),
        ("---", {}, "---"),
        ("---\n---\nx", {}, "\nx"),
        ("---\n\n# only a comment\n---", {}, ""),
        ("---\na: b\n---\nx", {"a": "b"}, "\nx"),
        ("--- \na: b\n---\t \nx\n---\n", {"a": "b"}, "\t \nx\n---\n"),
        ("---\na: b --- c\n---\nx", {"a": "b --- c"}, "\nx"),
        ("---\na: |\n  ---\n---\nx", {"a": "---\n"}, "\nx"),
        ("---\na: [\n---\nx", {}, "\nx"),
        ("---\n- a\n---\nx", {}, "\nx"),
        ("---\na\n---\nx", {}, "\nx"),
        ("---\na: b\na: c\n1: d\n---\n", {"a": "c"}, "\n"),
        ("---\na: yes\nb: 1:30\n---\n", {"a": True, "b": 90}, "\n"),
    ],
)
def test_frontmatter_ends_at_a_line_of_its_own(
    tmp_path: Path, text: str, fields: dict[str, object], body: str
) -> None:
    source = skill_of(tmp_path, text)

    assert (source.fields, source.body) == (fields, body)
    assert source.content[source.body_offset :] == body


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("", "empty"), ("null", "empty"), ("[a]", "a list"), ("{a: b}", "a mapping"), ("7", "7"),
        ("yes", "True"), ("1.5", "1.5"), ("!!binary aGk=", "b'hi'"),
        ("&a [*a]", "a list"), ("2026-01-31", "datetime.date(2026, 1, 31)"),
    ],
)  # fmt: skip
def test_description_that_is_no_text_counts_as_empty(tmp_path: Path, value: str, said: str) -> None:
    source = skill_of(tmp_path, f"---\ndescription: {value}\n---\n")

    assert source.description == ""
    assert source.problems == (
        f"{tmp_path}/skill/SKILL.md: description is {said}, expected text;"
        " it is scored as an empty one",
    )


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("x", "x"), ("7", 7), ("yes", True), ("1.5", 1.5), ("", None), ("''", ""), ("[]", ""),
        (".nan", "nan"), (".inf", "inf"), ("2026-01-31", "2026-01-31"), ("[a, 1]", "['a', 1]"),
    ],
)  # fmt: skip
def test_name_of_any_type_is_one_that_a_report_can_hold(
    tmp_path: Path, value: str, name: object
) -> None:
    source = skill_of(tmp_path, f"---\nname: {value}\n---\n")

    assert source.name == name
    assert static_skill(source).metadata["skill_name"] == name


def test_name_that_holds_itself_many_times_is_cut(tmp_path: Path) -> None:
    bomb = "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 60))

    source = skill_of(tmp_path, f"---\na0: &a0 [x]\n{bomb}name: *a59\n---\n")

    assert len(str(source.name)) < 1000
    assert len(source.fields) == 61


@pytest.mark.parametrize(
    ("frontmatter", "said"),
    [
        ("a: [", "is no readable YAML, so it gives no fields: line 3: "),
        ("\x00", "is no readable YAML, so it gives no fields: "),
        ("a: 2026-13-45", "is no readable YAML, so it gives no fields: month must be in 1..12"),
        ("a: !x y", "is no readable YAML, so it gives no fields: the tag '!x' is unknown here"),
        ("a: " + "[" * 5000, "is no readable YAML, so it gives no fields: "),
        ("- a", "is a list, expected fields such as 'name: ...'"),
        ("a", "is a single value, expected fields such as 'name: ...'"),
    ],
)
def test_frontmatter_without_fields_is_told(tmp_path: Path, frontmatter: str, said: str) -> None:
    source = skill_of(tmp_path, f"---\n{frontmatter}\n---\nbody")

    assert (source.fields, source.body) == ({}, "\nbody")
    (problem,) = source.problems
    assert problem.startswith(f"{tmp_path}/skill/SKILL.md: the frontmatter {said}")
    assert problem.isprintable()


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b"\xff", "byte 0 (0xff)"),
        (b"---\nname: \xe9\n---\n", "byte 10 (0xe9)"),
        (b"ok \xed\xa0\x80", "byte 3 (0xed)"),
        ("x".encode("utf-16"), "byte 0 (0xff)"),
        (b"cut \xe2\x82", "byte 4 (0xe2)"),
    ],
)
def test_text_that_is_not_utf_8_is_refused_at_its_byte(
    tmp_path: Path, data: bytes, where: str
) -> None:
    with pytest.raises(QualityError) as caught:
        skill_of(tmp_path, data)

    assert str(caught.value) == (
        f"{tmp_path}/skill/SKILL.md: is not UTF-8 at {where}, expected a text file in UTF-8"
    )


@pytest.mark.parametrize("entry", ["references", "assets"])
def test_file_in_place_of_a_directory_is_as_if_absent(tmp_path: Path, entry: str) -> None:
    source = skill_of(tmp_path, SKILL, {entry: "x"})

    assert (source.has_references, source.has_assets) == (False, False)
    assert source.problems == (
        f"{tmp_path}/skill/{entry}: is a file, expected a directory; it is ignored",
    )


def test_files_beside_a_skill_are_listed_and_never_read(tmp_path: Path) -> None:
    write_tree(tmp_path / "skill", {"SKILL.md": SKILL, "references/sub/x": "", "real": ""})
    references = tmp_path / "skill/references"
    (references / "binary").write_bytes(b"\xff\x00")
    (references / "linked").symlink_to("../real")
    (references / "broken").symlink_to("gone")
    (references / "loop").symlink_to("loop")
    os.mkfifo(references / "pipe")
    (tmp_path / "skill/assets").mkdir()

    source = read_skill(tmp_path / "skill")

    assert source.reference_files == ("binary", "linked")
    assert (source.has_references, source.has_assets, source.asset_files) == (True, True, ())
    assert source.problems == ()


def test_link_to_nothing_is_no_entry(tmp_path: Path) -> None:
    write_tree(tmp_path / "skill", {"SKILL.md": SKILL})
    (tmp_path / "skill/references").symlink_to("gone")

    assert not read_skill(tmp_path / "skill").has_references


def test_cross_reference_that_is_too_long_for_a_path_is_dead(tmp_path: Path) -> None:
    long = "a" * 5000

    source = skill_of(tmp_path, f"skills/{long} sub-skills/{long} skills/{'a/' * 5000}a")

    assert len(source.dead_cross_references) == 3


def test_pipe_in_place_of_a_skill_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "SKILL.md")

    with pytest.raises(QualityError) as caught:
        read_target(tmp_path)

    assert str(caught.value) == f"{tmp_path}/SKILL.md: cannot be read: it is no regular file"


@pytest.mark.parametrize("entry", ["references", "assets"])
def test_pipe_in_place_of_a_directory_is_not_waited_for(tmp_path: Path, entry: str) -> None:
    write_tree(tmp_path, {"SKILL.md": SKILL})
    os.mkfifo(tmp_path / entry)

    (problem,) = read_skill(tmp_path).problems

    assert problem == f"{tmp_path}/{entry}: is a file, expected a directory; it is ignored"
