"""The files of a case, read and taken apart, before anything is known about their meaning."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_plugin_eval.cases import yaml12
from pytest_plugin_eval.cases.case_paths import within
from pytest_plugin_eval.cases.frontmatter import (
    FENCE,
    UnterminatedError,
    decoded,
    split_frontmatter,
)
from pytest_plugin_eval.cases.problems import Document, Report, value_shown

__all__ = ["CaseFiles", "read_case_files"]

PROMPT = "prompt.md"
CASE_YAML = "case.yaml"
GRADERS = "graders"
MOCKS = "mocks"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFiles:
    """What a case directory holds."""

    prompt: Document | None
    case_yaml: Document | None
    graders: tuple[Document, ...]
    """In the order of their names; only those with frontmatter."""
    mock_servers: tuple[str, ...]
    broken: frozenset[str]
    """Which of ``prompt.md``, ``case.yaml``, ``graders`` is there and could not be read."""


def read_case_files(directory: str, eval_dir: str, report: Report) -> CaseFiles:
    """Read every file that defines a case."""
    reader = _Reader(eval_dir, report)
    entries = reader.entries(directory)
    graders = entries.get(GRADERS)
    mocks = entries.get(MOCKS)
    return CaseFiles(
        prompt=reader.prompt(entries.get(PROMPT)),
        case_yaml=reader.case_yaml(entries.get(CASE_YAML)),
        graders=tuple(reader.graders(graders)) if graders else (),
        mock_servers=directories_in(mocks.path) if mocks and _is_dir(mocks) else (),
        broken=frozenset(reader.broken),
    )


def directories_in(directory: str) -> tuple[str, ...]:
    """Return the names of the directories in *directory* that are not hidden, sorted."""
    try:
        with os.scandir(directory) as listing:
            return tuple(sorted(e.name for e in listing if e.name[0] != "." and _is_dir(e)))
    except OSError:
        return ()


class _Reader:
    """Reads files, and notes which of the three parts of a case did not come through."""

    def __init__(self, eval_dir: str, report: Report) -> None:
        self._eval_dir = eval_dir
        self._report = report
        self.broken: set[str] = set()

    def entries(self, directory: str) -> dict[str, os.DirEntry[str]]:
        """Return what a directory holds, by name."""
        try:
            with os.scandir(directory) as listing:
                return {entry.name: entry for entry in listing}
        except OSError as error:
            self._report.error(directory, f"cannot be read: {error.strerror}")
            return {}

    def prompt(self, entry: os.DirEntry[str] | None) -> Document | None:
        """Return `prompt.md`; ``None`` also when it says nothing."""
        text = self._text(entry, PROMPT)
        if text is None or entry is None:
            return None
        document = self._with_frontmatter(entry.path, text, PROMPT)
        return document if document and (document.fields or document.body) else None

    def case_yaml(self, entry: os.DirEntry[str] | None) -> Document | None:
        """Return `case.yaml`; ``None`` also when it holds nothing but comments."""
        text = self._text(entry, CASE_YAML)
        if text is None or entry is None:
            return None
        fields = self._mapping(entry.path, text, 0, CASE_YAML)
        return Document(entry.path, text, fields) if fields else None

    def graders(self, entry: os.DirEntry[str]) -> Iterator[Document]:
        """Yield the grader files, in the order of their names."""
        if not _is_dir(entry) and _is_file(entry):
            self._error(GRADERS, entry.path, "is a file, expected a directory of grader files")
        elif self._stays(entry, GRADERS) and _is_dir(entry):
            found = self.entries(entry.path)
            for name in sorted(name for name in found if name.endswith(".md")):
                document = self._grader(found[name])
                if document is not None:
                    yield document

    def _grader(self, entry: os.DirEntry[str]) -> Document | None:
        text = self._text(entry, GRADERS)
        document = None if text is None else self._with_frontmatter(entry.path, text, GRADERS)
        if document is None or document.lines_before:
            return document
        self._report.warning(
            f"{entry.path}:1", "is ignored, expected frontmatter: a line ---, type: ..., a line ---"
        )
        return None

    def _with_frontmatter(self, path: str, text: str, part: str) -> Document | None:
        try:
            split = split_frontmatter(text)
        except UnterminatedError:
            self._error(part, f"{path}:1", "the frontmatter opened by --- has no closing line ---")
            return None
        if split.frontmatter is None:
            return Document(path, "", {}, split.body)
        fields = self._mapping(path, split.frontmatter, 1, part)
        if fields is None:
            return None
        if FENCE in split.frontmatter:
            line = split.frontmatter[: split.frontmatter.index(FENCE)].count("\n") + 2
            text = (
                "--- inside a line ends the frontmatter for claude plugin eval, write other dashes"
            )
            self._report.warning(f"{path}:{line}", text)
        return Document(
            path, split.frontmatter, fields, split.body, lines_before=1, body_line=split.body_line
        )

    def _mapping(
        self, path: str, text: str, lines_before: int, part: str
    ) -> dict[str, object] | None:
        try:
            value = yaml12.load(text)
        except yaml12.YamlError as error:
            self._error(part, f"{path}:{error.line + lines_before}", f"invalid YAML: {error.text}")
            return None
        if value is None:
            return {}
        if isinstance(value, dict):
            return value
        shown = value_shown(value)
        if isinstance(value, str) and ":" in value:
            shown += "; a colon after a key needs a space behind it"
        self._error(
            part, f"{path}:{1 + lines_before}", f"expected a mapping of keys to values, got {shown}"
        )
        return None

    def _text(self, entry: os.DirEntry[str] | None, part: str) -> str | None:
        if entry is None or _is_dir(entry) or not self._stays(entry, part):
            return None
        if not _is_file(entry):
            self._error(part, entry.path, "is not a regular file")
            return None
        try:
            with open(entry.path, "rb", buffering=0) as file:  # read at once
                return decoded(file.read())
        except OSError as error:
            self._error(part, entry.path, f"cannot be read: {error.strerror}")
            return None

    def _stays(self, entry: os.DirEntry[str], part: str) -> bool:
        """Tell whether an entry is no link, or one that stays inside the eval directory (D11)."""
        if not entry.is_symlink():
            return True
        target = os.path.realpath(entry.path)
        if not os.path.exists(target):
            text = f"is a link to {os.readlink(entry.path)!r}, which does not exist"
        elif not within(target, os.path.realpath(self._eval_dir)):
            text = f"is a link to {target!r}, outside the eval directory; put a copy in its place"
        else:
            return True
        self._error(part, entry.path, text)
        return False

    def _error(self, part: str, where: str, text: str) -> None:
        self.broken.add(part)
        self._report.error(where, text)


def _is_dir(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False
