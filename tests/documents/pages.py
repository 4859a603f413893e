"""The parts of the pages that are written by the code: tables of options, fields and commands.

A page holds `<!-- generated: NAME -->` and `<!-- end -->`; what stands between them is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pytest_plugin_eval.cases.model import (
    GRADER_TYPES,
    CaseFile,
    Context,
    Execution,
    RegexSpec,
)
from pytest_plugin_eval.cli.main import COMMANDS
from pytest_plugin_eval.pytest_side.option_table import OPTIONS, Option
from pytest_plugin_eval.scoring.info import DEFAULT_RUNS
from tests.documents import commands

COMMON = ("name", "type", "weight", "arm")
"""What every grader has, shown once."""

_APPLIED = {"max_turns": 10, "timeout_seconds": 300, "runs": DEFAULT_RUNS, "min": 1}
"""Defaults that are filled in after the file was read."""

_PATHS = ("PATH", "DIR")

_MARKS = re.compile(r"(<!-- generated: ([a-z_]+) -->\n).*?(<!-- end -->)", re.S)
_SECTIONS = ("execution", "context", "graders")


def with_tables(page: str) -> str:
    """Return the page with every generated part written anew."""
    return _MARKS.sub(lambda mark: f"{mark[1]}{_TABLES[mark[2]]()}{mark[3]}", page)


def options_table() -> str:
    """Return the options that can be used."""
    rows = [(_spelt(one), one.ini, one.help) for one in OPTIONS if _is_there(one)]
    return _table(("option", "ini", "meaning"), rows, code=2)


def fields_table(model: type[BaseModel], *, but: Iterable[str] = ()) -> str:
    """Return the fields of a file format."""
    rows = [
        (name, _expected(field), _default(name, field))
        for name, field in model.model_fields.items()
        if name not in but
    ]
    return _table(("field", "value", "default"), rows, code=1)


def _is_there(option: Option) -> bool:
    return not option.hidden


def _spelt(option: Option) -> str:
    metavar = f"{option.metavar}…" if option.many else option.metavar
    if metavar is None:
        return option.name
    # A value behind a blank can be taken for a path to test, when it is one.
    return f"{option.name}{'=' if option.metavar in _PATHS else ' '}{metavar}"


def _expected(field: FieldInfo) -> str:
    if field.description:
        return field.description
    # The description of an optional field stands with its type.
    for inner in getattr(field.annotation, "__args__", ()):
        for note in getattr(inner, "__metadata__", ()):
            if isinstance(note, FieldInfo) and note.description:
                return note.description
    return "the kind of grader"


def _default(name: str, field: FieldInfo) -> str:
    if name in _APPLIED:
        return f"`{_APPLIED[name]}`"
    if field.is_required():
        return "required"
    value = field.default
    if value in (None, "", [], {}):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _table(titles: tuple[str, ...], rows: Iterable[tuple[str, ...]], *, code: int) -> str:
    """Return a Markdown table; the first *code* columns are set as code."""
    lines = [" | ".join(titles), "|".join("---" for _ in titles)]
    for row in rows:
        cells = [
            f"`{cell}`" if i < code else cell.replace("|", "\\|") for i, cell in enumerate(row)
        ]
        lines.append(" | ".join(cells).replace("  ", " "))
    return "".join(f"| {line} |\n" if i != 1 else f"|{line}|\n" for i, line in enumerate(lines))


_TABLES: Mapping[str, Callable[[], str]] = {
    "options": options_table,
    "top": lambda: fields_table(CaseFile, but=_SECTIONS),
    "execution": lambda: fields_table(Execution, but=("prompt",)),
    "context": lambda: fields_table(Context),
    "grader": lambda: fields_table(RegexSpec, but=set(RegexSpec.model_fields) - {*COMMON}),
    "movers": commands.movers,
    "action_inputs": commands.action_inputs,
    **{f"command_{name}": partial(commands.command_text, name) for name in COMMANDS},
    **{name: partial(fields_table, model, but=COMMON) for name, model in GRADER_TYPES.items()},
}
