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

try:
    from yaml._yaml import CParser as _Parser
except ImportError:  # PyYAML built without libyaml: slower, same events
    from pytest_plugin_eval.cases.yaml_fallback import PythonParser as _Parser  # type: ignore[assignment]

__all__ = ["Path", "YamlError", "line_numbers", "load"]

Path: TypeAlias = tuple[str | int, ...]
"""Where a value stands in a document: keys and indexes from the top."""

# Deep enough for any case; keeps recursion, ours and the interpreter's, far from its limit.
MAX_DEPTH = 100
# Beyond this a decimal number is infinite for JavaScript, and too long for Python's `int`.
MAX_DIGITS = 308

_STARTS_OTHER = frozenset("+-.0123456789tTfFnN~")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BASED = re.compile(r"([-+]?)0(?:o([0-7]+)|x([0-9a-fA-F]+))")
_INFINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NAN = frozenset((".nan", ".NaN", ".NAN"))
_STRING_TAGS = frozenset(("!", "tag:yaml.org,2002:str"))


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


def plain_value(text: str) -> object:
    """Return the value of an unquoted scalar."""
    if text and text[0] not in _STARTS_OTHER:
        return text
    if text in _WORDS:
        return _WORDS[text]
    return _number(text)


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
    try:
        parser = _Parser(text)
        return _Builder(parser.get_event, lines).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(part for part in (error.context, error.problem) if part)
        raise YamlError(what, mark.line + 1 if mark else 1) from error
    except yaml.reader.ReaderError as error:
        character = error.character if isinstance(error.character, str) else chr(error.character)
        line = text.count("\n", 0, max(text.find(character), 0)) + 1
        raise YamlError(f"the character {character!r} is not allowed in YAML", line) from error


class _Builder:
    """Turns the events of one document into values, and notes lines when asked to."""

    def __init__(
        self, next_event: Callable[[], yaml.Event | None], lines: MutableMapping[Path, int] | None
    ) -> None:
        self._next = next_event
        self._lines = lines
        self._anchors: dict[str, object] = {}

    def document(self) -> object:
        """Return the value of the document; several documents are an error."""
        self._next()
        if isinstance(self._next(), yaml.StreamEndEvent):
            return None
        value = self._value(self._next(), ())
        self._next()
        event = self._next()
        if not isinstance(event, yaml.StreamEndEvent):
            self._refuse("a second document begins, expected only one", event)
        return value

    def _value(self, event: yaml.Event | None, path: Path) -> object:
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event)
            if event.anchor is not None:
                self._anchors[event.anchor] = value
            return value
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                self._refuse(f"the anchor {event.anchor!r} is not defined above", event)
            return self._anchors[event.anchor]
        if len(path) >= MAX_DEPTH:
            self._refuse(f"nested more than {MAX_DEPTH} levels deep", event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(event, path)
        assert isinstance(event, yaml.MappingStartEvent)  # noqa: S101 - a parser yields no other here
        return self._mapping(event, path)

    def _sequence(self, start: yaml.SequenceStartEvent, path: Path) -> list[object]:
        items: list[object] = []
        if start.anchor is not None:
            self._anchors[start.anchor] = items
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            here = (*path, len(items))
            self._note(here, event)
            items.append(self._value(event, here))
        return items

    def _mapping(self, start: yaml.MappingStartEvent, path: Path) -> dict[str, object]:
        own: dict[str, object] = {}
        merged: list[object] = []
        if start.anchor is not None:
            self._anchors[start.anchor] = own
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = _key(self._value(event, (*path, "")))
            here = (*path, key)
            self._note(here, event)
            value = self._value(self._next(), here)
            if key == "<<":
                merged.extend(value if isinstance(value, list) else [value])
            else:
                own[key] = value
        for mapping in merged:
            if isinstance(mapping, dict):
                for key, value in mapping.items():
                    own.setdefault(key, value)
        return own

    def _note(self, path: Path, event: yaml.Event | None) -> None:
        if self._lines is not None:
            self._lines[path] = _line(event)

    def _refuse(self, text: str, event: yaml.Event | None) -> NoReturn:
        raise YamlError(text, _line(event))


def _line(event: yaml.Event | None) -> int:
    mark = event.start_mark if event is not None else None
    return mark.line + 1 if mark is not None else 1


def _scalar(event: yaml.ScalarEvent) -> object:
    if event.implicit[0]:
        return plain_value(event.value)
    # Tags other than `!!str` change nothing: a quoted scalar stays a string.
    if event.style in {None, ""} and event.tag not in _STRING_TAGS:
        return plain_value(event.value)
    return event.value


def _key(value: object) -> str:
    """Return a mapping key as JavaScript would spell it."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value) if isinstance(value, int | float) else "[object]"
