"""What a target names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pytest_plugin_eval.cli.target import TargetError, resolve_target
from tests.support.suites import write_tree


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a plugin with cases in several places; tests stand in the directory above it."""
    root = tmp_path / "plug"
    cases = (
        *("evals/a", "evals/grp/b", "skills/greet/evals/e", "scratch/d"),
        *("sub/.claude-plugin/evals/f", "qa/g"),
    )
    for case in cases:
        (root / case).mkdir(parents=True)
        (root / case / "prompt.md").write_text("Hi")
    (root / ".claude-plugin").mkdir()
    (root / ".claude-plugin" / "plugin.json").write_text('{"name": "plug"}')
    (root / "skills/greet/SKILL.md").write_text("---\nname: greet\n---\n")
    (root / "notes.txt").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    return root


@pytest.mark.parametrize(
    ("target", "root", "paths"),
    [
        ("plug", ".", ["evals", "skills/greet/evals", "sub/.claude-plugin/evals"]),
        ("plug/", ".", ["evals", "skills/greet/evals", "sub/.claude-plugin/evals"]),
        ("plug/evals", ".", ["evals"]),
        ("plug/evals/a", ".", ["evals/a"]),
        ("plug/evals/a/prompt.md", ".", ["evals/a"]),
        ("plug/evals/grp", ".", ["evals/grp"]),
        ("plug/skills", ".", ["skills/greet/evals"]),
        ("plug/skills/greet", "skills/greet", ["skills/greet/evals"]),
        ("plug/scratch/d/prompt.md", ".", ["scratch/d"]),
    ],
)
def test_target(plugin: Path, target: str, root: str, paths: list[str]) -> None:
    found = resolve_target(target, None)

    assert found.root == plugin / root
    assert list(found.paths) == [plugin / path for path in paths]


@pytest.mark.parametrize("target", ["", "."])
def test_working_directory(plugin: Path, monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    monkeypatch.chdir(plugin / "evals")

    found = resolve_target(target, None)

    assert (found.root, found.paths) == (plugin, (plugin / "evals",))
    assert found.notes == (f"evaluating the plugin in {plugin}, which the target lies in",)


def test_eval_dir_of_another_name(plugin: Path) -> None:
    found = resolve_target("plug", "qa")

    assert (found.eval_dir, found.paths) == ("qa", (plugin / "qa",))


def test_case_file_outside_writes_into_the_plugins_results(plugin: Path) -> None:
    found = resolve_target("plug/scratch/d/prompt.md", None)

    assert (found.eval_dir, found.results_base) == ("scratch/d", plugin / "evals" / "results")


def test_case_file_of_no_plugin(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "prompt.md").write_text("Hi")

    found = resolve_target(str(tmp_path / "x" / "prompt.md"), None)

    assert (found.root, found.eval_dir, found.notes) == (tmp_path, "x", ())


@pytest.fixture
def env(plugin: Path, tmp_path: Path) -> dict[str, str]:
    """Return an environment whose configuration directory has the plugin installed as `mine`."""
    installs = {"mine@shop": [{"installPath": str(plugin)}], "gone@shop": [{"installPath": "/no"}]}
    twins = {f"twin@{shop}": [{"installPath": str(plugin)}] for shop in ("a", "b")}
    content = json.dumps({"version": 2, "plugins": {**installs, **twins}})
    write_tree(tmp_path, {"config/plugins/installed_plugins.json": content})
    return {"CLAUDE_CONFIG_DIR": str(tmp_path / "config")}


@pytest.mark.parametrize(
    ("text", "eval_dir", "paths", "results"),
    [
        ("mine", None, ["evals", "skills/greet/evals", "sub/.claude-plugin/evals"], "evals"),
        ("mine@shop", None, ["evals", "skills/greet/evals", "sub/.claude-plugin/evals"], "evals"),
        ("mine@shop", "qa", ["qa"], "qa"),
    ],
)
def test_installed_plugin(
    plugin: Path,
    tmp_path: Path,
    env: dict[str, str],
    text: str,
    eval_dir: str | None,
    paths: list[str],
    results: str,
) -> None:
    found = resolve_target(text, eval_dir, env=env)

    assert (found.root, found.plugin_id, found.eval_dir) == (plugin, "mine@shop", eval_dir)
    assert list(found.paths) == [plugin / path for path in paths]
    assert found.results_base == tmp_path / results / "results"
    assert found.notes == (f"evaluating the installed plugin mine@shop in {plugin}",)


def test_name_goes_before_a_directory_and_says_so(
    plugin: Path, tmp_path: Path, env: dict[str, str]
) -> None:
    shutil.copytree(plugin, tmp_path / "mine")

    by_name, by_path = (resolve_target(text, None, env=env) for text in ("mine", "./mine"))

    assert (by_name.root, by_path.root) == (plugin, tmp_path / "mine")
    assert by_name.notes[-1] == ("for what is called mine in the working directory, say ./mine")
    assert (by_path.plugin_id, by_path.results_base) == (None, None)


@pytest.mark.parametrize(
    ("text", "eval_dir", "message", "root", "plugin_id"),
    [
        (
            "mine",
            "none",
            "no eval cases found below {plugin}: expected none/<case>/prompt.md or case.yaml "
            "(named by --eval-dir)",
            "{plugin}",
            "mine@shop",
        ),
        (
            "gone",
            None,
            "gone@shop: is installed in /no, which is not there; install it again",
            "/no",
            "gone@shop",
        ),
        (
            "twin",
            None,
            "twin: is the name of 2 installed plugins, expected one of twin@a, twin@b",
            None,
            None,
        ),
        (
            "mime",
            None,
            "mime: no such file or directory, and no plugin of that name is installed in "
            "{base}/config, did you mean 'mine'?",
            "{base}/mime",
            None,
        ),
    ],
)
def test_name_with_nothing_to_run(
    plugin: Path,
    tmp_path: Path,
    env: dict[str, str],
    text: str,
    eval_dir: str | None,
    message: str,
    root: str | None,
    plugin_id: str | None,
) -> None:
    with pytest.raises(TargetError) as caught:
        resolve_target(text, eval_dir, env=env)

    places = {"plugin": plugin, "base": tmp_path}
    assert str(caught.value) == message.format_map(places)
    assert caught.value.root == (root and Path(root.format_map(places)))
    assert caught.value.plugin_id == plugin_id


def test_very_long_name_is_no_place(plugin: Path, env: dict[str, str]) -> None:
    with pytest.raises(TargetError, match="no such file or directory"):
        resolve_target("x" * 5000, None, env=env)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("plug/none", "plug/none: no such file or directory"),
        (
            "plug/notes.txt",
            "plug/notes.txt: is a file, expected a directory or a case's prompt.md or case.yaml",
        ),
        (
            "plug/scratch",
            "no eval cases found below {plugin}/scratch: expected evals/<case>/prompt.md or "
            "case.yaml (at any depth; --eval-dir names another)",
        ),
    ],
)
def test_nothing_to_run(plugin: Path, target: str, message: str) -> None:
    with pytest.raises(TargetError) as caught:
        resolve_target(target, None)

    assert str(caught.value) == message.format(plugin=plugin)
