"""What a `regex` grader finds at a path. Outcomes were seen with the reference command."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.cases.model import FileTarget
from pytest_plugin_eval.graders.base import Judgement
from pytest_plugin_eval.graders.target import NO_MOCKS, Subject
from pytest_plugin_eval.records.model import FileEntry, FileKind
from pytest_plugin_eval.scoring.model import VerdictStatus
from tests.support.records import file, link, record, said

PNG = b"\x89PNG"
FILES = (
    file("a.txt", "hello"),
    file("bad.txt", b"a\xffb"),
    file("big.bin", None),
    file("bom.txt", b"\xef\xbb\xbfbom\r\n\0"),
    file("bompng", b"\xef\xbb\xbf\x89PNG"),
    FileEntry(path="dir", kind=FileKind.DIRECTORY, created=False),
    FileEntry(path="fifo", kind=FileKind.OTHER, created=True),
    link("ln-dangle"),
    link("ln-dir", "sub"),
    link("ln-here", "."),
    link("ln-in", "a.txt"),
    link("ln-out", leaves=True),
    link("ln-sub-b", "sub/ln-b"),
    link("loop1", "loop2"),
    link("loop2", "loop1"),
    file("p.txt", PNG),
    file("sub/b.txt", "inner"),
    link("sub/ln-b", "sub/b.txt"),
)


def look(path: str, match: str = "contains") -> str | Judgement:
    subject = Subject(record(files=FILES), "first")
    return subject.text(FileTarget(source="file", path=path), match)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.txt", "hello"),
        ("./a.txt", "hello"),
        ("a.txt/", "hello"),
        ("a.txt//", "hello"),
        ("sub/../a.txt", "hello"),
        ("absent/../a.txt", "hello"),
        ("a.txt/../a.txt", "hello"),
        ("ln-dir/../a.txt", "hello"),
        ("sub//b.txt", "inner"),
        ("ln-in", "hello"),
        ("ln-dir/b.txt", "inner"),
        ("ln-dir/ln-b", "inner"),
        ("ln-sub-b", "inner"),
        ("ln-here/a.txt", "hello"),
        ("bad.txt", "a\ufffdb"),
        ("bom.txt", "bom\r\n\0"),
        ("bompng", "\x89PNG".encode("latin-1").decode("utf-8", "replace")),
    ],
)
def test_a_file_is_found_at(path: str, text: str) -> None:
    assert look(path) == text


@pytest.mark.parametrize("path", ["/etc/passwd", "..", "../x", "sub/../..", "./../x"])
def test_a_path_out_of_the_workspace_fails(path: str) -> None:
    found = look(path)

    assert isinstance(found, Judgement)
    assert found.status is VerdictStatus.FAILED
    assert found.explanation == (
        f'grader threw: case "first" grader focus file "{path}": path "{path}" '
        "escapes the run sandbox: it goes up by `..` or is absolute"
    )


@pytest.mark.parametrize(
    "path",
    [
        *("absent", "*.txt", " a.txt", "A.TXT", "sub\\b.txt", "~", "...", "..a"),
        *("a.txt/x", "ln-dangle", "ln-dir/absent", "loop1"),
    ],
)
def test_a_missing_file_fails(path: str) -> None:
    assert look(path) == Judgement(
        VerdictStatus.FAILED,
        f'grader threw: case "first" grader focus file "{path}": path "{path}" does not exist',
    )


@pytest.mark.parametrize("path", ["", ".", "sub", "sub/", "dir", "fifo", "ln-dir", "ln-here"])
def test_what_is_no_regular_file_fails(path: str) -> None:
    assert look(path) == Judgement(
        VerdictStatus.FAILED, f"grader threw: focus file {path} is not a regular file"
    )


@pytest.mark.parametrize("path", ["ln-out", "ln-out/x"])
def test_a_link_that_leaves_fails(path: str) -> None:
    assert look(path) == Judgement(
        VerdictStatus.FAILED,
        f"grader threw: focus file {path} leaves the run directory through a link",
    )


def test_contents_that_were_not_kept_leave_the_grader_undecided() -> None:
    assert look("big.bin") == Judgement(
        VerdictStatus.ERRORED, "the record does not hold the contents of big.bin"
    )


@pytest.mark.parametrize(
    ("content", "mime"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\x00", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"GIF87a...", "image/gif"),
        (b"RIFFxxxxWEBP", "image/webp"),
    ],
)
def test_an_image_is_known_by_its_content(content: bytes, mime: str) -> None:
    subject = Subject(record(files=(file("x.txt", content),)), "first")

    found = subject.text(FileTarget(source="file", path="x.txt"), "contains")

    assert isinstance(found, Judgement)
    assert found.status is VerdictStatus.FAILED
    assert found.explanation.startswith(
        f"file x.txt is an image ({mime}); a regex grader needs text — "
    )


@pytest.mark.parametrize(
    "content", [b"\xff\xd8\xff", b"\x89PNX", b"\x89PN", b"GIF88a", b"GIF8", b"RIFFxxxxWEBX", b""]
)
def test_other_contents_are_text(content: bytes) -> None:
    subject = Subject(record(files=(file("x.png", content),)), "first")

    assert isinstance(subject.text(FileTarget(source="file", path="x.png"), "contains"), str)


@pytest.mark.parametrize("match", ["not_contains", "count:0"])
def test_an_image_has_another_cure_for_absence(match: str) -> None:
    assert look("p.txt", match) != look("p.txt")


def test_words() -> None:
    files = (
        file("Z.txt"),
        FileEntry(path="d", kind=FileKind.DIRECTORY, created=True),
        link("l"),
        file("old", created=False),
    )
    subject = Subject(record(said("A"), said("B"), files=files), "first")

    assert subject.text("last_message", "contains") == "B"
    assert subject.text("trace", "contains") == f"{said('A')}\n{said('B')}"
    assert subject.text("files", "contains") == "Z.txt\nl"
    assert subject.text("mock_calls", "contains") == Judgement(VerdictStatus.FAILED, NO_MOCKS)
    assert Subject(record(), "c").text("files", "contains") == ""
