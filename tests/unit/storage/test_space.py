"""Room for what was paid for."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_plugin_eval.storage.space import RESERVE_BYTES, RESERVE_PATTERN, Space
from tests.support.disks import small_disk_command

KIB = 1024
# On a disk of 1 MiB: set 256 KiB aside, let something fill the rest, and keep what was paid for.
FULL = """
import sys
from pathlib import Path
from pytest_plugin_eval.storage.atomic_write import write_bytes
from pytest_plugin_eval.storage.space import Space

place = Path(sys.argv[1])
space = Space(reserve_bytes=256 * 1024)
space.reserve(place)
print("before:", space.enough(place))
filler = place / "filler"
try:
    with filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
except OSError as error:
    print("filler:", error.strerror)
print("nearly full:", space.enough(place))
record = place / "runs" / "record"
space.write(place, lambda: write_bytes(record, bytes(100_000)))
print("record:", record.stat().st_size)
print("full:", space.enough(place))
filler.unlink()
print("freed:", space.enough(place))
space.release()
print("left:", sorted(path.name for path in place.iterdir()))
"""


class Usage(NamedTuple):
    """As `shutil.disk_usage` returns it."""

    total: int
    used: int
    free: int


def _reserves(directory: Path) -> list[int]:
    return [path.stat().st_size for path in directory.glob(RESERVE_PATTERN)]


def _fail(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def test_reserve_takes_its_room_and_gives_it_back(tmp_path: Path) -> None:
    space = Space()

    space.reserve(tmp_path)
    space.reserve(tmp_path)

    assert _reserves(tmp_path) == [RESERVE_BYTES]
    (path,) = tmp_path.glob(RESERVE_PATTERN)
    assert path.stat().st_blocks * 512 >= RESERVE_BYTES
    space.release()
    assert list(tmp_path.iterdir()) == []


def test_reserve_is_real_without_the_systems_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "posix_fallocate")
    space = Space(reserve_bytes=64 * KIB)

    space.reserve(tmp_path)

    assert _reserves(tmp_path) == [64 * KIB]


def test_record_is_written_on_a_full_disk_and_no_run_follows(tmp_path: Path) -> None:
    command = small_disk_command(tmp_path, "1m", [sys.executable, "-c", FULL, str(tmp_path)])

    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    lines = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert lines["before"] == "None", done.stderr
    assert lines["filler"] == "No space left on device"
    assert lines["nearly full"] == (
        f"the record could not be kept: {tmp_path} is full, expected room for 0.5 MiB"
    )
    assert lines["record"] == "100000"
    assert lines["full"] == (
        f"the record could not be kept: {tmp_path}: No space left on device, expected room for "
        "0.5 MiB"
    )
    assert lines["freed"] == "None"
    assert lines["left"] == "['runs']"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_reserve_is_given_up_for_what_finds_no_room(tmp_path: Path, number: int) -> None:
    space = Space(reserve_bytes=KIB)
    space.reserve(tmp_path)

    def needs_room() -> str:
        if _reserves(tmp_path):
            raise _fail(number)
        return "written"

    assert space.write(tmp_path, needs_room) == "written"


def test_reserve_is_set_aside_again_before_the_next_run(tmp_path: Path) -> None:
    space = Space(reserve_bytes=KIB)
    space.reserve(tmp_path)
    tries = iter([_fail(errno.ENOSPC), None])

    def fails_once() -> None:
        if error := next(tries):
            raise error

    space.write(tmp_path, fails_once)

    assert space.enough(tmp_path) is None
    assert _reserves(tmp_path) == [KIB]


@pytest.mark.parametrize(
    ("number", "reserved", "tries"),
    [
        (errno.EACCES, True, 1),
        (errno.ENOSPC, False, 1),
        (errno.ENOSPC, True, 2),
    ],
    ids=["another error", "no reserve", "no room even so"],
)
def test_what_the_reserve_cannot_help_is_raised(
    tmp_path: Path, number: int, reserved: bool, tries: int
) -> None:
    space = Space(reserve_bytes=KIB)
    if reserved:
        space.reserve(tmp_path)
    tried = []

    def fails() -> None:
        tried.append(1)
        raise _fail(number)

    with pytest.raises(OSError, match=os.strerror(number)):
        space.write(tmp_path, fails)

    assert len(tried) == tries


def test_too_little_room_is_an_error_that_names_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise _fail(errno.ENOSPC)

    monkeypatch.setattr(os, "posix_fallocate", full)

    with pytest.raises(OSError, match=r"No space left .*, expected room for 16 MiB") as caught:
        Space().reserve(tmp_path)

    assert caught.value.filename == str(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("usage", "is_enough"),
    [
        (Usage(total=100 * KIB, used=98 * KIB, free=2 * KIB), True),
        (Usage(total=100 * KIB, used=100 * KIB, free=0), False),
        (Usage(total=0, used=0, free=0), True),
    ],
    ids=["room", "full", "the system tells nothing"],
)
def test_run_starts_only_where_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, usage: Usage, is_enough: bool
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)

    reason = Space(reserve_bytes=KIB).enough(tmp_path)

    assert (reason is None) is is_enough


def test_directory_that_has_gone_is_a_reason(tmp_path: Path) -> None:
    reason = Space(reserve_bytes=KIB).enough(tmp_path / "gone")

    assert reason == f"the record could not be kept: {tmp_path}/gone: No such file or directory"


def test_release_of_a_directory_that_has_gone_is_no_error(tmp_path: Path) -> None:
    space = Space(reserve_bytes=KIB)
    space.reserve(tmp_path)
    for path in tmp_path.iterdir():
        path.unlink()

    space.release()

    assert list(tmp_path.iterdir()) == []
