"""A writer that is killed, or whose disk is full, leaves the former file or the new one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_plugin_eval.records.codec import read_record
from pytest_plugin_eval.records.model import Arm
from pytest_plugin_eval.storage.atomic_write import remove_unfinished, write_bytes
from pytest_plugin_eval.storage.record_files import remove_records_beyond, write_record
from tests.support.disks import small_disk_command
from tests.support.records import record, said
from tests.support.suites import write_tree

ASIDE = ".0123456789abcdef.tmp"
# Says when it has written half of the file, then waits to be killed.
WRITER = """
import sys
from pathlib import Path
from pytest_plugin_eval.storage.atomic_write import write_chunks

def chunks():
    yield b"n" * 100_000
    print("half", flush=True)
    sys.stdin.read()
    yield b"new"

write_chunks(Path(sys.argv[1]), chunks())
"""
# Fills the disk around a record, then writes a larger one in its place.
FILLER = """
import sys
from dataclasses import replace
from pathlib import Path
from pytest_plugin_eval.storage.record_files import write_record
from tests.support.records import record, said

base = Path(sys.argv[1])
small = record(said("small"))
path = write_record(base, small)
try:
    write_record(base, record(said("x" * 2_000_000)))
except OSError as error:
    print(error.strerror)
print([path.name for path in sorted(base.rglob("*")) if path.is_file()])
from pytest_plugin_eval.records.codec import read_record
print(read_record(path) == small)
"""
# The same where files, not the disk, are limited.
LIMITED = (
    f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\n{FILLER}"
)


@pytest.mark.parametrize("former", [None, b"former"], ids=["new file", "there before"])
def test_killed_writer_leaves_the_former_file(tmp_path: Path, former: bytes | None) -> None:
    path = tmp_path / "a" / "record"
    if former is not None:
        write_bytes(path, former)
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"half\n"

        writer.kill()

    assert (path.read_bytes() if path.exists() else None) == former
    assert [aside.suffix for aside in path.parent.iterdir() if aside != path] == [".tmp"]
    remove_unfinished(tmp_path)
    assert [found.name for found in path.parent.iterdir()] == (["record"] if former else [])


def test_full_disk_keeps_the_former_record(tmp_path: Path) -> None:
    command = small_disk_command(tmp_path, "1m", [sys.executable, "-c", FILLER, str(tmp_path)])

    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    assert done.stdout.splitlines() == ["No space left on device", "['with-1.jsonl']", "True"]


def test_limited_file_size_keeps_the_former_record(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LIMITED, str(tmp_path)]

    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    assert done.stdout.splitlines() == ["File too large", "['with-1.jsonl']", "True"]


def test_young_files_stay_where_others_may_write(tmp_path: Path) -> None:
    write_tree(tmp_path, {ASIDE: "", f"below/{ASIDE}": ""})
    os.utime(tmp_path / "below" / ASIDE, (0, 0))

    remove_unfinished(tmp_path, older_than_s=3600)

    assert [path.name for path in tmp_path.rglob("*.tmp")] == [ASIDE]
    assert not (tmp_path / "below" / ASIDE).exists()


def test_recordings_are_rid_of_what_a_killed_session_left(tmp_path: Path) -> None:
    one = record(said("a"), arm=Arm.WITH)
    path = write_record(tmp_path, one)
    write_tree(path.parent, {ASIDE: "half", ".fedcba9876543210.tmp": "being written"})
    os.utime(path.parent / ASIDE, (0, 0))

    removed = remove_records_beyond(tmp_path, one.key, 1)

    assert removed == 0
    assert sorted(found.name for found in path.parent.iterdir()) == [
        ".fedcba9876543210.tmp", "with-1.jsonl"
    ]  # fmt: skip
    assert read_record(path) == one
