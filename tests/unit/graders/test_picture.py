"""Images by their content: type and size."""

from __future__ import annotations

import struct

import pytest

from pytest_plugin_eval.graders.picture import image_size, image_type
from tests.support.images import gif, jpeg, png, webp_extended, webp_lossless, webp_lossy


@pytest.mark.parametrize(
    ("content", "mime", "size"),
    [
        pytest.param(png(20, 10), "image/png", (20, 10), id="png"),
        pytest.param(png(20, 10)[:30], "image/png", (20, 10), id="png cut after its header"),
        pytest.param(gif(300, 2), "image/gif", (300, 2), id="gif"),
        pytest.param(b"GIF87a" + gif(3, 2)[6:], "image/gif", (3, 2), id="older gif"),
        pytest.param(jpeg(640, 480), "image/jpeg", (640, 480), id="jpeg"),
        pytest.param(jpeg(640, 480, padding=3), "image/jpeg", (640, 480), id="padded jpeg"),
        pytest.param(jpeg(64, 48, frame=0xC2), "image/jpeg", (64, 48), id="progressive jpeg"),
        pytest.param(webp_lossy(320, 200), "image/webp", (320, 200), id="lossy webp"),
        pytest.param(webp_lossless(321, 201), "image/webp", (321, 201), id="lossless webp"),
        pytest.param(webp_extended(70_000, 5), "image/webp", (70_000, 5), id="extended webp"),
    ],
)
def test_header_tells_type_and_size(content: bytes, mime: str, size: tuple[int, int]) -> None:
    assert image_type(content) == mime
    assert image_size(content, mime) == size


@pytest.mark.parametrize(
    ("content", "mime"),
    [
        pytest.param(b"\x89PNG", "image/png", id="png without header"),
        pytest.param(b"\x89PNG\r\n\x1a\n" + b"x" * 40, "image/png", id="png with another"),
        pytest.param(png(0, 10), "image/png", id="png of no width"),
        pytest.param(b"GIF89a\x01", "image/gif", id="cut gif"),
        pytest.param(b"\xff\xd8\xff\xd9", "image/jpeg", id="empty jpeg"),
        pytest.param(jpeg(9, 9)[:20], "image/jpeg", id="jpeg cut before its frame"),
        pytest.param(jpeg(9, 9, frame=0xC4), "image/jpeg", id="jpeg without a frame"),
        pytest.param(b"\xff\xd8\xff\xe0" + struct.pack(">H", 0) + b"x", "image/jpeg", id="no JFIF"),
        pytest.param(b"RIFF0000WEBP", "image/webp", id="empty webp"),
        pytest.param(webp_extended(9, 9)[:26], "image/webp", id="cut webp"),
        pytest.param(b"RIFF0000WEBPVP9 " + b"x" * 40, "image/webp", id="unknown webp"),
    ],
)
def test_damaged_header_has_no_size(content: bytes, mime: str) -> None:
    assert image_type(content) == mime
    assert image_size(content, mime) is None


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xd8", b"%PDF-1.7", b"GIF88a", b"RIFF0000WAVE", b"<svg/>", b"BM" + b"\0" * 30],
)
def test_anything_else_is_no_image(content: bytes) -> None:
    assert image_type(content) is None
