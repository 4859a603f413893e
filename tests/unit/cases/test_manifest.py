"""What a plugin's manifest says of it and of its evals. Spec: behaviour-evals, 2.7 and 2.8."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_plugin_eval.cases.manifest import (
    manifest_notes,
    manifest_of,
    nearest_plugin,
    normalised_eval_dir,
    read_plugin,
)
from pytest_plugin_eval.errors import SettingsError
from tests.support.suites import write_tree

INVALID = {
    "no-name": "{}",
    "number": '{"name": 3}',
    "empty": '{"name": ""}',
    "space": '{"name": "a b"}',
    "control": '{"name": "p\\u0000"}',
    "version": '{"name": "p", "version": 3}',
    "version-null": '{"name": "p", "version": null}',
    "evals-number": '{"name": "p", "experimental": {"evals": 3}}',
    "evals-null": '{"name": "p", "experimental": {"evals": null}}',
    "commands": '{"name": "p", "commands": 3}',
    "skills": '{"name": "p", "skills": "nope"}',
    "list": "[]",
    "json": "{",
    "comment": '{"name": "p" /* x */}',
    "comma": '{"name": "p",}',
    "nan": '{"name": "p", "x": NaN}',
    "nothing": "",
    "deep": "[" * 100_000,
    "binary": "\udcff\udcfe",
}
VALID = {
    "plain": '{"name": "p"}',
    "bom": '\ufeff{"name": "p"}',
    "unknown": '{"name": "p", "zzz": 1, "description": 3}',
    "twice": '{"name": "q", "name": "p"}',
    "experimental": '{"name": "p", "experimental": 3}',
    "refused-evals": '{"name": "p", "experimental": {"evals": "../x"}}',
    "no-evals": '{"name": "p", "experimental": {"evals": []}}',
    "paths": '{"name": "p", "commands": "./c", "skills": ["./s"], "hooks": {}}',
}


def _plugin(root: Path, text: str, name: str = ".claude-plugin/plugin.json") -> Path:
    return write_tree(root, {name: text.encode("utf-8", "surrogateescape")})


@pytest.mark.parametrize("text", INVALID.values(), ids=INVALID)
def test_manifest_that_the_agent_refuses_is_a_problem_of_the_plugin(
    tmp_path: Path, text: str
) -> None:
    plugin = read_plugin(_plugin(tmp_path / "dir", text))

    assert (plugin.name, plugin.version, plugin.problem) == ("dir", None, "manifest_invalid")
    assert plugin.path == tmp_path / "dir"


@pytest.mark.parametrize("text", VALID.values(), ids=VALID)
def test_manifest_that_the_agent_accepts_is_no_problem(tmp_path: Path, text: str) -> None:
    plugin = read_plugin(_plugin(tmp_path, text))

    assert (plugin.name, plugin.problem) == ("p", None)


def test_manifest_at_the_root_names_only_the_eval_directory(tmp_path: Path) -> None:
    text = '{"name": "root", "version": "2", "experimental": {"evals": "qa"}}'
    _plugin(tmp_path, text, "plugin.json")

    manifest = manifest_of(str(tmp_path))

    # The agent calls such a plugin by its directory.
    assert (manifest.plugin.name, manifest.plugin.version) == (tmp_path.name, None)
    assert manifest.eval_dir == "qa"


def test_manifest_at_the_root_gives_way_to_the_other(tmp_path: Path) -> None:
    _plugin(tmp_path, '{"name": "root"}', "plugin.json")
    _plugin(tmp_path, '{"name": "inner"}')

    assert read_plugin(tmp_path).name == "inner"


def test_skill_folder_is_a_plugin_named_after_it(tmp_path: Path) -> None:
    write_tree(tmp_path, {"skill/SKILL.md": "", "skill/evals/a/prompt.md": ""})

    plugin = nearest_plugin(tmp_path / "skill" / "evals" / "a")

    assert plugin == read_plugin(tmp_path / "skill")
    assert plugin is not None
    assert (plugin.name, plugin.path) == ("skill", tmp_path / "skill")


def test_manifest_above_goes_before_a_nearer_skill_folder(tmp_path: Path) -> None:
    _plugin(tmp_path, '{"name": "outer"}')
    write_tree(tmp_path, {"skills/greet/SKILL.md": ""})

    plugin = nearest_plugin(tmp_path / "skills" / "greet")

    assert plugin is not None
    assert plugin.name == "outer"


def test_no_plugin_is_near(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a/b": ""})

    assert nearest_plugin(tmp_path / "a") is None


@pytest.mark.parametrize(
    ("value", "normal"),
    [
        ("qa", "qa"),
        ("./qa", "qa"),
        ("qa/", "qa"),
        ("quality//evals", "quality/evals"),
        ("qa/../qa", "qa"),
        ("qa\\evals", "qa/evals"),
        ("9_a.b-c@d+e", "9_a.b-c@d+e"),
    ],
)
def test_eval_dir_is_brought_into_one_spelling(value: str, normal: str) -> None:
    assert normalised_eval_dir(value) == normal


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("", "is empty"),
        (" ", "is empty"),
        (".", "is the plugin's root itself"),
        ("qa/..", "is the plugin's root itself"),
        ("..", "leaves the plugin's root"),
        ("qa/../../x", "leaves the plugin's root"),
        ("/qa", "is absolute"),
        ("C:\\qa", "is absolute"),
        ("\\qa", "is absolute"),
        ("q a", "has the part 'q a'"),
        ("~/qa", "has the part '~'"),
        ("qa/*", "has the part '*'"),
        (".qa", "has the part '.qa'"),
        ("qa\0", "has the part 'qa\\x00'"),
    ],
)
def test_eval_dir_is_refused_with_the_reason(value: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=r"^'") as caught:
        normalised_eval_dir(value)

    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("experimental", "eval_dir", "note"),
    [
        ({"evals": "./qa/"}, "qa", "using eval directory qa/ from {file}"),
        ({"evals": ["qa"]}, "qa", "using eval directory qa/ from {file}"),
        ({"evals": "evals"}, "evals", None),
        ({"zz": 1}, None, None),
        (
            {"evals": "../x"},
            None,
            "{file}: ignoring experimental.evals: '../x' leaves the plugin's root; using evals/",
        ),
        (
            {"evals": []},
            None,
            "{file}: ignoring experimental.evals: [] is not a string; using evals/",
        ),
    ],
)
def test_eval_dir_of_a_manifest(
    tmp_path: Path, experimental: object, eval_dir: str | None, note: str | None
) -> None:
    _plugin(tmp_path, json.dumps({"name": "p", "experimental": experimental}))
    file = tmp_path / ".claude-plugin" / "plugin.json"

    assert manifest_of(str(tmp_path)).eval_dir == eval_dir
    assert manifest_notes(tmp_path) == ((note.format(file=file),) if note else ())


def test_evals_at_the_top_of_a_manifest_is_told_where_it_belongs(tmp_path: Path) -> None:
    _plugin(tmp_path, '{"name": "p", "evals": "qa"}')

    assert manifest_notes(tmp_path) == (
        f"{tmp_path}/.claude-plugin/plugin.json: evals at the top level is ignored,"
        ' write "experimental": {"evals": "qa"}',
    )


def test_broken_manifest_is_told(tmp_path: Path) -> None:
    _plugin(tmp_path, "{}")

    assert manifest_notes(tmp_path) == (
        f"{tmp_path}/.claude-plugin/plugin.json: name must be a string without spaces, got None,"
        " so the plugin cannot be loaded",
    )


def test_evals_json_of_another_tool_is_named(tmp_path: Path) -> None:
    write_tree(tmp_path, {"evals/evals.json": "{}"})

    assert manifest_notes(tmp_path) == (
        f"{tmp_path}/evals/evals.json: is of another evaluation tool and is not read,"
        " expected a directory for each case with prompt.md or case.yaml",
    )
