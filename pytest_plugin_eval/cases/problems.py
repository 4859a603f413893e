"""What is wrong with a case's files, each problem with its file and line."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, get_args

from pytest_plugin_eval.cases import yaml12
from pytest_plugin_eval.cases.model import STRING
from pytest_plugin_eval.text import did_you_mean, one_line, without_surrogates

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

__all__ = ["Document", "Report", "expected_of", "unknown_key", "value_shown", "without_wrong"]

# The `repr` of a value that aliases itself many times over would not end.
_SHORT = reprlib.Repr()
_SHORT.maxlevel = 3
_SHORT.maxstring = _SHORT.maxother = 70
_SHORT.maxlong = 40
_MAX_SHOWN = 80

MISSING = "missing"
# What the body of a grader file may stand for.
BODY_PATHS = frozenset((("pattern",), ("criteria",)))
# Fields of several shapes: pydantic complains once a shape, we once.
UNIONS = frozenset(("target", "focus", "before", "after"))


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML text of a case, with the place where it stands."""

    file: str
    text: str
    """The YAML alone."""
    fields: Mapping[str, object]
    body: str = ""
    lines_before: int = 0
    """Lines of the file above the YAML."""
    body_line: int = 1
    """The line on which `body` begins."""

    def line(self, path: yaml12.Path) -> int:
        """Return the line of a value, or of the nearest thing around it that is written down."""
        lines = yaml12.line_numbers(self.text)
        if self.body and path in BODY_PATHS and path not in lines:
            return self.body_line
        while path and path not in lines:
            path = path[:-1]
        return lines.get(path, 1) + self.lines_before


class Report:
    """Collects what is wrong with one case, and what is probably a mistake."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.warnings: list[str] = []

    def error(self, where: Document | str, text: str, path: yaml12.Path = ()) -> None:
        """Note a problem that keeps the case from loading."""
        self.errors.append(_located(where, text, path))

    def warning(self, where: Document | str, text: str, path: yaml12.Path = ()) -> None:
        """Note something that loads but is probably a mistake."""
        self.warnings.append(_located(where, text, path))

    def invalid(
        self,
        where: Document,
        raised: ValidationError,
        model: type[BaseModel],
        data: Mapping[str, object],
        *,
        path: yaml12.Path = (),
        prefix: str = "",
        nulls: Iterable[str] = (),
    ) -> None:
        """Note what pydantic found in *data*, the mapping at *path*, save of fields in *nulls*."""
        told: set[yaml12.Path] = {(key,) for key in nulls}
        for details in raised.errors(include_url=False, include_context=False):
            location = _real_location(details["loc"])
            if location not in told:
                told.add(location)
                text = _expectation(details, location, model, data)
                self.error(where, prefix + text, (*path, *location))


def without_wrong(data: Mapping[str, object], raised: ValidationError) -> dict[str, object]:
    """Return the fields of a mapping that pydantic found nothing wrong with."""
    wrong = {error["loc"][0] for error in raised.errors(include_url=False, include_input=False)}
    return {key: value for key, value in data.items() if key not in wrong}


def _located(where: Document | str, text: str, path: yaml12.Path) -> str:
    place = f"{where.file}:{where.line(path)}" if isinstance(where, Document) else where
    return without_surrogates(one_line(f"{place}: {text}"))


def value_shown(value: object) -> str:
    """Return a value of a YAML file for a message: as YAML spells it where that is short."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float) and abs(value) == float("inf"):
        return ".inf" if value > 0 else "-.inf"
    text = _SHORT.repr(value)
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"


def unknown_key(key: str, known: Iterable[str]) -> str:
    """Return what to say of a key that means nothing: the nearest known one, or all of them."""
    names = list(known)
    near = did_you_mean(key, names)
    return f"unknown key {value_shown(key)}{near or ', expected one of: ' + ', '.join(names)}"


def _real_location(location: Sequence[str | int]) -> yaml12.Path:
    """Return where the fault is in the file; pydantic also names branches of unions it tried."""
    return tuple(location[:1] if location[0] in UNIONS else location[:2])


def _expectation(
    details: ErrorDetails,
    location: yaml12.Path,
    model: type[BaseModel],
    data: Mapping[str, object],
) -> str:
    field = str(location[0])
    expected = expected_of(model, field)
    if details["type"] == MISSING and len(details["loc"]) == 1:
        return f"{field} is missing, expected {expected}"
    if len(location) == 1:
        return f"{field} must be {expected}, got {_with_hint(data.get(field), expected)}"
    item = location[1]
    name = f"item {item + 1}" if isinstance(item, int) else str(item)
    return f"{field}: {name} must be {STRING}, got {_with_hint(details['input'], STRING)}"


def _with_hint(value: object, expected: str) -> str:
    shown = value_shown(value)
    if isinstance(value, int | float) and expected.startswith(STRING):
        return f'{shown}; write "{shown}" with the quotes'
    if isinstance(value, dict | list) and expected == STRING:
        return f"{shown}; a text that begins with {{ or [ needs quotes"
    return shown


@cache
def expected_of(model: type[BaseModel], field: str) -> str:
    """Return what a field must be, in words."""
    info = model.model_fields[field]
    if info.description:
        return info.description
    # `Annotated[...] | None`: the words stand inside the union.
    descriptions = (
        note.description
        for part in get_args(info.annotation)
        for note in getattr(part, "__metadata__", ())
    )
    return next(descriptions, None) or "something else"
