"""Hashes that tell a stale record."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType

import pytest

from pytest_plugin_eval.cases.case import Plugin
from pytest_plugin_eval.cases.fingerprint import (
    forget_plugins,
    leave_out,
    newer_files,
    plugin_hash,
    prompt_hash,
    scaffold_hash,
    settings_hash,
    stand_ins_hash,
)
from tests.support.agents import make_case, write_files, write_plugin
from tests.support.suites import GRADER, MANIFEST, load, write_tree

ROOT = Path("/plugin")


def fresh_hash(root: Path, **changes: object) -> str | None:
    forget_plugins()
    return plugin_hash(make_case(root, **changes))


@pytest.fixture
def nothing_left_out() -> Iterator[None]:
    """Have later tests see whole plugins again."""
    yield
    leave_out(())


def test_prompt_hash_is_that_of_its_text() -> None:
    case = make_case(ROOT, prompt="hello")

    assert prompt_hash(case) == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "opus"},
        {"max_turns": 3},
        {"timeout_s": 3},
        {"allowed_tools": ("Read",)},
        {"disallowed_tools": ("Read",)},
        {"append_system_prompt": "x"},
        {"env": {"EVAL_A": "1"}},
        {"scaffold_script": "s"},
        {"history_file": "h"},
        {"add_dirs": ("d",)},
        {"mock_servers": ("m",)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_settings_that_bear_on_runs_change_the_hash(changes: dict[str, object]) -> None:
    assert settings_hash(make_case(ROOT, **changes)) != settings_hash(make_case(ROOT))


SERVERS = MappingProxyType(
    {
        ".mcp.json": '{"mcpServers": {"tracker": {"command": "false"}}}',
        "evals/it/prompt.md": "Do it.\n",
        "evals/it/graders/a.md": GRADER,
        "evals/mocks/tracker/t.md": "one",
        "evals/mocks/solo/t.md": "one",
    }
)


def arms_hashes(root: Path, **changes: str) -> list[str]:
    """Return the hashes of settings and of the arms' mocks, given other texts of mocks."""
    mocks = {f"evals/mocks/{server}/t.md": text for server, text in changes.items()}
    write_tree(root, {**MANIFEST, **SERVERS, **mocks})
    case = load(root / "evals" / "it")
    arms = (stand_ins_hash(case, with_plugins=with_plugins) for with_plugins in (True, False))
    return [settings_hash(case), *arms]


@pytest.mark.parametrize(
    ("changes", "differ"),
    [
        ({}, [False, False, False]),
        ({"tracker": "two"}, [False, True, False]),
        ({"solo": "two"}, [False, True, True]),
    ],
    ids=["nothing", "of the plugin's server", "of another one"],
)
def test_mocks_are_told_apart_by_the_arms_that_have_them(
    tmp_path: Path, changes: dict[str, str], differ: list[bool]
) -> None:
    before = arms_hashes(tmp_path / "a")

    after = arms_hashes(tmp_path / "b", **changes)

    assert [one != other for one, other in zip(before, after, strict=True)] == differ


def test_arm_without_mocks_has_no_hash_of_them(tmp_path: Path) -> None:
    write_tree(tmp_path, {**MANIFEST, **SERVERS})
    (tmp_path / "evals/mocks/solo/t.md").unlink()

    case = load(tmp_path / "evals" / "it")

    assert stand_ins_hash(case, with_plugins=True) != ""
    assert stand_ins_hash(case, with_plugins=False) == ""
    assert stand_ins_hash(make_case(ROOT), with_plugins=True) == ""


@pytest.mark.parametrize(
    "changes",
    [{"prompt": "x"}, {"runs": 9}, {"tags": ("t",)}, {"name": "n"}, {"directory": Path("/x")}],
    ids=lambda changes: next(iter(changes)),
)
def test_other_settings_do_not(changes: dict[str, object]) -> None:
    assert settings_hash(make_case(ROOT, **changes)) == settings_hash(make_case(ROOT))


@pytest.mark.parametrize(
    ("files", "changes"),
    [
        ({"skills/greet/SKILL.md": "other"}, True),
        ({"new/file": ""}, True),
        ({"evals/hello/prompt.md": "other"}, False),
        ({".git/HEAD": "other"}, False),
        ({"lib/__pycache__/a.pyc": "other"}, False),
        ({".in_use/4711": "{}"}, False),
    ],
    ids=["changed", "added", "suite", "repository", "cache", "agent"],
)
def test_bytes_of_the_plugin(tmp_path: Path, files: dict[str, str], changes: bool) -> None:
    root = write_plugin(tmp_path)
    before = fresh_hash(root)

    write_files(root, files)

    assert (fresh_hash(root) != before) is changes


def test_cache_of_pytest_does_not_count(tmp_path: Path) -> None:
    root = write_plugin(tmp_path)
    before = fresh_hash(root)

    write_files(root, {".pytest_cache/CACHEDIR.TAG": "Signature", ".pytest_cache/v/x": "1"})

    assert fresh_hash(root) == before


def test_order_and_number_of_plugins_count(tmp_path: Path) -> None:
    plugins = tuple(
        Plugin(name=name, path=write_files(tmp_path / name, {"a": name})) for name in ("x", "y")
    )

    hashes = {
        fresh_hash(tmp_path, plugins=chosen) for chosen in (plugins, plugins[::-1], plugins[:1])
    }

    assert len(hashes) == 3
    assert fresh_hash(tmp_path, plugins=()) is None


def test_hash_is_computed_once_a_process(tmp_path: Path) -> None:
    root = write_plugin(tmp_path)
    before = fresh_hash(root)

    write_files(root, {"new": "file"})

    assert plugin_hash(make_case(root)) == before


@pytest.mark.usefixtures("nothing_left_out")
@pytest.mark.parametrize("name", ["report.xml", "out/runs/with-1.jsonl"])
def test_what_the_session_writes_is_no_part_of_the_plugin(tmp_path: Path, name: str) -> None:
    root = write_plugin(tmp_path / "demo")
    before = fresh_hash(root)
    write_files(root, {name: "written by the session"})

    leave_out([root / "report.xml", tmp_path / "demo" / "." / "out", tmp_path / "absent"])

    assert plugin_hash(make_case(root)) == before


@pytest.mark.usefixtures("nothing_left_out")
def test_what_an_earlier_session_wrote_counts_again(tmp_path: Path) -> None:
    root = write_plugin(tmp_path / "demo", {"report.xml": ""})
    whole = fresh_hash(root)
    leave_out([root / "report.xml"])
    without = plugin_hash(make_case(root))

    leave_out(())

    assert without != whole
    assert plugin_hash(make_case(root)) == whole


@pytest.mark.usefixtures("nothing_left_out")
def test_newer_files_are_those_of_the_plugin(tmp_path: Path) -> None:
    root = write_plugin(tmp_path / "demo")
    for path in root.rglob("*"):
        os.utime(path, (1000, 1000))
    write_files(root, {"b.md": "", "skills/a/SKILL.md": "", "evals/new.md": "", "report.xml": ""})
    leave_out([root / "report.xml"])
    case = make_case(root)

    assert newer_files([case, case], 2000.0) == ("b.md", "skills/a/SKILL.md")


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"history_file": "h.jsonl"}, "h.jsonl"),
        ({"add_dirs": ("data",)}, "data/sub/x.txt"),
        ({"add_dirs": ("data",)}, "data/new.txt"),
    ],
    ids=["conversation", "opened-file", "opened-directory"],
)
def test_what_the_agent_finds_changes_the_hash_of_the_settings(
    tmp_path: Path, changes: dict[str, object], name: str
) -> None:
    files = {f"evals/hello/{path}": "one" for path in ("h.jsonl", "data/sub/x.txt")}
    case = make_case(write_files(tmp_path, files), **changes)
    before = settings_hash(case)

    write_files(tmp_path, {f"evals/hello/{name}": "two"})

    assert settings_hash(case) != before


def test_script_has_a_hash_of_its_own(tmp_path: Path) -> None:
    case = make_case(write_files(tmp_path, {"evals/hello/s.sh": "one"}), scaffold_script="s.sh")
    settings, script = settings_hash(case), scaffold_hash(case)

    write_files(tmp_path, {"evals/hello/s.sh": "two"})

    assert (settings_hash(case) == settings, scaffold_hash(case) == script) == (True, False)
    assert scaffold_hash(make_case(tmp_path)) == ""
