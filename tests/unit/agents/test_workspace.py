"""The listing of the workspace and the contents kept of it."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from pytest_plugin_eval.agents import workspace
from pytest_plugin_eval.agents.workspace import collect_files, list_workspace, named_files
from pytest_plugin_eval.cases.model import FileTarget, LlmSpec, RegexSpec
from pytest_plugin_eval.records.model import FileEntry, FileKind
from tests.support.agents import make_case, write_files


def by_path(root: Path, **options: object) -> dict[str, FileEntry]:
    entries, _ = collect_files(root, before={}, **options)  # type: ignore[arg-type]
    return {entry.path: entry for entry in entries}


def test_listing_has_hidden_files_and_no_repository(tmp_path: Path) -> None:
    write_files(tmp_path, {".hidden/a": "", "node_modules/b": "", ".git/HEAD": "", "d/.git/x": ""})

    assert dict(list_workspace(tmp_path)) == {
        ".hidden": FileKind.DIRECTORY,
        ".hidden/a": FileKind.FILE,
        "d": FileKind.DIRECTORY,
        "node_modules": FileKind.DIRECTORY,
        "node_modules/b": FileKind.FILE,
    }


def test_new_files_are_created_and_old_ones_keep_their_content(tmp_path: Path) -> None:
    write_files(tmp_path, {"old": "1", "gone": "2"})
    before = list_workspace(tmp_path)
    (tmp_path / "gone").unlink()
    write_files(tmp_path, {"old": "changed", "sub/new": "3"})

    entries, notes = collect_files(tmp_path, before=before)

    assert [(entry.path, entry.created, entry.content) for entry in entries] == [
        ("old", False, b"changed"),
        ("sub", False, None),
        ("sub/new", True, b"3"),
    ]
    assert notes == ()


def test_entries_are_sorted_by_code_point(tmp_path: Path) -> None:
    write_files(tmp_path, {"b": "", "B": "", "a/z": "", "a-b": "", "é": ""})

    assert list(by_path(tmp_path)) == ["B", "a", "a-b", "a/z", "b", "é"]


def test_links_say_where_they_lead(tmp_path: Path) -> None:
    root = write_files(tmp_path / "cwd", {"sub/file": "x"})
    (root / "in").symlink_to("sub/file")
    (root / "up").symlink_to("sub")
    (root / "dangling").symlink_to("nowhere")
    (root / "out").symlink_to("/etc/hostname")
    (root / "loop").symlink_to("loop")

    found = by_path(root)

    facts = {path: (entry.target, entry.leaves) for path, entry in found.items() if path != "sub"}
    assert facts == {
        "dangling": (None, False),
        "in": ("sub/file", False),
        "loop": (None, False),
        "out": (None, True),
        "sub/file": (None, False),
        "up": ("sub", False),
    }
    assert {found[path].kind for path in ("in", "up", "dangling", "out")} == {FileKind.LINK}
    assert found["out"].content is None


@pytest.mark.skipif(sys.platform == "win32", reason="needs FIFOs")
def test_special_files_are_listed_and_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))

        found = by_path(tmp_path)

    assert {path: entry.kind for path, entry in found.items()} == {
        "fifo": FileKind.OTHER,
        "socket": FileKind.OTHER,
    }


def test_contents_stop_at_the_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "FILE_BYTES", 10)
    monkeypatch.setattr(workspace, "RUN_BYTES", 15)
    write_files(tmp_path, {"a": "x" * 10, "b": "x" * 11, "c": "x" * 6, "d": "x" * 5, "n": "x" * 50})

    entries, notes = collect_files(tmp_path, before={}, named={"n"})

    kept = [entry.path for entry in entries if entry.content is not None]
    assert kept == ["a", "d", "n"]
    assert notes == ("contents of 2 files were not kept, too large for the record: b, c",)


def test_named_link_keeps_the_file_it_leads_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace, "FILE_BYTES", 1)
    write_files(tmp_path, {"data/large": "content"})
    (tmp_path / "link").symlink_to("data/large")

    assert by_path(tmp_path, named={"link"})["data/large"].content == b"content"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file_is_listed_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "closed").touch(mode=0)

    entries, notes = collect_files(tmp_path, before={})

    assert [(entry.path, entry.content) for entry in entries] == [("closed", None)]
    assert notes == ("contents of 1 file were not kept, unreadable: closed",)


def test_file_that_vanishes_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "list_workspace", lambda _: {"ghost": FileKind.FILE})

    entries, notes = collect_files(tmp_path, before={})

    assert [(entry.path, entry.content) for entry in entries] == [("ghost", None)]
    assert notes == ()


def test_name_that_is_no_text_can_be_written_down(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\xff")).touch()
    except OSError:
        pytest.skip("the file system takes only Unicode names")

    assert list(by_path(tmp_path)) == ["a\ufffd"]


def test_listing_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "MOST_ENTRIES", 3)
    write_files(tmp_path, dict.fromkeys("abcde", ""))

    entries, notes = collect_files(tmp_path, before={})

    assert len(entries) == 3
    assert notes == ("the workspace holds more than 3 entries, the rest is not listed",)


def test_graders_name_files() -> None:
    case = make_case(
        Path("/plugin"),
        graders=(
            RegexSpec(
                name="a",
                type="regex",
                pattern="x",
                target=FileTarget(source="file", path="./out//a.md"),
            ),
            LlmSpec(
                name="b", type="llm", criteria="x", focus=FileTarget(source="file", path="b.md")
            ),
            RegexSpec(name="c", type="regex", pattern="x", target="files"),
        ),
    )

    assert named_files(case) == {"out/a.md", "b.md"}
