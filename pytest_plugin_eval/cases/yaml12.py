"""YAML as the reference reads it: the core types of YAML 1.2, on PyYAML's parser.

PyYAML's own loaders follow YAML 1.1, where ``yes``, ``1:30`` and ``2026-01-02`` are no strings.
Here only its parser is used, and values are built from its events: that also bounds nesting, while
its composer recurses without limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping
from typing import NoReturn, TypeAlias

import yaml
from yaml.events import (
    AliasEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

try:
    from yaml._yaml import CParser as _Parser
except ImportError:  # PyYAML built without libyaml: slower, same events
    from pytest_plugin_eval.cases.yaml_fallback import PythonParser as _Parser  # type: ignore[assignment]

__all__ = ["Path", "YamlError", "line_numbers", "load", "repeated_keys"]

Path: TypeAlias = tuple[str | int, ...]
"""Where a value stands in a document: keys and indexes from the top."""

# Deep enough for any case; keeps recursion, ours and the interpreter's, far from its limit.
MAX_DEPTH = 200
# Beyond this a decimal number is infinite for JavaScript, and too long for Python's `int`.
MAX_DIGITS = 308

_STARTS_NUMBER = frozenset("+-.0123456789")
_STARTS_OTHER = _STARTS_NUMBER | frozenset("tTfFnN~")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BASED = re.compile(r"([-+]?)0(?:o([0-7]+)|x([0-9a-fA-F]+))")
_INFINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_CURES = {
    "mapping values are not allowed": "a value with a colon and a space in it needs quotes",
    "cannot start any token": "indent with spaces, and quote a value that begins with @ or `",
    "unknown escape character": "in single quotes a backslash needs no second one",
    "expected alphabetic or numeric": "a value that begins with * or & needs quotes",
    "did not find expected key": "look for a quote too few or a line indented differently",
}
# Line breaks in YAML 1.1 only, and characters that libyaml refuses: while a text is read they stand
# in a private plane of Unicode.
_BREAKS_OF_1_1 = re.compile("[\x85\u2028\u2029]")
_CONTROL = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_MASK = 0x100000
_MASKED = re.compile("[\U00100001-\U0010009f\U00102028\U00102029\U0010fffe\U0010ffff]")
_NAN = frozenset((".nan", ".NaN", ".NAN"))
_RESOLVED_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("bool", "float", "int"))


class YamlError(ValueError):
    """Text that is no YAML; `line` counts from 1 within the text."""

    def __init__(self, text: str, line: int) -> None:
        super().__init__(text)
        self.text = text
        self.line = line


def load(text: str) -> object:
    """Return the value of the only document of *text*, ``None`` for an empty text.

    Raises `YamlError`.
    """
    return _read(text, None)


def line_numbers(text: str) -> dict[Path, int]:
    """Return the 1-based line of every key and item of a text that loads."""
    lines: dict[Path, int] = {}
    _read(text, lines)
    return lines


def repeated_keys(text: str) -> dict[Path, int]:
    """Return the 1-based line of every key of a text that loads which stands further up already."""
    lines = _Repeats()
    _read(text, lines)
    return lines.repeated


def plain_value(text: str) -> object:
    """Return the value of an unquoted scalar."""
    if text and text[0] not in _STARTS_OTHER:
        return text
    if text in _WORDS:
        return _WORDS[text]
    return _number(text) if text[0] in _STARTS_NUMBER else text


def _number(text: str) -> object:
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) <= MAX_DIGITS else float(text)
    if _FLOAT.fullmatch(text):
        value = float(text)
        # One number type in JavaScript: `max_turns: 10.0` and `1e1` are whole numbers.
        return int(value) if value.is_integer() else value
    if based := _BASED.fullmatch(text):
        sign, octal, hexadecimal = based.groups()
        whole = int(octal, 8) if octal else int(hexadecimal, 16)
        return -whole if sign == "-" else whole
    if _INFINITE.fullmatch(text):
        return float("-inf") if text[0] == "-" else float("inf")
    return float("nan") if text in _NAN else text


def _read(text: str, lines: MutableMapping[Path, int] | None) -> object:
    # A string knows whether it is ASCII, so that most files skip the second look.
    if not text.isascii() and _BREAKS_OF_1_1.search(text):
        return _read_masked(text, _BREAKS_OF_1_1, lines)
    try:
        return _parsed(text, lines)
    except yaml.reader.ReaderError as error:
        character = error.character if isinstance(error.character, str) else chr(error.character)
        if character != "\0" and _CONTROL.search(text):
            return _read_masked(text, _CONTROL, lines)
        line = text.count("\n", 0, max(text.find(character), 0)) + 1
        raise YamlError(f"the character {character!r} is not allowed in YAML", line) from error


def _parsed(text: str, lines: MutableMapping[Path, int] | None) -> object:
    try:
        return _Builder(_Parser(text).get_event, lines).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(part for part in (error.context, error.problem) if part)
        # libyaml counts a line more at the end of a text that ends without a line break.
        line = min(mark.line, text.count("\n")) + 1 if mark else 1
        raise YamlError(what + _cure(what), line) from error


def _cure(what: str) -> str:
    """Return what helps against the parser's usual complaints, which speak of YAML's grammar."""
    return next((f"; {cure}" for sign, cure in _CURES.items() if sign in what), "")


def _read_masked(
    text: str, characters: re.Pattern[str], lines: MutableMapping[Path, int] | None
) -> object:
    """Read a text with characters that mean more, or less, to YAML 1.1 than to 1.2."""
    masked = characters.sub(lambda found: chr(ord(found[0]) + _MASK), text)
    return _unmasked(_read(masked, lines), {})


def _unmasked(value: object, done: dict[int, object]) -> object:
    if isinstance(value, str):
        return _MASKED.sub(lambda found: chr(ord(found[0]) - _MASK), value)
    if not isinstance(value, list | dict) or id(value) in done:
        return done.get(id(value), value)
    if isinstance(value, list):
        items: list[object] = []
        done[id(value)] = items
        items.extend(_unmasked(item, done) for item in value)
        return items
    fields: dict[object, object] = {}
    done[id(value)] = fields
    fields.update({_unmasked(key, done): _unmasked(each, done) for key, each in value.items()})
    return fields


class _Repeats(dict[Path, int]):
    """Lines of keys, and of those that were noted twice."""

    def __init__(self) -> None:
        super().__init__()
        self.repeated: dict[Path, int] = {}

    def __setitem__(self, path: Path, line: int) -> None:
        # A text may be read anew from its beginning, which finds the same lines.
        if self.setdefault(path, line) < line:
            self.repeated[path] = line


class _Builder:
    """Turns the events of one document into values, and notes lines when asked to."""

    def __init__(
        self, next_event: Callable[[], Event | None], lines: MutableMapping[Path, int] | None
    ) -> None:
        self._next = next_event
        self._lines = lines
        self._anchors: dict[str, object] = {}
        self._depth = 0
        self._path: Path = ()

    def document(self) -> object:
        """Return the value of the document; several documents are an error."""
        self._next()
        if isinstance(self._next(), StreamEndEvent):
            return None
        value = self._value(self._next())
        self._next()
        event = self._next()
        if not isinstance(event, StreamEndEvent):
            self._refuse("a second document begins, expected only one", event)
        return value

    def _value(self, event: Event | None) -> object:
        if isinstance(event, ScalarEvent):
            value = _scalar(event)
            if event.anchor is not None:
                self._anchors[event.anchor] = value
            return value
        if isinstance(event, AliasEvent):
            if event.anchor not in self._anchors:
                self._refuse(f"the anchor {event.anchor!r} is not defined above", event)
            return self._anchors[event.anchor]
        if self._depth == MAX_DEPTH:
            self._refuse(f"nested more than {MAX_DEPTH} levels deep", event)
        self._depth += 1
        if isinstance(event, SequenceStartEvent):
            return self._sequence(event)
        assert isinstance(event, MappingStartEvent)
        return self._mapping(event)

    def _sequence(self, start: SequenceStartEvent) -> list[object]:
        items: list[object] = []
        if start.anchor is not None:
            self._anchors[start.anchor] = items
        while not isinstance(event := self._next(), SequenceEndEvent):
            items.append(self._inner(len(items), event, event))
        self._depth -= 1
        return items

    def _mapping(self, start: MappingStartEvent) -> dict[str, object]:
        own: dict[str, object] = {}
        merged: list[object] = []
        if start.anchor is not None:
            self._anchors[start.anchor] = own
        while not isinstance(event := self._next(), MappingEndEvent):
            key = _key(self._value(event))
            value = self._inner(key, event, self._next())
            if key == "<<":
                merged.extend(value if isinstance(value, list) else [value])
            else:
                own[key] = value
        for mapping in merged:
            if isinstance(mapping, dict):
                for key, value in mapping.items():
                    own.setdefault(key, value)
        self._depth -= 1
        return own

    def _inner(self, step: str | int, where: Event | None, event: Event | None) -> object:
        """Return a value inside a collection; its line is that of its key or its own."""
        if self._lines is None:
            return self._value(event)
        outer = self._path
        self._path = (*outer, step)
        self._lines[self._path] = _line(where)
        value = self._value(event)
        self._path = outer
        return value

    def _refuse(self, text: str, event: Event | None) -> NoReturn:
        raise YamlError(text, _line(event))


def _line(event: Event | None) -> int:
    mark = event.start_mark if event is not None else None
    return mark.line + 1 if mark is not None else 1


def _scalar(event: ScalarEvent) -> object:
    if event.implicit[0]:
        return plain_value(event.value)
    # A tag makes nothing a number that is not one already: a quoted scalar stays a string.
    if event.style in {None, ""} and event.tag in _RESOLVED_TAGS:
        return plain_value(event.value)
    return event.value


def _key(value: object) -> str:
    """Return a mapping key as JavaScript would spell it."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value) if isinstance(value, int | float) else "[object]"
