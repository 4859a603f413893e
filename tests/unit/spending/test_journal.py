"""Lines that processes tell each other, also when something goes wrong."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.spending.journal import Journal
from pytest_plugin_eval.spending.ledger import Ledger
from pytest_plugin_eval.spending.limiter import Limiter


def lines(reader: Journal) -> list[str]:
    return [line for _, line in reader.news()]


def refuse(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_news_are_the_lines_of_others_once(tmp_path: Path) -> None:
    ours, theirs = Journal(tmp_path, "ledger"), Journal(tmp_path, "ledger")
    ours.append("ours")
    theirs.append("first")
    before = lines(ours)

    theirs.append("second")

    assert (before, lines(ours), lines(ours)) == (["first"], ["second"], [])
    assert lines(theirs) == ["ours"]


def test_files_of_another_kind_are_left_alone(tmp_path: Path) -> None:
    ours = Journal(tmp_path, "ledger")
    Journal(tmp_path, "limiter").append("12.0")
    (tmp_path / "notes.txt").write_text("hello\n", encoding="utf-8")

    assert lines(ours) == []


def test_torn_line_is_read_once_it_is_whole(tmp_path: Path) -> None:
    reader, torn = Journal(tmp_path, "ledger"), tmp_path / "1-a.ledger"
    torn.write_bytes(b"whole\nto")
    before = lines(reader)

    torn.write_bytes(b"whole\ntorn\nmore\n")

    assert (before, lines(reader)) == (["whole"], ["torn", "more"])


def test_bytes_that_are_no_text_do_not_stop_the_reader(tmp_path: Path) -> None:
    (tmp_path / "1-a.ledger").write_bytes(b"\xff\x00\nfine\n")

    assert lines(Journal(tmp_path, "ledger")) == ["\ufffd\x00", "fine"]


def test_what_a_full_disk_refuses_goes_out_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader = Journal(tmp_path, "ledger"), Journal(tmp_path, "ledger")
    writer.append("before")
    with monkeypatch.context() as disk:
        disk.setattr(os, "write", refuse)
        writer.append("while full")
    during = lines(reader)

    writer.append("after")

    assert (during, lines(reader)) == (["before"], ["while full", "after"])


def test_line_that_got_out_in_part_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader = Journal(tmp_path, "ledger"), Journal(tmp_path, "ledger")
    write = os.write

    def write_a_part(file: int, data: bytes) -> int:
        disk.setattr(os, "write", refuse)
        return write(file, data[:4])

    with monkeypatch.context() as disk:
        disk.setattr(os, "write", write_a_part)
        writer.append("a long line")
    during = lines(reader)

    assert (lines(writer), during, lines(reader)) == ([], [], ["a long line"])


def test_directory_that_goes_away_is_no_news(tmp_path: Path) -> None:
    directory = tmp_path / "session"
    directory.mkdir()
    ours, theirs = Journal(directory, "ledger"), Journal(directory, "ledger")
    shutil.rmtree(directory)

    theirs.append("lost")

    assert lines(ours) == []


def test_closed_journal_still_listens(tmp_path: Path) -> None:
    ours, theirs = Journal(tmp_path, "ledger"), Journal(tmp_path, "ledger")
    ours.close()
    ours.close()

    ours.append("too late")
    theirs.append("news")

    assert (lines(ours), lines(theirs)) == (["news"], [])


@pytest.mark.parametrize(
    "make", [lambda d: Ledger(directory=d), Limiter], ids=["ledger", "limiter"]
)
@pytest.mark.parametrize("place", ["missing", "file"])
def test_directory_that_cannot_be_used_is_named_at_once(
    tmp_path: Path, make: Callable[[Path], object], place: str
) -> None:
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(EvalError, match=rf"{re.escape(str(tmp_path / place))}: no \w+ can be kept"):
        make(tmp_path / place)
