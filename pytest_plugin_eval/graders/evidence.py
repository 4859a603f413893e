"""What a judge is shown of a run. Spec: behaviour-evals, 4.3 and 4.7."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pytest_plugin_eval.cases.model import FileTarget, Target
from pytest_plugin_eval.graders.base import Judgement, errored, failed
from pytest_plugin_eval.graders.picture import image_size, image_type
from pytest_plugin_eval.graders.target import Subject, decoded, target_label
from pytest_plugin_eval.judges.base import Image
from pytest_plugin_eval.text import without_surrogates

__all__ = ["Evidence", "cut_events", "cut_text", "evidence"]

MOST_CHARACTERS = 100_000
HEAD_CHARACTERS = 80_000
TAIL_CHARACTERS = MOST_CHARACTERS - HEAD_CHARACTERS
KEPT_EVENTS = 12
"""At each end of a trace."""
LONG_FILE = 8_000
_NOTHING = {"files": "(no files were created)", "mock_calls": "(no mocked tool was called)"}
"""Shown instead of nothing at all."""

# Limits of the Messages API for one image: 5 MB in base64, 8,000 pixels a side.
MOST_IMAGE_BYTES = 5 * 1024 * 1024 // 4 * 3
MOST_PIXELS = 8_000

_PDF = b"%PDF-"
_ZIP = b"PK\x03\x04"
_CURE = "let the case write it as a PNG, JPEG, GIF or WebP image or as UTF-8 text, and look at that"


class Evidence(NamedTuple):
    """What the judge sees, and what the result says of it."""

    label: str
    """Names the focus: its word, or ``file <path>``."""
    text: str
    """The text, cut as it is for the judge; of an image a line that describes it."""
    image: Image | None = None
    note: str = ""
    """Stands behind the votes in the explanation."""


def evidence(focus: Target, subject: Subject) -> Evidence | Judgement:
    """Return what the judge is shown, or what the grader comes to without asking one."""
    label = target_label(focus)
    if isinstance(focus, FileTarget):
        content = subject.content(focus.path)
        return content if isinstance(content, Judgement) else _of_file(focus.path, label, content)
    if focus == "trace":
        return Evidence(label, cut_text(cut_events(subject.record.trace.lines)))
    text = subject.text(focus, "")
    if isinstance(text, Judgement):
        return text
    text = text or _NOTHING.get(focus, "")
    return Evidence(label, cut_text(text))


def cut_events(events: Sequence[str]) -> str:
    """Return events as lines, of more than 24 the first and the last 12."""
    left_out = len(events) - 2 * KEPT_EVENTS
    if left_out > 0:
        mark = f"[…{left_out} messages elided…]"
        events = (*events[:KEPT_EVENTS], mark, *events[-KEPT_EVENTS:])
    return without_surrogates("\n".join(events))


def cut_text(text: str) -> str:
    """Return a text, of more than 100,000 characters the first 80,000 and the last 20,000.

    Characters are units of UTF-16, as in the reference, where some take two.
    """
    text = without_surrogates(text)
    if 2 * len(text) <= MOST_CHARACTERS:  # cannot be too long
        return text
    units = text.encode("utf-16-le")
    left_out = len(units) // 2 - MOST_CHARACTERS
    if left_out <= 0:
        return text
    head, tail = units[: 2 * HEAD_CHARACTERS], units[-2 * TAIL_CHARACTERS :]
    return f"{_of_units(head)}\n[…{left_out} chars elided…]\n{_of_units(tail)}"


def _of_units(units: bytes) -> str:
    # The half of a character that a cut leaves is replaced.
    return without_surrogates(units.decode("utf-16-le", "surrogatepass"))


def _length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def _of_file(path: str, label: str, content: bytes) -> Evidence | Judgement:
    if (mime := image_type(content)) is not None:
        return _of_image(path, label, Image(mime, content))
    if (kind := _binary(content)) is not None:
        return failed(f"file {path} cannot be shown to a judge: {kind}; {_CURE}")
    text = without_surrogates(decoded(content))
    length = _length(text)
    note = (
        f" — note: long file ({length} chars); votes on long texts vary, a regex on it would not"
        if length > LONG_FILE
        else ""
    )
    return Evidence(label, cut_text(text), note=note)


def _binary(content: bytes) -> str | None:
    if content.startswith(_PDF):
        return "it is a PDF document"
    if content.startswith(_ZIP):
        return "it is a ZIP archive (office documents are such)"
    place = content.find(b"\0")
    return f"it contains a NUL byte at offset {place}" if place >= 0 else None


def _of_image(path: str, label: str, image: Image) -> Evidence | Judgement:
    count = len(image.data)
    size = image_size(image.data, image.mime)
    if size is None:
        return failed(
            f"file {path} cannot be shown to a judge as an image: "
            f"it begins like {image.mime}, and its size cannot be read"
        )
    if count > MOST_IMAGE_BYTES or max(size) > MOST_PIXELS:
        return errored(
            f"file {path} is too large an image for a judge: {count} bytes, "
            f"{size[0]}x{size[1]} pixels, expected at most {MOST_IMAGE_BYTES} bytes "
            f"and {MOST_PIXELS} pixels a side"
        )
    shape = f"{image.mime}, {count} bytes, {size[0]}x{size[1]}px"
    described = f"[image {path}: sent as it is on disk, {shape}]"
    return Evidence(label, described, image, " (image)")
