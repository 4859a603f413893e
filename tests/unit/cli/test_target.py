"""What a target names."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.cli.target import TargetError, resolve_target


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
    assert found.note == f"evaluating the plugin in {plugin}, which the target lies in"


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

    assert (found.root, found.eval_dir, found.note) == (tmp_path, "x", None)


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
