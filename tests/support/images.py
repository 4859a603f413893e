"""Small images of every kind that a judge can be shown."""

from __future__ import annotations

import struct
import zlib


def png(width: int = 20, height: int = 10) -> bytes:
    """Return a red PNG."""
    rows = (b"\0" + b"\xff\0\0" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pieces = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*piece) for piece in pieces)


def gif(width: int = 1, height: int = 1) -> bytes:
    """Return a GIF of one pixel on a canvas of that size."""
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0)
    colours = b"\x05\x04\x04\0\0\0"
    frame = b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0)
    return head + colours + frame + b"\x02\x02\x44\x01\x00\x3b"


def jpeg(width: int, height: int, *, frame: int = 0xC0, padding: int = 0) -> bytes:
    """Return the headers of a JPEG."""
    start = b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0" + b"\0" * 9
    size = struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\x01\x11\0"
    return start + b"\xff" * padding + bytes((0xFF, frame)) + size + b"\xff\xd9"


def webp_lossy(width: int, height: int) -> bytes:
    """Return the headers of a lossy WebP."""
    return _webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height))


def webp_lossless(width: int, height: int) -> bytes:
    """Return the headers of a lossless WebP."""
    return _webp(b"VP8L", b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14))


def webp_extended(width: int, height: int) -> bytes:
    """Return the headers of an extended WebP."""
    sizes = b"".join((side - 1).to_bytes(3, "little") for side in (width, height))
    return _webp(b"VP8X", b"\0\0\0\0" + sizes)


def _chunk(kind: bytes, data: bytes) -> bytes:
    whole = kind + data
    return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))


def _webp(kind: bytes, data: bytes) -> bytes:
    body = b"WEBP" + kind + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body
