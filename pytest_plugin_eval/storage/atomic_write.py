"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import time
from collections.abc import Iterable
from pathlib import Path

from pytest_plugin_eval.text import without_surrogates

__all__ = ["remove_unfinished", "write_bytes", "write_chunks", "write_text"]

_ASIDE = re.compile(r"\.[0-9a-f]{16}\.tmp")


def write_bytes(path: Path, data: bytes) -> None:
    """Write *data* as a file that appears whole, see `write_chunks`."""
    write_chunks(path, (data,))


def write_chunks(path: Path, chunks: Iterable[bytes], *, durable: bool = True) -> None:
    """Write *chunks* aside in the directory of *path*, then rename it there.

    Missing directories are made. Whoever reads sees the former content or the new one, never a
    part. A path that is a device or a pipe (``/dev/stdout``) is written to as it is. What can be
    made again need not be *durable*: a power cut may leave it empty, and a thousand such files are
    written in a second.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            file.writelines(chunks)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    # A short name of its own: that of the target may already be as long as the file system allows.
    aside = path.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        # "x" with the umask's mode, as for any file; tempfile's 0o600 would hide results from
        # others.
        with aside.open("xb") as file:
            file.writelines(chunks)
            file.flush()
            if durable:
                # Else a power cut after the rename may leave an empty file under the final name.
                os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str | Iterable[str], *, durable: bool = True) -> None:
    """Write *text*, or the parts of one, as UTF-8 like `write_chunks`.

    Newlines stay as they are, lone surrogates are replaced.
    """
    parts = (text,) if isinstance(text, str) else text
    encoded = (without_surrogates(part).encode("utf-8") for part in parts)
    write_chunks(path, encoded, durable=durable)


def remove_unfinished(directory: Path, *, deep: bool = True, older_than_s: float = 0.0) -> None:
    """Remove what writers that were killed left in *directory*, and below it if *deep*.

    A file that is still being written looks the same but for its age: where others may write at the
    same time, *older_than_s* is more than any write takes.
    """
    youngest = time.time() - older_than_s
    for place, below, names in os.walk(directory):
        if not deep:
            below.clear()
        for path in (Path(place, name) for name in names if _ASIDE.fullmatch(name)):
            # Another process may remove it at the same time.
            with contextlib.suppress(FileNotFoundError):
                if not older_than_s or path.stat().st_mtime < youngest:
                    path.unlink()
