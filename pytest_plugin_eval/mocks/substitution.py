"""Placeholders in the text of a mock. Spec: agent-run, 7.3."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from pathlib import Path

from pytest_plugin_eval.cases.case_paths import within
from pytest_plugin_eval.cases.frontmatter import decoded
from pytest_plugin_eval.cases.mock import INPUT_PATH, PLACEHOLDER, MockTool
from pytest_plugin_eval.mocks.values import (
    MISSING,
    json_numbers,
    scalar_text,
    value_at,
    value_text,
)
from pytest_plugin_eval.records.jsjson import stringify

__all__ = ["MockToolError", "substituted"]

_FIELD = re.compile(rf"\{{input\.({INPUT_PATH})\}}")
_SEGMENT = re.compile(r"[A-Za-z0-9._-]+")
FIXTURE_LIMIT = 16 << 20


class MockToolError(Exception):
    """A placeholder that cannot be filled: its text is the error that the tool answers with."""


def substituted(tool: MockTool, inputs: Mapping[str, object]) -> str:
    """Return the body of a mock with its placeholders filled; what is filled in stays as it is.

    Raises `MockToolError`.
    """
    # All paths are looked at before any file is: of several faults the worse one is told.
    paths = {
        match.start(): _fixture(tool, match["file"], inputs)
        for match in PLACEHOLDER.finditer(tool.body)
        if match["input"] is None
    }

    def filled(match: re.Match[str]) -> str:
        if match["input"] is not None:
            return _input_text(value_at(inputs, match["input"]))
        return _content(*paths[match.start()])

    return PLACEHOLDER.sub(filled, tool.body)


def _input_text(value: object) -> str:
    if value is MISSING:
        return ""
    text = scalar_text(value)
    return stringify(json_numbers(value)) if text is None else text


def _fixture(tool: MockTool, spelt: str, inputs: Mapping[str, object]) -> tuple[str, Path]:
    """Return a fixture as it is named once its fields are filled, and where it is."""
    name = _FIELD.sub(lambda match: _segment(inputs, match[1]), spelt)
    directory = os.path.realpath(tool.file.parent)
    path = os.path.normpath(Path(directory, name))
    # A link may lead elsewhere in the eval directory, not out of it.
    target = os.path.realpath(path) if "\0" not in path else ""
    if not within(path, directory) or not (
        within(target, directory) or within(target, os.path.realpath(tool.border))
    ):
        raise MockToolError(f"{{{{file:{name}}}}} names a path outside the mock's directory")
    return name, Path(path)


def _segment(inputs: Mapping[str, object], field: str) -> str:
    value = value_at(inputs, field)
    text = scalar_text(value)
    if text is None or not _SEGMENT.fullmatch(text) or text in {".", ".."}:
        raise MockToolError(
            f"{{input.{field}}} = {value_text(value)} is not a plain file-name segment"
        )
    return text


def _content(name: str, path: Path) -> str:
    spelt = f"{{{{file:{name}}}}}"
    try:
        if not path.exists():
            raise MockToolError(f"{spelt}: no such fixture")
        if not path.is_file():
            raise MockToolError(f"{spelt}: is not a regular file")
        if path.stat().st_size > FIXTURE_LIMIT:
            raise MockToolError(f"{spelt}: is larger than {FIXTURE_LIMIT >> 20} MiB")
        return decoded(path.read_bytes())
    except OSError as error:
        code = errno.errorcode.get(error.errno or 0, "unknown error")
        raise MockToolError(f"{spelt}: could not be read ({code})") from error
