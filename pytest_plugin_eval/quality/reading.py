"""Markdown files with frontmatter, as text and fields. Spec: quality-score, 2.1 and 2.2."""

from __future__ import annotations

import errno
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_plugin_eval.errors import QualityError
from pytest_plugin_eval.text import cut, one_line, without_surrogates

__all__ = ["Document", "read_document", "read_regular", "split_document"]

SAID_LENGTH = 200

# The reference ends the frontmatter at three hyphens anywhere, in the midst of a value too.
_OPENING = re.compile(r"---[ \t]*\n")
_CLOSING = re.compile(r"^---(?=[ \t]*$)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file that was read."""

    file: str
    """As it was reached."""
    content: str
    body: str
    fields: Mapping[str, object]
    problems: tuple[str, ...] = ()


def read_document(file: str) -> Document:
    """Return a file's text, fields and body.

    Raises `QualityError` where it cannot be read or is not UTF-8. Frontmatter without sense gives
    no fields and a problem.
    """
    place = without_surrogates(one_line(file))
    try:
        data = read_regular(file)
    except OSError as error:
        raise QualityError(f"{place}: cannot be read: {error.strerror}") from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise QualityError(
            f"{place}: is not UTF-8 at byte {error.start} (0x{data[error.start]:02x}),"
            " expected a text file in UTF-8"
        ) from error
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    content = text.removeprefix("\ufeff")
    frontmatter, body = split_document(content)
    fields, problem = _fields(frontmatter)
    problems = (f"{place}: {problem}",) if problem else ()
    return Document(file=file, content=content, body=body, fields=fields, problems=problems)


def read_regular(file: str) -> bytes:
    """Return what a file holds; a pipe, of which nobody knows when it ends, is an `OSError`."""
    path = Path(file)
    if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
        raise OSError(errno.EINVAL, "it is no regular file")
    return path.read_bytes()


def split_document(content: str) -> tuple[str | None, str]:
    """Return the YAML between the two lines of three hyphens, and what follows the second."""
    opening = _OPENING.match(content)
    closing = _CLOSING.search(content, opening.end()) if opening else None
    if opening is None or closing is None:
        return None, content
    return content[opening.end() : closing.start()], content[closing.end() :]


def _fields(frontmatter: str | None) -> tuple[Mapping[str, object], str | None]:
    """Return the fields of a frontmatter, and what is wrong with it."""
    if frontmatter is None or not frontmatter.strip():
        return {}, None
    from pytest_plugin_eval.quality import fields  # loads PyYAML

    try:
        value = fields.load(frontmatter)
    except fields.FieldsError as error:
        said = one_line(cut(str(error), SAID_LENGTH))
        return {}, f"the frontmatter is no readable YAML, so it gives no fields: {said}"
    if value is None:
        return {}, None
    if not isinstance(value, dict):
        kind = "a list" if isinstance(value, list) else "a single value"
        return {}, f"the frontmatter is {kind}, expected fields such as 'name: ...'"
    return {key: each for key, each in value.items() if isinstance(key, str)}, None
