"""JSON Schemas of the files of a suite, made from the models that check them.

A schema sees one file. What it refuses the loader refuses; what takes other files to know, such as
whether a prompt stands in ``prompt.md``, it lets pass. Where a model leaves a check to the loader,
the same rule is added here, and tests hold both together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from pytest_plugin_eval.cases import schema_texts as texts

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["DIALECT", "FILE_KINDS", "NULLABLE", "Schema", "file_schema", "headed", "plain"]

Schema: TypeAlias = dict[str, object]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FILE_KINDS: Mapping[str, str] = {
    "case": "case.yaml",
    "prompt": "frontmatter of prompt.md",
    "grader": "frontmatter of graders/NAME.md",
    "mock": "frontmatter of mocks/SERVER/TOOL.md",
    "mock-server": "frontmatter of mocks/SERVER/_server.md",
    "mock-tools": "mocks/SERVER/_tools.json",
}
"""Names of schemas, and which file each is for."""
NULLABLE = "x-nullable"
"""Mark of a model's field that may be missing, and that may be null as well."""

# The end of a text: `$` would also match before a last line break, in Python though not in
# JavaScript, and make a schema stricter than the loader.
_END = r"(?![\s\S])"
_NO_FLAGS_OF_MOCKS = rf"^/[\s\S]+/(?!(?:i|s|is|si)?{_END})[a-z]*{_END}"
_RULES: Mapping[str, Schema] = {
    # Only the major version counts.
    "schema_version": {"pattern": r"^\s*(?:-[0-9]+|\+?0*[01](?![0-9]))"},
    "env": {"propertyNames": {"pattern": "^EVAL_[A-Z0-9_]*$"}},
    "disallowed_tools": {
        "items": {"type": "string", "pattern": r"^(?!mcp__)\s*[A-Za-z0-9_]*\s*$"},
    },
    "flags": {"pattern": r"^(?![\s\S]*([\s\S])[\s\S]*\1)(?!.*u.*v)(?!.*v.*u)[dgimsuvy]*$"},
}
"""What the loader checks beyond the models, by key."""


def file_schema(name: str) -> Schema:
    """Return one of the schemas of `FILE_KINDS`."""
    makers = {
        "case": _case,
        "prompt": _prompt,
        "grader": _grader_file,
        "mock": _mock,
        "mock-server": _mock_server,
        "mock-tools": _tool_list,
    }
    return headed(name, FILE_KINDS[name], makers[name]())


def headed(name: str, title: str, schema: Schema) -> Schema:
    """Return a schema with what every whole one begins with."""
    head: Schema = {
        "$schema": DIALECT,
        "$id": f"urn:pytest-plugin-eval:schema:{name}",
        "title": title,
    }
    return head | {key: value for key, value in schema.items() if key != "title"}


def plain(node: object) -> object:
    """Return a part of a schema without the nulls by which models say that a key may be missing.

    A field whose value may be null as well is marked by `NULLABLE`.
    """
    if isinstance(node, list):
        return [plain(one) for one in node]
    if not isinstance(node, dict):
        return node
    kept = {key: plain(value) for key, value in node.items() if key != NULLABLE}
    if "default" not in node or node["default"] is not None:
        return kept
    del kept["default"]
    choices = kept.get("anyOf")
    if not isinstance(choices, list) or NULLABLE in node:
        return kept
    rest = [one for one in choices if one != {"type": "null"}]
    if len(rest) > 1:
        return kept | {"anyOf": rest}
    del kept["anyOf"]
    return {**rest[0], **kept}


def _case() -> Schema:
    from pytest_plugin_eval.cases.model import CaseFile, Context, Execution

    properties = _properties(CaseFile, texts.CASE)
    properties["execution"] = _reference("Execution", texts.CASE["execution"])
    properties["context"] = _reference("Context", texts.CASE["context"])
    properties["graders"] = {
        "title": "Graders",
        "description": texts.CASE["graders"],
        # Null is as good as none.
        "type": ["array", "null"],
        "items": {"$ref": "#/$defs/Grader"},
    }
    # An unknown key is a warning of the loader.
    return _file(properties) | {
        "description": "A case in YAML; beside prompt.md and graders/ whatever they do not say.",
        "$defs": {
            "Execution": _object("Execution", _properties(Execution, texts.CASE)),
            "Context": _object("Context", _properties(Context, texts.CONTEXT)),
            "Grader": _grader(needed=("name",)),
            **_grader_parts(in_file=False),
        },
    }


def _prompt() -> Schema:
    from pytest_plugin_eval.cases.model import PromptFields

    return _file(_properties(PromptFields, texts.CASE)) | {
        "description": "How a case is run; the prompt is the text below.",
        "additionalProperties": False,
    }


def _grader_file() -> Schema:
    return _grader() | {
        "description": "One grader; the text below is its pattern or its criteria.",
        "$defs": _grader_parts(in_file=True),
    }


def _grader(needed: Iterable[str] = ()) -> Schema:
    """Return what tells the kinds of graders apart."""
    from pytest_plugin_eval.cases.model import GRADER_TYPES, RegexSpec

    common = _properties(RegexSpec, texts.GRADER_KEYS)
    kinds: Schema = {
        "title": "Type",
        "description": texts.GRADER_KEYS["type"],
        "enum": list(GRADER_TYPES),
    }
    return {
        "title": "Grader",
        "type": "object",
        "properties": {name: common[name] for name in texts.GRADER_KEYS} | {"type": kinds},
        "required": ["type", *needed],
        # Branches by the type: an editor then complains of the one that is meant alone.
        "allOf": [
            {
                "if": {"properties": {"type": {"const": kind}}, "required": ["type"]},
                "then": {"$ref": f"#/$defs/{model.__name__}"},
            }
            for kind, model in GRADER_TYPES.items()
        ],
    }


def _grader_parts(*, in_file: bool) -> Schema:
    from pytest_plugin_eval.cases.grader_specs import BODY_FIELDS
    from pytest_plugin_eval.cases.model import GRADER_TYPES, FileTarget, ToolPattern

    parts: Schema = {}
    for kind, model in GRADER_TYPES.items():
        title, said = f"{kind} grader", {**texts.GRADER_KEYS, **texts.GRADERS[kind]}
        elsewhere = ("name", BODY_FIELDS.get(kind)) if in_file else ()
        needed = [name for name in _required(model) if name not in elsewhere]
        parts[model.__name__] = _object(title, _properties(model, said), needed, is_open=False)
    for part in (FileTarget, ToolPattern):
        name = part.__name__
        fields = _properties(part, texts.PARTS[name])
        parts[name] = _object(name, fields, _required(part), is_open=False)
    return parts


def _required(model: type[BaseModel]) -> list[str]:
    return [name for name, field in model.model_fields.items() if field.is_required()]


def _mock() -> Schema:
    fields = _mock_fields()
    del fields["tools"]
    is_agent = {"properties": {"type": {"const": "agent"}}, "required": ["type"]}
    return _file(fields) | {
        "description": "How one tool of a mocked MCP server is answered.",
        "additionalProperties": False,
        "if": is_agent,
        "then": {"properties": {"error": {"const": False}}},
        "else": {"properties": {"abort_when": {"type": "null"}}},
        "$defs": _expectations(),
    }


def _mock_server() -> Schema:
    fields = _mock_fields()
    fields["type"] = {**_mapping(fields["type"]), "const": "agent"}
    del fields["type"]["default"]
    fields["error"] = {**_mapping(fields["error"]), "const": False}
    fields["tools"] = _mapping(fields["tools"]) | {
        "items": {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"},
        "minItems": 1,
    }
    return _object("", fields, ["type", "tools"], is_open=False) | {
        "description": "How a model answers for several tools of a mocked MCP server.",
        "$defs": _expectations(),
    }


def _mock_fields() -> dict[str, Schema]:
    from pytest_plugin_eval.cases.model import MockFields

    fields = _properties(MockFields, texts.MOCK)
    fields["abort_when"]["type"] = ["string", "null"]
    expect = fields["expect"]
    del expect["additionalProperties"]
    fields["expect"] = expect | {"additionalProperties": {"$ref": "#/$defs/Expectation"}}
    return fields


def _expectations() -> Schema:
    scalar: Schema = {"type": ["string", "number", "boolean"]}
    return {
        "Expectation": {
            "title": "Expectation",
            "description": "What one field of the input must be, or a mapping of fields in it.",
            "type": ["object", "array", "string", "number", "boolean"],
            "additionalProperties": {"$ref": "#/$defs/Expectation"},
            "items": scalar,
            "minItems": 1,
            # Between slashes stands a pattern, and its flags are i and s only.
            "not": {"type": "string", "pattern": _NO_FLAGS_OF_MOCKS},
        }
    }


def _tool_list() -> Schema:
    said = texts.TOOL_LIST
    schema: Schema = {
        "title": "Input Schema",
        "description": said["inputSchema"],
        "type": "object",
        "properties": {"type": {"title": "Type", "description": "object", "const": "object"}},
        "required": ["type"],
    }
    tool = _object(
        "Tool",
        {
            "name": {"title": "Name", "description": said["name"], "type": "string"},
            "description": {
                "title": "Description",
                "description": said["description"],
                "type": "string",
            },
            "inputSchema": schema,
        },
        ["name"],
    )
    tools: Schema = {"title": "Tools", "description": said["tools"], "type": "array", "items": tool}
    return _object("", {"tools": tools}, ["tools"]) | {
        "description": "What the server answers to tools/list."
    }


def _properties(model: type[BaseModel], said: Mapping[str, str]) -> dict[str, Schema]:
    """Return the keys of a model, each with what it does and what it must be."""
    from pytest_plugin_eval.cases.problems import expected_of

    fields: dict[str, Schema] = {}
    made = _mapping(plain(model.model_json_schema()))["properties"]
    for name, value in _mapping(made).items():
        if name in said:
            field = _mapping(value)
            # A constant says itself what it must be.
            expected = "" if name == "type" or "const" in field else expected_of(model, name)
            fields[name] = {
                "title": field.pop("title"),
                "description": f"{said[name]} Expected: {expected}." if expected else said[name],
                **{key: one for key, one in field.items() if key != "description"},
                **_RULES.get(name, {}),
            }
            if name in texts.APPLIED:
                fields[name]["default"] = texts.APPLIED[name]
    return fields


def _reference(name: str, said: str) -> Schema:
    return {"title": name, "description": said, "$ref": f"#/$defs/{name}"}


def _file(properties: Mapping[str, Schema]) -> Schema:
    # A file of comments alone says nothing, which is nothing wrong.
    return {"type": ["object", "null"], "properties": dict(properties)}


def _object(
    title: str,
    properties: Mapping[str, Schema],
    required: Iterable[str] = (),
    *,
    is_open: bool = True,
) -> Schema:
    schema: Schema = {"title": title, "type": "object", "properties": dict(properties)}
    if needed := list(required):
        schema["required"] = needed
    return schema if is_open else schema | {"additionalProperties": False}


def _mapping(value: object) -> Schema:
    assert isinstance(value, dict)
    return value
