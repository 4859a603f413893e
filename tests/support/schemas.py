"""What the schemas say of files, as an editor that knows them would."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from pytest_plugin_eval.cases import yaml12
from pytest_plugin_eval.cases.frontmatter import UnterminatedError, decoded, split_frontmatter
from pytest_plugin_eval.cases.schemas import FILE_KINDS, file_schema
from pytest_plugin_eval.reports.document_schema import document_schema


@cache
def validator(name: str) -> Draft202012Validator:
    """Return what checks documents by the schema of that name."""
    schema = file_schema(name) if name in FILE_KINDS else document_schema()
    return Draft202012Validator(schema)


def complaints(name: str, value: object) -> list[str]:
    """Return what is wrong with a document, each with its place."""
    return [
        f"{error.json_path}: {error.message[:300]}" for error in validator(name).iter_errors(value)
    ]


def complaints_of_suite(directory: Path) -> dict[str, list[str]]:
    """Return what is wrong with the files of a suite below a directory, by file."""
    found = {str(path.relative_to(directory)): list(_of_file(path)) for path in _files(directory)}
    return {name: said for name, said in found.items() if said}


def _files(directory: Path) -> Iterator[Path]:
    for pattern in ("case.yaml", "prompt.md", "graders/*.md", "mocks/*/*"):
        yield from (path for path in sorted(directory.rglob(pattern)) if path.is_file())


def _of_file(path: Path) -> Iterator[str]:
    text = decoded(path.read_bytes())
    if path.name == "_tools.json":
        yield from complaints("mock-tools", json.loads(text))
    elif path.name == "case.yaml":
        yield from _of_yaml("case", text)
    elif path.suffix == ".md":
        yield from _of_frontmatter(path, text)


def _of_frontmatter(path: Path, text: str) -> Iterator[str]:
    try:
        frontmatter = split_frontmatter(text).frontmatter
    except UnterminatedError:
        return
    if path.name == "prompt.md":
        kind = "prompt"
    elif path.parent.name == "graders":
        kind = "grader"
    else:
        kind = "mock-server" if path.name == "_server.md" else "mock"
    if frontmatter is not None:
        yield from _of_yaml(kind, frontmatter)


def _of_yaml(kind: str, text: str) -> Iterator[str]:
    try:
        value = yaml12.load(text)
    except yaml12.YamlError:
        return
    yield from complaints(kind, {} if value is None and kind == "grader" else value)


def undescribed(document: object) -> list[str]:
    """Return the places of a result document that its schema does not describe."""
    schema = document_schema()
    return sorted(set(_undescribed(document, schema, schema, "$")))


def check_document(document: object) -> None:
    """Assert that a result document of ours is as its schema says, key by key."""
    assert complaints("result", document) == []
    assert undescribed(document) == [], (
        "describe it in pytest_plugin_eval/reports/document_model.py"
    )


def _undescribed(
    value: object, schema: Mapping[str, Any], whole: Mapping[str, Any], place: str
) -> Iterator[str]:
    reference = schema.get("$ref", "")
    schema = whole["$defs"][reference.rpartition("/")[2]] if reference else schema
    if "anyOf" in schema:
        schema = next((one for one in schema["anyOf"] if one.get("type") != "null"), schema)
        yield from _undescribed(value, schema, whole, place)
    elif isinstance(value, list):
        for item in value:
            yield from _undescribed(item, schema.get("items", {}), whole, f"{place}[]")
    elif isinstance(value, dict) and "additionalProperties" not in schema:
        known = schema.get("properties", {})
        for key, item in value.items():
            if key in known:
                yield from _undescribed(item, known[key], whole, f"{place}.{key}")
            else:
                yield f"{place}.{key}"
