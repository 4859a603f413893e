"""The `mocks` directories of a suite and a case, read and checked. Spec: agent-run, 7."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from pytest_plugin_eval.cases import yaml12
from pytest_plugin_eval.cases.case import Plugin
from pytest_plugin_eval.cases.case_paths import within
from pytest_plugin_eval.cases.documents import MOCKS
from pytest_plugin_eval.cases.frontmatter import UnterminatedError, decoded, split_frontmatter
from pytest_plugin_eval.cases.grader_specs import PatternCheck
from pytest_plugin_eval.cases.mock import (
    PLACEHOLDER,
    REPLAY,
    Condition,
    Mocks,
    MockServer,
    MockTool,
    placing_problems,
)
from pytest_plugin_eval.cases.mock_specs import (
    FileSpec,
    ToolEntry,
    parse_mock,
    parse_tool_list,
)
from pytest_plugin_eval.cases.problems import Document, Report, value_shown
from pytest_plugin_eval.errors import CaseError

__all__ = ["load_mocks"]

SERVER_FILE = "_server.md"
TOOL_LIST = "_tools.json"
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_LIKE_A_PLACEHOLDER = re.compile(r"\{\{[^{}\n]{0,60}\}{0,2}")
_FIXTURE = re.compile(r"\{\{\s*file:\s*([^{}\s][^{}]*?)\s*\}\}")


@dataclass(slots=True, kw_only=True)
class _Found:
    """The files of one server, those of the case before those of the suite."""

    files: dict[str, str] = field(default_factory=dict)
    """Path by file name."""
    directories: list[str] = field(default_factory=list)


def load_mocks(
    case_dir: Path,
    eval_dir: Path,
    *,
    plugins: Sequence[Plugin] = (),
    check_patterns: PatternCheck | None = None,
) -> Mocks:
    """Return the mocks of a case, or raise `CaseError` with everything wrong with them.

    *check_patterns* compiles patterns in JavaScript; it is called at most once.
    """
    report = Report()
    loader = _Loader(str(eval_dir), report)
    # The eval directory may itself be the case.
    for place in dict.fromkeys((str(eval_dir), str(case_dir))):
        loader.look_into(os.path.join(place, MOCKS))
    servers = tuple(server for name in loader.found if (server := loader.server(name)) is not None)
    _check_patterns(loader.documents, report, check_patterns)
    for name, problem in placing_problems(servers, plugins):
        report.error(loader.found[name].directories[-1], problem)
    if report.errors:
        raise CaseError((*report.errors, *report.warnings))
    return Mocks(servers=servers, warnings=tuple(report.warnings))


class _Loader:
    """Reads the files of mocked servers and notes what is wrong with them."""

    def __init__(self, eval_dir: str, report: Report) -> None:
        self._eval_dir = eval_dir
        self._report = report
        self.found: dict[str, _Found] = {}
        self.documents: dict[str, FileSpec] = {}
        """What was read from mock files, by path."""

    def look_into(self, mocks: str) -> None:
        """Note the servers in a `mocks` directory; what is noted later wins, file by file."""
        for entry in self._entries(mocks):
            if not os.path.isdir(entry.path):
                self._doubt_file(entry)
                continue
            if not self._stays(entry.path):
                continue
            if not _NAME.fullmatch(entry.name):
                self._report.error(
                    entry.path,
                    "cannot stand for a server, expected its name as in the names of its tools:"
                    " letters, digits, _ and -",
                )
                continue
            server = self.found.setdefault(entry.name, _Found())
            server.directories.append(entry.path)
            for file in self._entries(entry.path):
                if self._is_read(file.name) and self._stays(file.path):
                    server.files[file.name] = file.path

    def _doubt_file(self, entry: os.DirEntry[str]) -> None:
        if entry.name.endswith(".md") or entry.name == TOOL_LIST:
            text = "mocks nothing, expected it in a directory that is called like the server"
            self._report.warning(entry.path, text)

    def server(self, name: str) -> MockServer | None:
        """Return one server, ``None`` when nothing answers for it."""
        found = self.found[name]
        errors = len(self._report.errors)
        listed = self._tool_list(found.files.get(TOOL_LIST))
        tools = {tool.name: _listed(tool, listed) for tool in self._tools(found)}
        # What is doubtful about broken files is told when they are mended.
        if len(self._report.errors) == errors:
            self._doubt(found, tools, listed)
            self._doubt_recordings(found)
        whole = self.documents.get(found.files.get(SERVER_FILE, ""))
        order = dict.fromkeys((*(whole.tools if whole else ()), *sorted(tools)))
        listing = tuple(tools[tool] for tool in order if tool in tools)
        return MockServer(name=name, tools=listing) if listing else None

    def _doubt_recordings(self, found: _Found) -> None:
        for directory in found.directories:
            mocks, server = os.path.split(directory)
            for entry in self._entries(os.path.join(mocks, REPLAY, server)):
                if entry.name.endswith(".json") and not _is_object(entry.path):
                    text = "is no recording, expected a JSON object, and is left out of account"
                    self._report.warning(entry.path, text)

    def _doubt(self, found: _Found, tools: Iterable[str], listed: Mapping[str, ToolEntry]) -> None:
        unlisted = ", ".join(sorted(tool for tool in tools if tool not in listed))
        if not tools:
            text = f"mocks nothing, expected a file TOOL.md for each tool, or {SERVER_FILE}"
            self._report.warning(found.directories[-1], text)
        elif unlisted and TOOL_LIST in found.files:
            text = f"does not list {unlisted}, so the agent is told nothing of its input"
            self._report.warning(found.files[TOOL_LIST], text)
        elif unlisted:
            text = f"has no {TOOL_LIST}, so the agent is told nothing of the input of {unlisted};"
            self._report.warning(
                found.directories[-1], f"{text} save there what the server answers to tools/list"
            )

    def _tools(self, found: _Found) -> Iterator[MockTool]:
        names = sorted(found.files.keys() - {SERVER_FILE, TOOL_LIST})
        if path := found.files.get(SERVER_FILE):
            yield from self._of_server_file(path, found)
        for name in names:
            path = found.files[name]
            tool = name.removesuffix(".md")
            if not _NAME.fullmatch(tool):
                self._report.error(
                    path,
                    "cannot be named after a tool, expected letters, digits, _ and - before .md",
                )
            elif spec := self._spec(path, is_server=False):
                self._check_fixtures(path, spec)
                self._check_placeholders(path, spec)
                yield self._tool(tool, path, spec)

    def _of_server_file(self, path: str, found: _Found) -> Iterator[MockTool]:
        spec = self._spec(path, is_server=True)
        if spec is None:
            return
        self._check_placeholders(path, spec)
        for tool in spec.tools:
            own = found.files.get(f"{tool}.md")
            if own is None:
                yield self._tool(tool, path, spec)
            else:
                text = f"tools: {tool} is answered by {own} instead"
                self._report.warning(spec.document, text, ("tools",))

    def _tool(self, name: str, path: str, spec: FileSpec) -> MockTool:
        return MockTool(
            name=name,
            responder=spec.responder,
            body=spec.body,
            file=Path(path),
            source=spec.source,
            border=Path(self._eval_dir),
            expect=spec.expect,
            is_error=spec.is_error,
            abort_when=spec.abort_when,
        )

    def _spec(self, path: str, *, is_server: bool) -> FileSpec | None:
        text = self._text(path)
        if text is None:
            return None
        spec = _parsed(path, text, is_server)
        self._report.errors += spec.errors
        self._report.warnings += spec.warnings
        self.documents[path] = spec
        return None if spec.errors else spec

    def _check_fixtures(self, path: str, spec: FileSpec) -> None:
        """Tell of fixtures that are named in full and are not there."""
        for match in _FIXTURE.finditer(spec.body):
            place = os.path.join(os.path.dirname(path), match[1])
            if "\0" not in place and not os.path.isfile(place):
                line = spec.document.body_line + spec.body.count("\n", 0, match.start())
                self._report.warning(
                    f"{path}:{line}", f"the fixture {value_shown(match[1])} does not exist"
                )

    def _check_placeholders(self, path: str, spec: FileSpec) -> None:
        """Tell of what looks like a placeholder and is none."""
        # As long as before, so that places stay where they are.
        rest = PLACEHOLDER.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), spec.body)
        for match in _LIKE_A_PLACEHOLDER.finditer(rest):
            line = spec.document.body_line + rest.count("\n", 0, match.start())
            self._report.warning(
                f"{path}:{line}",
                f"{value_shown(match[0])} is no placeholder and stays as it is, expected"
                " {{input.FIELD}} or {{file:PATH}}",
            )

    def _tool_list(self, path: str | None) -> Mapping[str, ToolEntry]:
        text = self._text(path) if path else None
        return {} if path is None or text is None else parse_tool_list(path, text, self._report)

    def _is_read(self, name: str) -> bool:
        return name == TOOL_LIST or (name.endswith(".md") and not name.startswith("."))

    def _entries(self, directory: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(directory) as listing:
                found = sorted(listing, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self._report.error(directory, f"cannot be read: {error.strerror}")
            return []
        return [entry for entry in found if not entry.name.startswith(".")]

    def _text(self, path: str) -> str | None:
        if not os.path.isfile(path):
            self._report.error(path, "is not a regular file")
            return None
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            self._report.error(path, f"cannot be read: {error.strerror}")
            return None
        if b"\0" in data:
            self._report.error(path, "is a binary file, expected text in UTF-8")
            return None
        return decoded(data)

    def _stays(self, path: str) -> bool:
        """Tell whether a path is no link, or one that stays inside the eval directory (D11)."""
        if not os.path.islink(path):
            return True
        target = os.path.realpath(path)
        if not os.path.exists(target):
            self._report.error(path, f"is a link to {target!r}, which does not exist")
            return False
        if within(target, os.path.realpath(self._eval_dir)):
            return True
        text = f"is a link to {target!r}, outside the eval directory; put a copy in its place"
        self._report.error(path, text)
        return False


def _is_object(path: str) -> bool:
    try:
        return isinstance(json.loads(Path(path).read_bytes()), dict)
    except (OSError, ValueError, RecursionError):
        return False


# Every case of a suite reads the suite's mocks; what they say is worked out once.
@lru_cache(maxsize=1024)
def _parsed(path: str, text: str, is_server: bool) -> FileSpec:
    report = Report()
    document = _document(path, text, report)
    if document is None:
        return FileSpec(document=Document(path, "", {}), errors=tuple(report.errors))
    return parse_mock(document, text, report, is_server=is_server)


def _document(path: str, text: str, report: Report) -> Document | None:
    try:
        split = split_frontmatter(text)
    except UnterminatedError:
        report.error(f"{path}:1", "the frontmatter opened by --- has no closing line ---")
        return None
    if split.frontmatter is None:
        return Document(path, "", {}, split.body)
    try:
        fields = yaml12.load(split.frontmatter)
    except yaml12.YamlError as error:
        report.error(f"{path}:{error.line + 1}", f"invalid YAML: {error.text}")
        return None
    if fields is None:
        fields = {}
    if not isinstance(fields, dict):
        shown = value_shown(fields)
        report.error(f"{path}:2", f"expected a mapping of keys to values, got {shown}")
        return None
    for key, line in yaml12.repeated_keys(split.frontmatter).items():
        name = ".".join(map(str, key))
        report.warning(f"{path}:{line + 1}", f"{name} stands here twice, and only this one counts")
    return Document(
        path, split.frontmatter, fields, split.body, lines_before=1, body_line=split.body_line
    )


def _listed(tool: MockTool, listed: Mapping[str, ToolEntry]) -> MockTool:
    entry = listed.get(tool.name)
    if entry is None:
        return tool
    if entry.input_schema is None:
        return replace(tool, is_listed=True, description=entry.description)
    return replace(
        tool, is_listed=True, description=entry.description, input_schema=entry.input_schema
    )


def _check_patterns(
    specs: Mapping[str, FileSpec], report: Report, check_patterns: PatternCheck | None
) -> None:
    asked = [
        (spec, each, str(each.values[0]))
        for spec in specs.values()
        for each in spec.expect
        if each.condition is Condition.PATTERN
    ]
    if check_patterns is None or not asked:
        return
    complaints = check_patterns([(source, each.flags) for _, each, source in asked])
    for (spec, each, source), complaint in zip(asked, complaints, strict=True):
        if complaint is not None:
            shown = value_shown(f"/{source}/{each.flags}")
            report.error(
                spec.document,
                f"expect: {each.path} must be a JavaScript pattern between slashes, got {shown}:"
                f" {complaint}; a plain text that begins and ends with a slash is written as a"
                " list of one",
                spec.lines_of.get(each.path, ("expect",)),
            )
