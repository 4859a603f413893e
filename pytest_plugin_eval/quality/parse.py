"""Skills, agents and plugins as they are on disk: everything that the score is made of.

Each file is read once, and nothing else touches the file system: what is made of a source is pure.
Values are as the author wrote them; who prints them cleans them.
"""

from __future__ import annotations

import json
import math
import os
import reprlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pytest_plugin_eval.errors import QualityError
from pytest_plugin_eval.quality.counts import Counts, counts_of
from pytest_plugin_eval.quality.reading import Document, read_document, read_regular
from pytest_plugin_eval.text import one_line, shown, without_surrogates

__all__ = [
    "AgentSource",
    "PluginSource",
    "SkillSource",
    "read_plugin",
    "read_skill",
    "read_target",
]

SKILL_FILE = "SKILL.md"
MANIFEST_DIRECTORY = ".claude-plugin"
MANIFEST_FILE = ".claude-plugin/plugin.json"
SUB_SKILLS = "sub-skills/"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillSource:
    """A skill: its text, its fields and what was counted in it. Spec: quality-score, 2."""

    path: Path
    """The resolved directory that holds ``SKILL.md``."""
    content: str
    """All of ``SKILL.md`` with LF as its only line end and no byte order mark."""
    body: str
    """What follows the frontmatter's closing fence, untrimmed; all of `content` without one."""
    fields: Mapping[str, object]
    """The frontmatter; empty where there is none or it cannot be parsed."""
    name: object
    """The field, whatever scalar it holds; the directory's name where it is absent."""
    description: str
    """Empty where it is absent or no text."""
    counts: Counts
    has_references: bool
    """An entry ``references`` beside ``SKILL.md`` that is no plain file."""
    reference_files: tuple[str, ...]
    """Names of the files directly in ``references``, sorted."""
    has_assets: bool
    asset_files: tuple[str, ...]
    dead_cross_references: tuple[str, ...]
    """Of the cross references those that lead nowhere, in order and with repeats."""
    problems: tuple[str, ...] = ()
    """For stderr: what was ignored, each with its file."""

    @property
    def directory_name(self) -> str:
        """Return the name of the directory, which stands in for a missing name."""
        return self.path.name

    @property
    def line_count(self) -> int:
        """Return the number of line feeds and one."""
        return self.counts.line_count

    @property
    def body_offset(self) -> int:
        """Return where in `content` the body begins."""
        return len(self.content) - len(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSource:
    """An agent file of a plugin. Spec: quality-score, 7."""

    path: Path
    content: str
    """All of the file, as of a skill."""
    fields: Mapping[str, object]
    name: object
    """The field, whatever it holds; the file's stem where it is absent."""
    description: str
    """Empty where it is absent or no text."""
    tools: tuple[object, ...]
    """Items of the list, or of the text split at commas."""
    model: object
    """The field; ``None`` where it is absent."""
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSource:
    """A plugin: what its directories ``skills`` and ``agents`` hold. Spec: quality-score, 7."""

    path: Path
    """Its resolved directory."""
    name: str
    """The manifest's, else the directory's."""
    skills: tuple[SkillSource, ...]
    """Those that could be read, by path."""
    agents: tuple[AgentSource, ...]
    """Those that could be read, by path."""
    problems: tuple[str, ...] = ()
    """For stderr: those of its own and of all its skills and agents, the unreadable ones named."""


def read_target(path: str | Path) -> SkillSource | PluginSource:
    """Return the skill or plugin at *path*, as it is on disk. Spec: quality-score, 1 and 17.

    Raises `QualityError` where there is none, or where a skill's file cannot be read.
    """
    place = str(path)
    if not _exists(place):
        raise QualityError(f"{_said(place)}: does not exist, expected a skill or plugin directory")
    if not os.path.isdir(place):
        if os.path.basename(place) == SKILL_FILE:
            return read_skill(Path(place))
        raise QualityError(
            f"{_said(place)}: is not a directory, expected that of a skill or plugin, or a SKILL.md"
        )
    is_directory = os.path.isdir(os.path.join(place, SKILL_FILE))
    if not is_directory and _exists(os.path.join(place, SKILL_FILE)):
        return read_skill(Path(place))
    if os.path.lexists(os.path.join(place, MANIFEST_DIRECTORY)):
        return read_plugin(Path(place))
    what = "is a directory" if is_directory else "is missing"
    raise QualityError(
        f"{_said(place)}: {SKILL_FILE} {what}, expected a skill's {SKILL_FILE} file"
        f" or a plugin's {MANIFEST_DIRECTORY}"
    )


def read_skill(path: Path) -> SkillSource:
    """Return the skill whose directory or ``SKILL.md`` *path* is.

    Raises `QualityError` where the file cannot be read or is not UTF-8.
    """
    given = str(path)
    is_file = os.path.basename(given) == SKILL_FILE and not os.path.isdir(given)
    shown_directory = os.path.dirname(given) if is_file else given
    return _read_skill(os.path.realpath(shown_directory), shown_directory)


def _read_skill(directory: str, shown_directory: str) -> SkillSource:
    """Return the skill in *directory*, which is called *shown_directory* in messages."""
    document = read_document(os.path.join(shown_directory, SKILL_FILE))
    problems = list(document.problems)
    description = _description(document, problems)
    counts = counts_of(document.content, document.body)
    listed = {}
    for entry in ("references", "assets"):
        listed[entry] = _listed(os.path.join(directory, entry))
        if listed[entry].problem:
            beside = os.path.join(shown_directory, entry)
            problems.append(f"{_said(beside)}: {listed[entry].problem}")
    return SkillSource(
        path=Path(directory),
        content=document.content,
        body=document.body,
        fields=document.fields,
        name=_name(document, os.path.basename(directory)),
        description=description,
        counts=counts,
        has_references=listed["references"].is_there,
        reference_files=listed["references"].files,
        has_assets=listed["assets"].is_there,
        asset_files=listed["assets"].files,
        dead_cross_references=_dead(directory, counts.cross_references),
        problems=tuple(problems),
    )


def read_plugin(path: Path) -> PluginSource:
    """Return the plugin at *path*; what cannot be read of it is named in its problems."""
    given = str(path)
    # Links within it keep their names: as such an agent sees its skills.
    root = os.path.realpath(given)
    problems: list[str] = []
    name = _manifest_name(given, os.path.basename(root), problems)
    skills: list[SkillSource] = []
    for entry in _skill_entries(given, problems):
        try:
            skills.append(_read_skill(os.path.join(root, entry), os.path.join(given, entry)))
        except QualityError as error:
            problems.append(f"{error}; this skill is not scored")
        else:
            problems += skills[-1].problems
    agents: list[AgentSource] = []
    for entry in _agent_entries(given, problems):
        try:
            agents.append(_read_agent(os.path.join(root, entry), os.path.join(given, entry)))
        except QualityError as error:
            problems.append(f"{error}; this agent is not scored")
        else:
            problems += agents[-1].problems
    return PluginSource(
        path=Path(root),
        name=name,
        skills=tuple(skills),
        agents=tuple(agents),
        problems=tuple(problems),
    )


def _read_agent(file: str, shown_file: str) -> AgentSource:
    document = read_document(shown_file)
    problems = list(document.problems)
    fields = document.fields
    place = Path(file)
    return AgentSource(
        path=place,
        content=document.content,
        fields=fields,
        name=_name(document, place.stem),
        description=_description(document, problems),
        tools=_tools(fields.get("tools")),
        model=fields.get("model"),
        problems=tuple(problems),
    )


def _tools(value: object) -> tuple[object, ...]:
    if isinstance(value, list):
        return tuple(value)
    if isinstance(value, str) and value:
        return tuple(word.strip() for word in value.split(","))
    return ()


def _description(document: Document, problems: list[str]) -> str:
    value = document.fields.get("description", "")
    if isinstance(value, str):
        return value
    problems.append(
        f"{_said(document.file)}: description is {_kind(value)}, expected text;"
        " it is scored as an empty one"
    )
    return ""


def _name(document: Document, instead: str) -> object:
    """Return a name of any type as JSON can hold it; one that holds itself is cut."""
    value = document.fields.get("name", instead)
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, list | dict):
        return reprlib.repr(value) if value else ""
    return str(value)


def _kind(value: object) -> str:
    """Return what a value that is no text is; it may hold itself or be large, so without it."""
    if value is None:
        return "empty"
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a mapping"
    return shown(value)


class _Listed(NamedTuple):
    is_there: bool
    files: tuple[str, ...] = ()
    problem: str | None = None


def _listed(place: str) -> _Listed:
    """Return whether there is such a directory, and the files directly in it."""
    if not _exists(place):
        return _Listed(is_there=False)
    try:
        with os.scandir(place) as entries:
            files = tuple(sorted(each.name for each in entries if _is_file(each)))
    except NotADirectoryError:
        return _Listed(is_there=False, problem="is a file, expected a directory; it is ignored")
    except OSError as error:
        return _Listed(is_there=True, problem=f"cannot be listed: {error.strerror}")
    return _Listed(is_there=True, files=files)


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:  # a link that leads to itself
        return False


def _exists(place: str) -> bool:
    try:
        return os.path.exists(place)
    except ValueError:  # a zero byte
        return False


def _dead(directory: str, cross_references: tuple[str, ...]) -> tuple[str, ...]:
    """Return the cross references with nothing below the skill's parent. Spec: 5."""
    parent = os.path.dirname(directory)
    alive: dict[str, bool] = {}
    for reference in cross_references:
        if reference not in alive:
            alive[reference] = _exists(os.path.join(parent, reference)) or (
                reference.startswith(SUB_SKILLS) and _exists(os.path.join(directory, reference))
            )
    return tuple(reference for reference in cross_references if not alive[reference])


def _manifest_name(given: str, instead: str, problems: list[str]) -> str:
    """Return what the manifest calls a plugin, or *instead* where it calls it nothing."""
    file = os.path.join(given, MANIFEST_FILE)
    if not os.path.lexists(file):
        return instead
    try:
        data = json.loads(read_regular(file).decode().removeprefix("\ufeff"))
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
    except (ValueError, RecursionError):
        what = "is no JSON in UTF-8"
    else:
        if not isinstance(data, dict):
            what = "is no JSON object"
        else:
            name = data.get("name", instead)
            if isinstance(name, str):
                return without_surrogates(name)
            what = f"name is {_kind(name)}, expected text"
    problems.append(f"{_said(file)}: {what}; the plugin is called by its directory")
    return instead


def _skill_entries(root: str, problems: list[str]) -> Iterator[str]:
    """Yield the directories in ``skills`` with a ``SKILL.md``, sorted."""
    for entry in _entries(root, "skills", problems):
        if os.path.lexists(os.path.join(root, entry, SKILL_FILE)):
            yield entry


def _agent_entries(root: str, problems: list[str]) -> Iterator[str]:
    """Yield the Markdown files in ``agents``, sorted."""
    for entry in _entries(root, "agents", problems):
        if entry.endswith(".md"):
            yield entry


def _entries(root: str, directory: str, problems: list[str]) -> list[str]:
    place = os.path.join(root, directory)
    try:
        names = os.listdir(place)
    except FileNotFoundError:
        return []
    except OSError as error:
        problems.append(f"{_said(place)}: cannot be listed: {error.strerror}")
        return []
    return [os.path.join(directory, name) for name in sorted(names)]


def _said(path: str) -> str:
    """Return a path for a message: on one line, bytes that are no UTF-8 replaced."""
    return without_surrogates(one_line(path))
