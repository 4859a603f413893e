"""What a judge is shown of a run, at the borders of every cut."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.cases.model import FileTarget, Target
from pytest_plugin_eval.graders import evidence as module
from pytest_plugin_eval.graders.base import Judgement
from pytest_plugin_eval.graders.evidence import Evidence, cut_events, cut_text, evidence
from pytest_plugin_eval.graders.target import Subject
from pytest_plugin_eval.judges.base import Image
from pytest_plugin_eval.records.model import FileEntry, RunRecord
from pytest_plugin_eval.scoring.model import VerdictStatus
from tests.support.images import gif, png, webp_lossy
from tests.support.records import file, link, record, said

LONG = "a" * 80_000 + "b" * 20_000


def shown(focus: Target, run: RunRecord) -> Evidence | Judgement:
    return evidence(focus, Subject(run, "first"))


def of_file(content: bytes | str | None, path: str = "a.txt") -> Evidence | Judgement:
    target = FileTarget(source="file", path=path)
    return shown(target, record(files=(file("a.txt", content),)))


def seen(result: Evidence | Judgement) -> Evidence:
    assert isinstance(result, Evidence)
    return result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "", id="empty"),
        pytest.param(LONG, LONG, id="at the border"),
        pytest.param(
            "a" * 80_000 + "x" + "b" * 20_000,
            "a" * 80_000 + "\n[…1 chars elided…]\n" + "b" * 20_000,
            id="one beyond",
        ),
        pytest.param(
            "a" * 80_000 + "x" * 5_000 + "b" * 20_000,
            "a" * 80_000 + "\n[…5000 chars elided…]\n" + "b" * 20_000,
            id="far beyond",
        ),
        pytest.param("\U0001f600" * 50_000, "\U0001f600" * 50_000, id="two units each"),
        pytest.param(
            "\U0001f600" * 50_010,
            "\U0001f600" * 40_000 + "\n[…20 chars elided…]\n" + "\U0001f600" * 10_000,
            id="units are counted",
        ),
        pytest.param(
            "a" + "\U0001f600" * 50_000,
            "a" + "\U0001f600" * 39_999 + "\ufffd\n[…1 chars elided…]\n" + "\U0001f600" * 10_000,
            id="half a character is replaced",
        ),
        pytest.param("a\ud83d", "a\ufffd", id="lone surrogate"),
    ],
)
def test_long_text_loses_its_middle(text: str, expected: str) -> None:
    assert cut_text(text) == expected


@pytest.mark.parametrize(
    ("count", "mark"),
    [
        pytest.param(0, None, id="none"),
        pytest.param(24, None, id="at the border"),
        pytest.param(25, "[…1 messages elided…]", id="one beyond"),
        pytest.param(100, "[…76 messages elided…]", id="far beyond"),
    ],
)
def test_long_trace_keeps_twelve_events_at_each_end(count: int, mark: str | None) -> None:
    lines = [f"e{number}" for number in range(count)]
    expected = lines if mark is None else [*lines[:12], mark, *lines[-12:]]

    assert cut_events(lines) == "\n".join(expected)


def test_trace_is_cut_by_events_and_then_by_characters() -> None:
    lines = ["x" * 5_000] * 30

    text = seen(shown("trace", record(*lines))).text

    # 24 events and a mark, with a newline between any two.
    length = 24 * 5_000 + len("[…6 messages elided…]") + 24
    assert f"\n[…{length - 100_000} chars elided…]\n" in text
    assert "[…6 messages elided…]" in text


@pytest.mark.parametrize(
    ("focus", "text"),
    [
        pytest.param("last_message", "fin", id="last_message"),
        pytest.param("trace", said("fin"), id="trace"),
        pytest.param("files", "a.txt\nb/c.txt", id="files"),
    ],
)
def test_focus_word_names_its_text(focus: Target, text: str) -> None:
    run = record(said("fin"), files=(file("a.txt"), file("b/c.txt"), file("s", created=False)))

    assert shown(focus, run) == Evidence(str(focus), text)


def test_no_created_file_is_said_in_words() -> None:
    assert shown("files", record()) == Evidence("files", "(no files were created)")


def test_long_last_message_has_no_note() -> None:
    assert seen(shown("last_message", record(said("x" * 8_001)))).note == ""


@pytest.mark.parametrize(
    ("content", "text"),
    [
        pytest.param("é\r\n", "é\r\n", id="text"),
        pytest.param(b"", "", id="empty"),
        pytest.param(b"\xef\xbb\xbfhi", "hi", id="byte-order mark"),
        pytest.param(b"a\xff\xfeb", "a\ufffd\ufffdb", id="not UTF-8"),
        pytest.param(b"\n%PDF-1.4", "\n%PDF-1.4", id="PDF not at the start"),
        pytest.param(b"PK\x05\x06", "PK\x05\x06", id="empty ZIP without NUL"),
        pytest.param(b"<svg/>", "<svg/>", id="SVG"),
    ],
)
def test_file_that_is_text_is_shown(content: bytes, text: str) -> None:
    assert of_file(content) == Evidence("file a.txt", text)


def test_label_is_the_path_as_the_grader_writes_it() -> None:
    assert seen(of_file("x", "./sub/../a.txt")).label == "file ./sub/../a.txt"


@pytest.mark.parametrize(
    ("content", "count"),
    [
        pytest.param("x" * 8_000, None, id="at the border"),
        pytest.param("x" * 8_001, 8_001, id="beyond"),
        pytest.param("é" * 8_001, 8_001, id="characters, not bytes"),
        pytest.param("\U0001f600" * 4_001, 8_002, id="units of UTF-16"),
        pytest.param("x" * 200_000, 200_000, id="before the cut"),
    ],
)
def test_long_file_is_noted(content: str, count: int | None) -> None:
    note = seen(of_file(content)).note

    assert note.startswith("" if count is None else f" — note: long file ({count} chars); ")
    assert bool(note) is (count is not None)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        pytest.param(b"abc\0def", "it contains a NUL byte at offset 3", id="NUL"),
        pytest.param("é\0".encode(), "it contains a NUL byte at offset 2", id="NUL by bytes"),
        pytest.param(b"x" * 100_000 + b"\0", "a NUL byte at offset 100000", id="NUL far behind"),
        pytest.param("text".encode("utf-16"), "a NUL byte at offset 3", id="UTF-16"),
        pytest.param(b"%PDF-1.7\n\0", "it is a PDF document", id="PDF"),
        pytest.param(b"PK\x03\x04\0\0", "it is a ZIP archive", id="ZIP"),
    ],
)
def test_binary_file_fails_the_grader_without_a_judge(content: bytes, kind: str) -> None:
    result = of_file(content)

    assert isinstance(result, Judgement)
    assert result.status is VerdictStatus.FAILED
    assert result.explanation.startswith("file a.txt cannot be shown to a judge: ")
    assert kind in result.explanation


@pytest.mark.parametrize(
    ("content", "mime", "described"),
    [
        pytest.param(png(20, 10), "image/png", "image/png, 78 bytes, 20x10px", id="png"),
        pytest.param(png()[:40], "image/png", "image/png, 40 bytes, 20x10px", id="cut png"),
        pytest.param(gif(2, 1), "image/gif", "image/gif, 35 bytes, 2x1px", id="gif"),
        pytest.param(webp_lossy(8000, 1), "image/webp", "30 bytes, 8000x1px", id="widest"),
    ],
)
def test_image_is_attached_and_described(content: bytes, mime: str, described: str) -> None:
    result = seen(of_file(content))

    assert (result.label, result.note) == ("file a.txt", " (image)")
    assert result.image == Image(mime, content)
    assert result.text.startswith("[image a.txt: sent as it is on disk, ")
    assert result.text.endswith(f"{described}]")


def test_image_that_cannot_be_prepared_fails_the_grader() -> None:
    result = of_file(b"\x89PNG")

    assert isinstance(result, Judgement)
    assert result == (
        VerdictStatus.FAILED,
        "file a.txt cannot be shown to a judge as an image: "
        "it begins like image/png, and its size cannot be read",
    )


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(webp_lossy(8001, 1), id="too wide"),
        pytest.param(png(1, 8001), id="too high"),
        pytest.param(png() + b"x" * module.MOST_IMAGE_BYTES, id="too many bytes"),
    ],
)
def test_image_beyond_the_limits_of_the_service_leaves_the_grader_undecided(content: bytes) -> None:
    result = of_file(content)

    assert isinstance(result, Judgement)
    assert result.status is VerdictStatus.ERRORED
    assert result.explanation.startswith("file a.txt is too large an image for a judge: ")


def test_most_bytes_of_an_image_are_five_megabytes_in_base64() -> None:
    content = png() + b"x" * (module.MOST_IMAGE_BYTES - 78)

    assert seen(of_file(content)).image is not None
    assert module.MOST_IMAGE_BYTES * 4 // 3 == 5 * 1024 * 1024


@pytest.mark.parametrize(
    ("path", "entries", "status", "reason"),
    [
        ("b", (), VerdictStatus.FAILED, 'path "b" does not exist'),
        ("../a", (), VerdictStatus.FAILED, "escapes the run sandbox"),
        ("/a", (), VerdictStatus.FAILED, "escapes the run sandbox"),
        (".", (), VerdictStatus.FAILED, "focus file . is not a regular file"),
        ("l", (link("l"),), VerdictStatus.FAILED, "does not exist"),
        ("l", (link("l", leaves=True),), VerdictStatus.FAILED, "leaves the run directory"),
        ("a", (file("a", None),), VerdictStatus.ERRORED, "record does not hold the contents of a"),
    ],
)
def test_file_that_is_not_there(
    path: str, entries: tuple[FileEntry, ...], status: VerdictStatus, reason: str
) -> None:
    result = shown(FileTarget(source="file", path=path), record(files=entries))

    assert isinstance(result, Judgement)
    assert result.status is status
    assert reason in result.explanation


def test_mock_calls_without_mocks_need_no_judge() -> None:
    result = shown("mock_calls", record())

    assert isinstance(result, Judgement)
    assert result.explanation.startswith("no mock stand-ins were active in this run")
