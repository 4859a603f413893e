"""The texts a grader can look at. Spec: behaviour-evals, 4.3."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from pytest_plugin_eval.cases.model import FileTarget, Target
from pytest_plugin_eval.graders.base import Judgement, errored, failed
from pytest_plugin_eval.graders.picture import image_type
from pytest_plugin_eval.records.model import FileEntry, FileKind, RunRecord

__all__ = ["Subject", "decoded", "target_label"]

_MOST_LINKS = 40
_ABSENCE = ("not_contains", "count:0")
_ESCAPES = "escapes the run sandbox: it goes up by `..` or is absolute"
NO_MOCKS = (
    "no mock stand-ins were active in this run: no mocks/ directory applies to this case, "
    "or they were switched off"
)


class Subject:
    """A record as graders see it: its texts, each worked out once.

    A text that cannot be had is the judgement that the grader then comes to.
    """

    def __init__(self, record: RunRecord, case_name: str) -> None:
        self.record = record
        self._case_name = case_name
        self._contents: dict[str, bytes | Judgement] = {}

    @cached_property
    def created(self) -> tuple[str, ...]:
        """The lines of the target ``files``."""
        return tuple(
            entry.path
            for entry in self.record.files
            if entry.created and entry.kind is not FileKind.DIRECTORY
        )

    def text(self, target: Target, match: str) -> str | Judgement:
        """Return the text of a target; *match* only words the refusal of an image."""
        match target:
            case "last_message":
                return self.record.trace.last_message
            case "trace":
                return self.record.trace.text
            case "files":
                return "\n".join(self.created)
            case "mock_calls":
                mocks = self.record.mocks
                calls = None if mocks is None else mocks.calls
                return failed(NO_MOCKS) if calls is None else calls
            case FileTarget(path=path):
                return self._file_text(path, match)

    def content(self, path: str) -> bytes | Judgement:
        """Return the bytes of one file of the workspace."""
        if path not in self._contents:
            self._contents[path] = self._content(path)
        return self._contents[path]

    def _file_text(self, path: str, match: str) -> str | Judgement:
        content = self.content(path)
        if isinstance(content, Judgement):
            return content
        if (mime := image_type(content)) is not None:
            return failed(_image_refusal(path, mime, match))
        return decoded(content)

    def _content(self, path: str) -> bytes | Judgement:
        parts = _normalised(path)
        if parts is None:
            return self._threw(path, _ESCAPES)
        if not parts:
            return _not_regular(path)
        entry = self._entry("/".join(parts))
        if entry is None:
            return self._threw(path, "does not exist")
        if entry.leaves:
            return failed(
                f"grader threw: focus file {path} leaves the run directory through a link"
            )
        if entry.kind is not FileKind.FILE:
            return _not_regular(path)
        if entry.content is None:
            return errored(f"the record does not hold the contents of {path}")
        return entry.content

    def _threw(self, path: str, trouble: str) -> Judgement:
        subject = f'case "{self._case_name}" grader focus file "{path}"'
        return failed(f'grader threw: {subject}: path "{path}" {trouble}')

    @cached_property
    def _entries(self) -> dict[str, FileEntry]:
        """Every entry by path, directories that only their files tell of included."""
        entries: dict[str, FileEntry] = {}
        for entry in self.record.files:
            for place, letter in enumerate(entry.path):
                if letter == "/":
                    parent = entry.path[:place]
                    entries.setdefault(parent, _directory(parent))
        entries.update((entry.path, entry) for entry in self.record.files)
        return entries

    def _entry(self, path: str) -> FileEntry | None:
        """Return what a path leads to, links followed; a link itself only when it leaves."""
        for _ in range(_MOST_LINKS):
            entry, rest = self._first_stop(path.split("/"))
            if entry is None or entry.leaves:
                return entry
            if entry.kind is not FileKind.LINK:
                return None if rest else entry
            if entry.target is None:
                return None
            target = [] if entry.target in ("", ".") else [entry.target]
            path = "/".join([*target, *rest])
            if not path:
                return _directory("")
        return None

    def _first_stop(self, parts: Sequence[str]) -> tuple[FileEntry | None, Sequence[str]]:
        """Return the first entry on the way that is no directory, or the last, and what follows."""
        entry = None
        for length in range(1, len(parts) + 1):
            entry = self._entries.get("/".join(parts[:length]))
            if entry is None or entry.kind is not FileKind.DIRECTORY:
                return entry, parts[length:]
        return entry, ()


def target_label(target: Target) -> str:
    """Return how explanations name a target: its word, or ``file <path>``."""
    return f"file {target.path}" if isinstance(target, FileTarget) else target


def decoded(content: bytes) -> str:
    """Return the text of a file: UTF-8, a byte-order mark dropped, other bytes replaced."""
    return content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")


def _normalised(path: str) -> list[str] | None:
    """Return the parts of a path with ``.`` and ``..`` resolved by text; `None` if it escapes."""
    if path.startswith("/"):
        return None
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return parts


def _directory(path: str) -> FileEntry:
    return FileEntry(path=path, kind=FileKind.DIRECTORY, created=False)


def _not_regular(path: str) -> Judgement:
    return failed(f"grader threw: focus file {path} is not a regular file")


def _image_refusal(path: str, mime: str, match: str) -> str:
    cure = "an llm grader with this focus can look at it"
    if match in _ABSENCE:
        cure = "let the case write its text to a file as well and search that one"
    return f"file {path} is an image ({mime}); a regex grader needs text — {cure}"
