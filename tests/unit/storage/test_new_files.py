"""Directories that stay only where somebody says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.storage.new_files import NewDirectories

FILES = {"prompt.md": "Hi\n", "graders/a.md": "---\ntype: llm\n---\n"}


def _tree(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


def test_what_is_not_kept_goes_with_the_directories_made_for_it(tmp_path: Path) -> None:
    with NewDirectories() as new:
        new.write(tmp_path / "evals/group/a", FILES)
        assert (tmp_path / "evals/group/a/graders/a.md").read_text("utf-8") == FILES["graders/a.md"]

    assert _tree(tmp_path) == []
    assert new.left == ()


def test_what_is_kept_stays(tmp_path: Path) -> None:
    with NewDirectories() as new:
        new.write(tmp_path / "evals/a", FILES)
        new.write(tmp_path / "evals/b", FILES)
        new.keep(tmp_path / "evals/b")

    assert _tree(tmp_path / "evals") == ["b", "b/graders", "b/graders/a.md", "b/prompt.md"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, SystemExit])
def test_whatever_ends_it_nothing_is_left(error: type[BaseException], tmp_path: Path) -> None:
    def interrupted() -> None:
        with NewDirectories() as new:
            new.write(tmp_path / "evals/a", FILES)
            raise error

    with pytest.raises(error):
        interrupted()

    assert _tree(tmp_path) == []


def test_interruption_in_the_middle_of_writing_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(directory: Path, files: object) -> None:
        directory.mkdir(parents=True)
        (directory / "prompt.md").write_text("Hi\n", "utf-8")
        raise KeyboardInterrupt

    monkeypatch.setattr("pytest_plugin_eval.storage.new_files.write_new_directory", cut_off)

    with pytest.raises(KeyboardInterrupt), NewDirectories() as new:
        new.write(tmp_path / "evals/a", FILES)

    assert _tree(tmp_path) == []


def test_what_somebody_changed_or_added_meanwhile_stays(tmp_path: Path) -> None:
    with NewDirectories() as new:
        new.write(tmp_path / "evals/a", FILES)
        new.write(tmp_path / "evals/b", FILES)
        (tmp_path / "evals/a/prompt.md").write_text("mine", "utf-8")
        (tmp_path / "evals/b/graders/mine.md").write_text("mine", "utf-8")

    assert _tree(tmp_path / "evals") == ["a", "a/prompt.md", "b", "b/graders", "b/graders/mine.md"]
    assert new.left == (tmp_path / "evals/a", tmp_path / "evals/b")


@pytest.mark.parametrize("kind", ["directory", "file", "link"])
def test_what_was_there_is_neither_written_nor_removed(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "evals/a"
    place.parent.mkdir()
    if kind == "directory":
        place.mkdir()
        (place / "prompt.md").write_text(FILES["prompt.md"], "utf-8")
    elif kind == "file":
        place.write_text("mine", "utf-8")
    else:
        place.symlink_to("nowhere")
    before = _tree(tmp_path)

    with NewDirectories() as new, pytest.raises(EvalError):
        new.write(place, FILES)

    assert _tree(tmp_path) == before
    assert new.left == ()
