"""What one mock's file, or a list of tools, says. Spec: agent-run, 7.2 to 7.6."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pytest_plugin_eval.cases import yaml12
from pytest_plugin_eval.cases.mock import Condition, Expectation, Responder
from pytest_plugin_eval.cases.model import MockFields
from pytest_plugin_eval.cases.problems import Document, Report, unknown_key, value_shown

__all__ = [
    "FileSpec",
    "ToolEntry",
    "parse_mock",
    "parse_tool_list",
]

KEYS = ("type", "expect", "error", "tools", "abort_when")
TYPES = frozenset(("string", "number", "boolean", "array", "object"))
EXPECTED = "a type, a text, a number, true, false, a /pattern/, or a list of texts"
TOOL_LIST = 'what a server answers to tools/list: {"tools": [{"name": ..., "inputSchema": ...}]}'
_TOOL = re.compile(r"[A-Za-z0-9_-]+")
_PATTERN = re.compile(r"/(.+)/([a-z]*)", re.DOTALL)
_FLAGS = frozenset(("", "i", "s", "is", "si"))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSpec:
    """What a mock's file says, as far as it could be understood."""

    document: Document
    source: str = ""
    responder: Responder = Responder.FIXED
    body: str = ""
    expect: tuple[Expectation, ...] = ()
    lines_of: Mapping[str, yaml12.Path] = field(default_factory=dict)
    """Where in the frontmatter each expectation stands, by its dotted path."""
    is_error: bool = False
    abort_when: str | None = None
    tools: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEntry:
    """A tool as a server lists it."""

    description: str
    input_schema: Mapping[str, object] | None


def parse_mock(document: Document, source: str, report: Report, *, is_server: bool) -> FileSpec:
    """Return what a mock's file says; what is wrong with it stands in the result."""
    fields = _fields(document, report)
    if fields is not None:
        _check_together(document, fields, report, is_server=is_server)
        _check_tools(document, fields, report)
    expect: list[Expectation] = []
    lines: dict[str, yaml12.Path] = {}
    for place, value in _flattened(fields.expect if fields else {}, ("expect",)):
        path = ".".join(map(str, place[1:]))
        if made := _expectation(document, place, path, value, report):
            expect.append(made)
            lines[path] = place
    return FileSpec(
        document=document,
        source=source,
        responder=Responder(fields.type) if fields else Responder.FIXED,
        body=document.body,
        expect=tuple(expect),
        lines_of=lines,
        is_error=fields.error if fields else False,
        abort_when=fields.abort_when if fields else None,
        tools=tuple(dict.fromkeys((fields.tools if fields else None) or ())),
        errors=tuple(report.errors),
        warnings=tuple(report.warnings),
    )


def _fields(document: Document, report: Report) -> MockFields | None:
    from pydantic import ValidationError

    data = dict(document.fields)
    for key in [key for key in data if key not in KEYS]:
        report.error(document, unknown_key(key, KEYS), (key,))
        del data[key]
    try:
        return MockFields.model_validate(data)
    except ValidationError as error:
        report.invalid(document, error, MockFields, data)
        return None


def _check_together(
    document: Document, fields: MockFields, report: Report, *, is_server: bool
) -> None:
    """Tell of keys that mean nothing beside the others."""
    is_agent = fields.type == "agent"
    if is_server and not is_agent:
        text = "type must be agent in _server.md, which answers several tools; a fixed answer"
        report.error(document, f"{text} stands in TOOL.md", ("type",))
        return
    if is_server and not fields.tools:
        report.error(document, "tools must be the list of tools it answers, got none", ("tools",))
    if not is_server and "tools" in fields.model_fields_set:
        text = "tools belongs in _server.md, this file answers the tool it is named after"
        report.error(document, text, ("tools",))
    if is_agent and fields.error:
        text = "error is for fixed answers, an agent begins its answer with ERROR: instead"
        report.error(document, text, ("error",))
    if not is_agent and fields.abort_when is not None:
        text = "abort_when needs type: agent, a fixed answer checks its input with expect"
        report.error(document, text, ("abort_when",))
    if is_agent and not document.body:
        text = "the text below the frontmatter is missing, expected what the agent is to know of"
        report.error(document, f"{text} the server it plays")


def _check_tools(document: Document, fields: MockFields, report: Report) -> None:
    for index, tool in enumerate(fields.tools or ()):
        if not _TOOL.fullmatch(tool):
            text = f"tools: {value_shown(tool)} is not the name of a tool, expected letters,"
            report.error(document, f"{text} digits, _ and -", ("tools", index))


def _flattened(
    value: Mapping[str, object], place: yaml12.Path
) -> Iterator[tuple[yaml12.Path, object]]:
    for key, item in value.items():
        if isinstance(item, dict):
            yield from _flattened(item, (*place, key))
        else:
            yield (*place, key), item


def _expectation(
    document: Document, place: yaml12.Path, path: str, value: object, report: Report
) -> Expectation | None:
    match value:
        case list() if value and all(map(_is_scalar, value)):
            return Expectation(path=path, condition=Condition.CHOICE, values=tuple(value))
        case list():
            expected = "a list of at least one text, number, true or false"
        case str() if pattern := _PATTERN.fullmatch(value):
            source, flags = pattern.groups()
            if flags in _FLAGS:
                return Expectation(
                    path=path, condition=Condition.PATTERN, values=(source,), flags=flags
                )
            expected = "a /pattern/ with the flags i and s only, or a list of one plain text"
        case str() | int() | float() if _is_scalar(value):
            condition = Condition.TYPE if value in TYPES else Condition.TEXT
            return Expectation(path=path, condition=condition, values=(value,))
        case _:
            expected = EXPECTED
    report.error(document, f"expect: {path} must be {expected}, got {value_shown(value)}", place)
    return None


def _is_scalar(value: object) -> bool:
    # JSON has no infinite numbers, so no input could be equal to one.
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def parse_tool_list(path: str, text: str, report: Report) -> dict[str, ToolEntry]:
    """Return the tools that a ``_tools.json`` lists; of several with one name the first counts."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        report.error(f"{path}:{error.lineno}", f"invalid JSON: {error.msg}, expected {TOOL_LIST}")
        return {}
    except RecursionError:
        report.error(f"{path}:1", f"is nested too deeply, expected {TOOL_LIST}")
        return {}
    tools = data.get("tools") if isinstance(data, dict) else None
    if not isinstance(tools, list):
        report.error(f"{path}:1", f"expected {TOOL_LIST}, got {value_shown(data)}")
        return {}
    entries: dict[str, ToolEntry] = {}
    for index, tool in enumerate(tools):
        problem = _tool_problem(tool)
        if problem:
            report.error(f"{path}:{_line(text, index)}", f"tool {index + 1}: {problem}")
        else:
            entries.setdefault(
                tool["name"],
                ToolEntry(
                    description=tool.get("description") or "",
                    input_schema=tool.get("inputSchema"),
                ),
            )
    return entries


def _tool_problem(tool: object) -> str | None:
    if not isinstance(tool, dict):
        return f"must be an object, got {value_shown(tool)}"
    if not isinstance(tool.get("name"), str):
        return f"name must be a string, got {value_shown(tool.get('name'))}"
    if not isinstance(tool.get("description", ""), str):
        return f"description must be a string, got {value_shown(tool['description'])}"
    schema = tool.get("inputSchema", {"type": "object"})
    if not isinstance(schema, dict):
        return f"inputSchema must be an object, got {value_shown(schema)}"
    if schema.get("type") != "object":
        return f"inputSchema must have type object, got {value_shown(schema.get('type'))}"
    return None


def _line(text: str, index: int) -> int:
    """Return the line of one tool: most JSON is YAML, and where it is not, the first line."""
    try:
        return yaml12.line_numbers(text).get(("tools", index), 1)
    except yaml12.YamlError:
        return 1
