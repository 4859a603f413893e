"""Images that a judge can be shown: what they are, and how large."""

from __future__ import annotations

import struct

__all__ = ["image_size", "image_type"]

_SHORTEST = 4
_MAGIC = ((b"\x89PNG", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))
_GIFS = (b"GIF87a", b"GIF89a")
# Start-of-frame markers of JPEG; C4, C8 and CC in the same range are something else.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_FILL = 0xFF
_14_BITS = 0x3FFF


def image_type(content: bytes) -> str | None:
    """Return the MIME type of a PNG, JPEG, GIF or WebP by its first bytes."""
    if len(content) < _SHORTEST:
        return None
    for magic, mime in _MAGIC:
        if content.startswith(magic):
            return mime
    if content.startswith(_GIFS):
        return "image/gif"
    return "image/webp" if content[:4] == b"RIFF" and content[8:12] == b"WEBP" else None


def image_size(content: bytes, mime: str) -> tuple[int, int] | None:
    """Return width and height in pixels as the header has them; ``None`` when it is damaged."""
    readers = {"image/png": _png, "image/jpeg": _jpeg, "image/gif": _gif, "image/webp": _webp}
    try:
        width, height = readers[mime](content)
    except (struct.error, IndexError, ValueError):
        return None
    return (width, height) if width and height else None


def _png(content: bytes) -> tuple[int, int]:
    if content[12:16] != b"IHDR":
        raise ValueError("a PNG begins with its header")
    width, height = struct.unpack_from(">II", content, 16)
    return width, height


def _gif(content: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", content, 6)
    return width, height


def _jpeg(content: bytes) -> tuple[int, int]:
    place = 2
    while content[place] == _FILL:
        marker = content[place + 1]
        if marker == _FILL:  # padding
            place += 1
        elif marker in _FRAMES:
            height, width = struct.unpack_from(">HH", content, place + 5)
            return width, height
        else:
            (length,) = struct.unpack_from(">H", content, place + 2)
            place += 2 + length
    raise ValueError("no frame in a JPEG")


def _webp(content: bytes) -> tuple[int, int]:
    kind = content[12:16]
    if kind == b"VP8X":
        width, height = (
            int.from_bytes(content[at : at + 3], "little") + 1
            for at in (24, 27)
            if len(content) >= at + 3
        )
        return width, height
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", content, 21)
        return (bits & _14_BITS) + 1, (bits >> 14 & _14_BITS) + 1
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", content, 26)
        return width & _14_BITS, height & _14_BITS
    raise ValueError("no image in a WebP")
