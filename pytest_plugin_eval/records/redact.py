"""Credentials taken out of records by their value, before anything is written or graded."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from pytest_plugin_eval.records.model import FileEntry, RunRecord
from pytest_plugin_eval.records.trace import Trace

__all__ = ["MARK", "redacted", "redacted_json", "redactor"]

MARK = "[***]"
"""Stands where a secret stood. Shorter than any secret, so that it cannot hold one itself."""
SECRET_LENGTH = 8
"""Shorter values are left alone: they would be found in ordinary words (decisions, 15)."""
_ESCAPE_DEPTH = 3


def redactor(secrets: Iterable[str]) -> Callable[[str], str]:
    """Return a function that puts `MARK` in the place of every secret of eight characters or more.

    Secrets are found as they are and as they stand in JSON, also in JSON quoted inside JSON.
    """
    forms = _forms(secrets)
    if not forms:
        return _unchanged
    pattern = re.compile(
        "|".join(map(re.escape, sorted(forms, key=lambda form: (-len(form), form))))
    )

    def redact(text: str) -> str:
        # What is left around a mark may be a secret again; every round makes the text shorter.
        while (clean := pattern.sub(MARK, text)) != text:
            text = clean
        return text

    return redact


def redacted(record: RunRecord, secrets: Iterable[str]) -> RunRecord:
    """Return the record with every secret replaced: in its trace, files, error and notes."""
    redact = redactor(secrets)
    if redact is _unchanged:
        return record
    error = record.outcome.error
    return replace(
        record,
        outcome=replace(record.outcome, error=None if error is None else redact(error)),
        trace=Trace(map(redact, record.trace.lines)),
        files=tuple(
            sorted((_entry(entry, redact) for entry in record.files), key=lambda entry: entry.path)
        ),
        provenance={name: redact(value) for name, value in record.provenance.items()},
        notes=tuple(map(redact, record.notes)),
    )


def redacted_json(value: object, redact: Callable[[str], str]) -> object:
    """Return JSON with every text in it redacted, names of fields included."""
    match value:
        case str():
            return redact(value)
        case list():
            return [redacted_json(item, redact) for item in value]
        case Mapping():
            return {redact(str(key)): redacted_json(item, redact) for key, item in value.items()}
        case _:
            return value


def _entry(entry: FileEntry, redact: Callable[[str], str]) -> FileEntry:
    return replace(
        entry,
        path=redact(entry.path),
        content=None if entry.content is None else _content(entry.content, redact),
        target=None if entry.target is None else redact(entry.target),
    )


def _content(content: bytes, redact: Callable[[str], str]) -> bytes:
    # Bytes that are no UTF-8 survive the way there and back: only the secret changes.
    text = content.decode("utf-8", "surrogateescape")
    return redact(text).encode("utf-8", "surrogateescape")


def _forms(secrets: Iterable[str]) -> frozenset[str]:
    forms = {secret for secret in secrets if len(secret) >= SECRET_LENGTH}
    for _ in range(_ESCAPE_DEPTH):
        forms |= {json.dumps(form, ensure_ascii=False)[1:-1] for form in forms}
    return frozenset(forms | {json.dumps(form)[1:-1] for form in forms})


def _unchanged(text: str) -> str:
    return text
