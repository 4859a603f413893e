"""The YAML of frontmatter, as PyYAML's safe loader reads it, but on any text.

That loader follows YAML 1.1, where ``yes`` is a boolean, and the score depends on it. Its composer
recurses without limit and its merge keys copy without one; here values are built from the events of
its parser, on a stack. Mappings have only the keys that are text: nobody asks for others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TypeAlias, cast

import yaml
from yaml.constructor import SafeConstructor
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    ScalarEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.nodes import ScalarNode
from yaml.resolver import Resolver

from pytest_plugin_eval.cases.yaml_fallback import PythonParser
from pytest_plugin_eval.text import without_surrogates

try:
    from yaml._yaml import CParser
except ImportError:  # PyYAML built without libyaml: slower, same events
    CParser = PythonParser  # type: ignore[misc,assignment]

__all__ = ["FieldsError", "load"]

Collection: TypeAlias = "list[object] | dict[str, object]"

# As deep as the safe loader gets before Python's recursion limit, about.
MAX_DEPTH = 400
MAX_EVENTS = 200_000
MAX_MERGED = 100_000
# libyaml compares each with all those before.
MAX_DIRECTIVES = 100
# A longer plain scalar stays text: a number of so many digits takes the square of their number.
MAX_TYPED = 300
MAX_STRICT = 20_000

_PREFIX = "tag:yaml.org,2002:"
_TEXT = f"{_PREFIX}str"
_SCALAR_TAGS = frozenset(
    _PREFIX + name for name in ("binary", "bool", "float", "int", "null", "str", "timestamp")
)
_MAPPING_TAGS = frozenset((None, "!", f"{_PREFIX}map", f"{_PREFIX}set"))
_SEQUENCE_TAGS = frozenset((None, "!", f"{_PREFIX}seq", f"{_PREFIX}omap", f"{_PREFIX}pairs"))
_MERGE = f"{_PREFIX}merge"
_VALUE = f"{_PREFIX}value"
_DIRECTIVE = re.compile("^%", re.MULTILINE)


class FieldsError(ValueError):
    """Text that is no YAML, or more of it than anybody writes; in one line."""


def load(text: str) -> object:
    """Return the value of the only document of *text*, ``None`` for an empty text.

    Raises `FieldsError`.
    """
    if "%" in text and len(_DIRECTIVE.findall(text)) > MAX_DIRECTIVES:
        raise FieldsError(f"more than {MAX_DIRECTIVES} directives")
    try:
        return _Builder().document(_events(text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        # The frontmatter begins on the second line of its file; libyaml counts a line more at the
        # end of a text that ends without a line break.
        where = f"line {min(mark.line, text.count(chr(10))) + 2}: " if mark else ""
        said = " ".join(part for part in (error.context, error.problem) if part)
        raise FieldsError(where + said) from error
    except yaml.YAMLError as error:
        raise FieldsError(str(error).partition("\n")[0]) from error
    # What its constructors raise at values that only look like a date or a number.
    except (ValueError, LookupError, ArithmeticError, AttributeError) as error:
        raise FieldsError(str(error)) from error


def _events(text: str) -> Iterator[Event]:
    # The safe loader refuses a tab after a value; libyaml does not, but is a hundred times faster.
    is_strict = "\t" in text and len(text) <= MAX_STRICT
    parser = PythonParser(text) if is_strict else CParser(text)
    for _ in range(MAX_EVENTS):
        event = parser.get_event()
        if event is None or isinstance(event, StreamEndEvent):
            return
        yield event
    raise FieldsError(f"more than {MAX_EVENTS} values")


class _Open:
    """A collection that is being read."""

    __slots__ = ("children", "merges", "value")

    def __init__(self, value: Collection) -> None:
        self.value = value
        self.children: list[object] = []
        """Of a mapping a key whose value is to come."""
        self.merges: list[object] = []


class _MergeKey:
    """Stands for the key ``<<``."""


_MERGE_KEY = _MergeKey()


class _Builder:
    """Turns the events of one document into its value."""

    def __init__(self) -> None:
        # PyYAML has no annotations.
        self._resolve = cast("Callable[[type, str, tuple[bool, bool]], str]", Resolver().resolve)
        self._constructor = SafeConstructor()
        self._anchors: dict[str, object] = {}
        self._open: list[_Open] = []
        self._merged = 0
        self._top: object = None

    def document(self, events: Iterator[Event]) -> object:
        """Return the value of the document; several are an error."""
        documents = 0
        for event in events:
            if isinstance(event, ScalarEvent):
                self._add(self._anchored(event.anchor, self._scalar(event)))
            elif isinstance(event, MappingStartEvent | SequenceStartEvent):
                self._start(event)
            elif isinstance(event, CollectionEndEvent):
                self._end()
            elif isinstance(event, AliasEvent):
                if event.anchor not in self._anchors:
                    raise FieldsError(f"the anchor {event.anchor!r} is not defined above")
                self._add(self._anchors[event.anchor])
            elif isinstance(event, DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise FieldsError("a second document begins, expected only one")
        return self._top

    def _start(self, event: MappingStartEvent | SequenceStartEvent) -> None:
        if len(self._open) == MAX_DEPTH:
            raise FieldsError(f"nested more than {MAX_DEPTH} levels deep")
        is_mapping = isinstance(event, MappingStartEvent)
        if event.tag not in (_MAPPING_TAGS if is_mapping else _SEQUENCE_TAGS):
            raise FieldsError(f"the tag {event.tag!r} is unknown here")
        value: Collection = {} if is_mapping else []
        self._anchored(event.anchor, value)
        self._open.append(_Open(value))

    def _end(self) -> None:
        ended = self._open.pop()
        if ended.merges:
            self._merge(ended)
        self._add(ended.value)

    def _add(self, value: object) -> None:
        """Put a whole value where it belongs: as the document, an item, a key or a field."""
        if not self._open:
            self._top = value
            return
        around = self._open[-1]
        if isinstance(around.value, list):
            around.value.append(value)
        elif not around.children:
            if not isinstance(value, Hashable):
                raise FieldsError("a list or a mapping is a key, expected text")
            around.children.append(value)
        else:
            key = around.children.pop()
            if key is _MERGE_KEY:
                around.merges.append(value)
            elif isinstance(key, str):
                around.value[key] = value

    def _merge(self, ended: _Open) -> None:
        """Add merged fields: own ones win, then those of the last ``<<``, in it the first."""
        own = ended.value
        assert isinstance(own, dict)
        for value in reversed(ended.merges):
            for mapping in value if isinstance(value, list) else [value]:
                if not isinstance(mapping, Mapping):
                    raise FieldsError("<< merges what is no mapping")
                self._merged += len(mapping) + 1
                if self._merged > MAX_MERGED:
                    raise FieldsError(f"<< merges more than {MAX_MERGED} fields")
                if mapping is not own:
                    for key, each in mapping.items():
                        own.setdefault(key, each)

    def _anchored(self, anchor: str | None, value: object) -> object:
        if anchor is not None:
            if anchor in self._anchors:
                raise FieldsError(f"the anchor {anchor!r} is defined twice")
            self._anchors[anchor] = value
        return value

    def _scalar(self, event: ScalarEvent) -> object:
        # Escapes make lone surrogates in the parser that is written in Python.
        text = without_surrogates(event.value)
        tag = event.tag
        if tag is None or tag == "!":
            if not event.implicit[0] or len(text) > MAX_TYPED:
                return text
            tag = self._resolve(ScalarNode, text, event.implicit)
        if tag == _TEXT:
            return text
        if tag in {_MERGE, _VALUE} and self._is_key():
            return _MERGE_KEY if tag == _MERGE else text
        if tag not in _SCALAR_TAGS or len(text) > MAX_TYPED:
            raise FieldsError(f"the tag {tag!r} is unknown here")
        construct = SafeConstructor.yaml_constructors[tag]
        value: object = construct(self._constructor, ScalarNode(tag, text))
        return value

    def _is_key(self) -> bool:
        if not self._open:
            return False
        around = self._open[-1]
        return isinstance(around.value, dict) and not around.children
