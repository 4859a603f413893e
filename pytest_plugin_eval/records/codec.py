"""A run record as a file: JSON lines a person can read, with the agent's own lines untouched.

Line 1 is a header object; then come the trace lines exactly as the agent wrote them, one object a
workspace entry, and one object a judge's vote. The header counts them, so that a cut file is
noticed. Schema 1 had no votes.
"""

from __future__ import annotations

import base64
import binascii
import json
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.records.model import (
    Arm,
    Ending,
    FileEntry,
    FileKind,
    MockRecord,
    RunKey,
    RunOutcome,
    RunRecord,
    Vote,
)
from pytest_plugin_eval.records.trace import Trace
from pytest_plugin_eval.text import shown, without_surrogates

__all__ = ["SCHEMA", "decode", "encode", "read_record"]

_Word = TypeVar("_Word")

SCHEMA = 2
"""The version this module writes; it reads every version up to it."""


def read_record(path: Path) -> RunRecord:
    """Return the record in *path*.

    Raises `RecordError`, naming the file, when it cannot be read or is no record.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise RecordError(f"{path}: cannot read the record: {reason}") from error
    return decode(data, str(path))


def encode(record: RunRecord) -> bytes:
    """Return the record as UTF-8 JSON lines.

    Lone surrogates, which UTF-8 cannot hold, become U+FFFD.
    """
    lines = [
        _dump(_header(record)),
        *record.trace.lines,
        *(_dump(_file_fields(entry)) for entry in record.files),
        *(_dump(_vote_fields(vote)) for vote in record.votes),
        "",
    ]
    return without_surrogates("\n".join(lines)).encode("utf-8")


def decode(data: bytes, where: str) -> RunRecord:
    """Return the record of a file's bytes; *where* names the file in errors.

    Raises `RecordError`, naming file and line, for anything `encode` does not write, for a file
    that was cut, and for a newer schema.
    """
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RecordError(f"{where}:{line}: a record is UTF-8 text, got other bytes") from error
    header = _load(lines[0], f"{where}:1")
    _check_schema(header, where)
    first_file = 1 + header.number("trace_lines")
    first_vote = first_file + header.number("file_lines")
    end = first_vote + (header.number("vote_lines") if header.number("schema") > 1 else 0)
    if len(lines) != end + 1 or lines[-1]:
        raise RecordError(
            f"{where}:{len(lines)}: the file is cut or was changed: "
            f"its header promises {end} lines, each ended by a newline"
        )
    objects = [_load(lines[i], f"{where}:{i + 1}") for i in range(first_file, end)]
    files = first_vote - first_file
    return RunRecord(
        key=_key(header.inner("key")),
        outcome=_outcome(header.inner("outcome")),
        trace=Trace(lines[1:first_file]),
        files=tuple(map(_file, objects[:files])),
        provenance=header.texts("provenance"),
        notes=header.list_of_texts("notes"),
        mocks=_mocks(header.inner("mocks")) if header.has("mocks") else None,
        votes=tuple(map(_vote, objects[files:])),
    )


def _header(record: RunRecord) -> Mapping[str, object]:
    outcome = record.outcome
    return {
        "schema": SCHEMA,
        "kind": "run",
        "key": {
            "case": record.key.case,
            "arm": record.key.arm.value,
            "number": record.key.number,
        },
        "outcome": {
            "ending": outcome.ending.value,
            "error": outcome.error,
            "turns": outcome.turns,
            "cost_usd": outcome.cost_usd,
            "duration_s": outcome.duration_s,
            "started_at": outcome.started_at,
            "attempts": outcome.attempts,
            **({"known_cost_usd": outcome.known_cost_usd} if outcome.known_cost_usd else {}),
        },
        "provenance": dict(record.provenance),
        "notes": list(record.notes),
        **({} if record.mocks is None else {"mocks": _mock_fields(record.mocks)}),
        "trace_lines": len(record.trace.lines),
        "file_lines": len(record.files),
        "vote_lines": len(record.votes),
    }


def _mock_fields(mocks: MockRecord) -> Mapping[str, object]:
    fields: dict[str, object] = {"calls": mocks.calls, "fields": mocks.fields}
    if mocks.aborted is not None:
        fields["aborted"] = mocks.aborted
    return fields


def _file_fields(entry: FileEntry) -> Mapping[str, object]:
    fields: dict[str, object] = {
        "path": entry.path,
        "kind": entry.kind.value,
        "created": entry.created,
    }
    if entry.content is not None:
        try:
            fields["text"] = entry.content.decode("utf-8")
        except UnicodeDecodeError:
            fields["base64"] = base64.b64encode(entry.content).decode("ascii")
    if entry.target is not None:
        fields["target"] = entry.target
    if entry.leaves:
        fields["leaves"] = True
    return fields


def _vote_fields(vote: Vote) -> Mapping[str, object]:
    return {
        "question": vote.question,
        "grader": vote.grader,
        "judging": vote.judging,
        "number": vote.number,
        "passed": vote.passed,
        "unreadable": vote.unreadable,
        "reply": vote.reply,
        "asked_model": vote.asked_model,
        "model": vote.model,
        "cost_usd": vote.cost_usd,
        "asked_at": vote.asked_at,
    }


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class _Fields:
    """One object of the file, with checks that name where it stands."""

    __slots__ = ("_fields", "_where")

    def __init__(self, fields: Mapping[str, object], where: str) -> None:
        self._fields = fields
        self._where = where

    def wrong(self, name: str, expected: str) -> RecordError:
        value = shown(self._fields[name]) if name in self._fields else "nothing"
        return RecordError(f"{self._where}: {name} must be {expected}, got {value}")

    def text(self, name: str) -> str:
        value = self._fields.get(name)
        if not isinstance(value, str):
            raise self.wrong(name, "a string")
        return value

    def optional_text(self, name: str) -> str | None:
        return None if self._fields.get(name) is None else self.text(name)

    def number(self, name: str) -> int:
        value = self._fields.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.wrong(name, "a whole number, 0 or more")
        if not 0 <= value <= sys.maxsize:  # beyond it, a mean cannot be calculated
            raise self.wrong(name, f"a whole number from 0 to {sys.maxsize}")
        return value

    def real(self, name: str) -> float:
        value = self._fields.get(name)
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise self.wrong(name, "a number")
        # Python's JSON reads NaN, Infinity and integers that are beyond any float.
        if not 0 <= value <= sys.float_info.max:
            raise self.wrong(name, "a finite number, 0 or more")
        return value

    def cost(self, name: str) -> float | None:
        is_unknown = name in self._fields and self._fields[name] is None
        return None if is_unknown else self.real(name)

    def flag(self, name: str) -> bool:
        value = self._fields.get(name)
        if not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return value

    def one_of(self, name: str, kind: Callable[[str], _Word]) -> _Word:
        text = self.text(name)
        try:
            return kind(text)
        except ValueError as error:
            raise self.wrong(name, "a word of this version") from error

    def inner(self, name: str) -> _Fields:
        value = self._fields.get(name)
        if not isinstance(value, dict):
            raise self.wrong(name, "an object")
        return _Fields(value, self._where)

    def texts(self, name: str) -> Mapping[str, str]:
        value = self._fields.get(name)
        if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
            raise self.wrong(name, "an object of strings")
        return _shared(tuple(value.items()))

    def list_of_texts(self, name: str) -> tuple[str, ...]:
        value = self._fields.get(name)
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self.wrong(name, "a list of strings")
        return tuple(value)

    @property
    def whole(self) -> Mapping[str, object]:
        """The object as it is, for fields that are only shown."""
        return self._fields

    def has(self, name: str) -> bool:
        return name in self._fields


@lru_cache(maxsize=256)
def _shared(texts: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    """Return the mapping: mostly the same in the records of a suite, and kept with each run."""
    return dict(texts)


def _load(line: str, where: str) -> _Fields:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{where}: expected a JSON object, got {shown(line)}") from error
    if not isinstance(value, dict):
        raise RecordError(f"{where}: expected a JSON object, got {shown(value)}")
    return _Fields(value, where)


def _check_schema(header: _Fields, where: str) -> None:
    schema = header.number("schema")
    if schema > SCHEMA:
        raise RecordError(
            f"{where}: written by a newer version: schema {schema}, "
            f"this version reads up to {SCHEMA}"
        )
    if schema < 1 or header.text("kind") != "run":
        raise RecordError(f"{where}:1: expected the header of a run record")


def _key(fields: _Fields) -> RunKey:
    return RunKey(
        case=sys.intern(fields.text("case")),
        arm=fields.one_of("arm", Arm),
        number=fields.number("number"),
    )


def _mocks(fields: _Fields) -> MockRecord:
    return MockRecord(
        calls=fields.optional_text("calls"),
        fields=fields.inner("fields").whole,
        aborted=fields.texts("aborted") if fields.has("aborted") else None,
    )


def _outcome(fields: _Fields) -> RunOutcome:
    return RunOutcome(
        ending=fields.one_of("ending", Ending),
        error=fields.optional_text("error"),
        turns=fields.number("turns"),
        cost_usd=fields.cost("cost_usd"),
        duration_s=fields.real("duration_s"),
        started_at=fields.text("started_at"),
        attempts=fields.number("attempts"),
        known_cost_usd=fields.real("known_cost_usd") if fields.has("known_cost_usd") else 0.0,
    )


def _file(fields: _Fields) -> FileEntry:
    return FileEntry(
        path=fields.text("path"),
        kind=fields.one_of("kind", FileKind),
        created=fields.flag("created"),
        content=_content(fields),
        target=fields.optional_text("target"),
        leaves=fields.has("leaves") and fields.flag("leaves"),
    )


def _vote(fields: _Fields) -> Vote:
    return Vote(
        question=fields.text("question"),
        grader=fields.text("grader"),
        judging=fields.number("judging"),
        number=fields.number("number"),
        passed=fields.flag("passed"),
        unreadable=fields.flag("unreadable"),
        reply=fields.text("reply"),
        asked_model=fields.text("asked_model"),
        model=fields.text("model"),
        cost_usd=fields.cost("cost_usd"),
        asked_at=fields.text("asked_at"),
    )


def _content(fields: _Fields) -> bytes | None:
    if fields.has("text"):
        return without_surrogates(fields.text("text")).encode("utf-8")
    if not fields.has("base64"):
        return None
    try:
        return base64.b64decode(fields.text("base64"), validate=True)
    except (ValueError, binascii.Error) as error:
        raise fields.wrong("base64", "base64") from error
