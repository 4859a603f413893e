"""Which directories are trusted, and where that is remembered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_plugin_eval.errors import SettingsError
from pytest_plugin_eval.storage.trust import remember, trust_file, trust_root, untrusted


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "trusted.json"


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    directory = tmp_path / "repository" / "plugins" / "demo"
    directory.mkdir(parents=True)
    return directory


def test_nothing_is_trusted_unasked(file: Path, plugin: Path) -> None:
    assert untrusted([plugin], file) == (plugin,)
    assert not file.exists()


def test_remembered_directory_is_trusted_in_every_spelling(file: Path, plugin: Path) -> None:
    link = plugin.parent / "link"
    link.symlink_to(plugin)

    remember([trust_root(plugin)], file)

    assert untrusted([plugin, link, plugin / ".." / "demo"], file) == ()


@pytest.mark.parametrize("is_work_tree", [False, True], ids=["repository", "work tree"])
def test_whole_repository_is_trusted(file: Path, plugin: Path, is_work_tree: bool) -> None:
    repository = plugin.parent.parent
    if is_work_tree:
        (repository / ".git").write_text("gitdir: elsewhere\n", encoding="utf-8")
    else:
        (repository / ".git").mkdir()
    other = repository / "other"
    other.mkdir()

    remember([trust_root(plugin)], file)

    assert trust_root(plugin) == repository
    assert untrusted([plugin, other], file) == ()


def test_directory_outside_a_repository_is_trusted_alone(file: Path, plugin: Path) -> None:
    remember([trust_root(plugin)], file)

    below, above = plugin / "sub", plugin.parent
    below.mkdir()

    assert untrusted([below, above, below], file) == (below, above)


def test_what_was_remembered_before_stays(file: Path, plugin: Path, tmp_path: Path) -> None:
    other = tmp_path / "größe"
    other.mkdir()

    remember([plugin], file)
    remember([other], file)

    assert untrusted([plugin, other], file) == ()
    assert json.loads(file.read_text(encoding="utf-8"))["schema"] == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected trusted directories"),
        (b"[]", "expected trusted directories"),
        (b'{"schema": 1}', "expected trusted directories"),
        (b'{"schema": 1, "directories": "/"}', "expected trusted directories"),
        (b"\xff\xfe", "expected trusted directories"),
        (b'{"schema": 2, "directories": []}', "written by a newer version: schema 2"),
    ],
)
def test_file_that_cannot_be_read_trusts_nothing_and_is_kept(
    file: Path, plugin: Path, content: bytes, message: str
) -> None:
    file.parent.mkdir()
    file.write_bytes(content)

    with pytest.raises(SettingsError, match=message):
        untrusted([plugin], file)
    with pytest.raises(SettingsError, match=message):
        remember([plugin], file)

    assert file.read_bytes() == content


def test_entries_of_another_kind_are_passed_over(file: Path, plugin: Path) -> None:
    file.parent.mkdir()
    fields = {"schema": 1, "directories": [3, None, str(plugin)]}
    file.write_text(json.dumps(fields), encoding="utf-8")

    assert untrusted([plugin], file) == ()


@pytest.mark.parametrize(
    ("env", "platform", "expected"),
    [
        ({"HOME": "/h"}, "linux", "/h/.config/pytest-plugin-eval/trusted.json"),
        (
            {"HOME": "/h", "XDG_CONFIG_HOME": "/x"},
            "linux",
            "/x/pytest-plugin-eval/trusted.json",
        ),
        (
            {"HOME": "/h", "XDG_CONFIG_HOME": "x"},
            "linux",
            "/h/.config/pytest-plugin-eval/trusted.json",
        ),
        (
            {"HOME": "/h"},
            "darwin",
            "/h/Library/Application Support/pytest-plugin-eval/trusted.json",
        ),
        ({"HOME": "/h", "APPDATA": "/a"}, "win32", "/a/pytest-plugin-eval/trusted.json"),
    ],
)
def test_file_lies_in_the_configuration_directory(
    env: dict[str, str], platform: str, expected: str
) -> None:
    assert trust_file(env, platform) == Path(expected)
