"""Skills, agents and plugins as they are on disk: everything that the score is made of.

Each file is read once, and nothing else touches the file system: what is made of a source is pure.
Values are as the author wrote them; who prints them cleans them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_plugin_eval.errors import QualityError
from pytest_plugin_eval.quality.counts import Counts, counts_of
from pytest_plugin_eval.quality.reading import Document, read_document
from pytest_plugin_eval.text import shown

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
    """The field, whatever it holds; the directory's name where it is absent."""
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
    if os.path.basename(place) == SKILL_FILE and os.path.isfile(place):
        return read_skill(Path(place))
    if os.path.isfile(os.path.join(place, SKILL_FILE)):
        return read_skill(Path(place))
    if not os.path.isdir(place):
        raise QualityError(
            f"{_said(place)}: is not a directory, expected that of a skill or plugin, or a SKILL.md"
        )
    if os.path.lexists(os.path.join(place, MANIFEST_DIRECTORY)):
        return read_plugin(Path(place))
    what = "is a directory" if os.path.isdir(os.path.join(place, SKILL_FILE)) else "is missing"
    raise QualityError(
        f"{_said(place)}: SKILL.md {what}, expected a skill's SKILL.md file"
        f" or a plugin's {MANIFEST_DIRECTORY}"
    )


def read_skill(path: Path) -> SkillSource:
    """Return the skill whose directory or ``SKILL.md`` *path* is.

    Raises `QualityError` where the file cannot be read or is not UTF-8.
    """
    given = str(path)
    inside = os.path.basename(given) == SKILL_FILE and not os.path.isdir(given)
    file = given if inside else os.path.join(given, SKILL_FILE)
    directory = os.path.realpath(os.path.dirname(file) or ".")
    document = read_document(file)
    problems = list(document.problems)
    description = _description(document, problems)
    counts = counts_of(document.content, document.body)
    has_references, reference_files = _listed(directory, "references", file, problems)
    has_assets, asset_files = _listed(directory, "assets", file, problems)
    return SkillSource(
        path=Path(directory),
        content=document.content,
        body=document.body,
        fields=document.fields,
        name=document.fields.get("name", os.path.basename(directory)),
        description=description,
        counts=counts,
        has_references=has_references,
        reference_files=reference_files,
        has_assets=has_assets,
        asset_files=asset_files,
        dead_cross_references=_dead(directory, counts.cross_references),
        problems=tuple(problems),
    )


def read_plugin(path: Path) -> PluginSource:
    """Return the plugin at *path*; what cannot be read of it is named in its problems."""
    root = os.path.realpath(path)
    problems: list[str] = []
    name = _manifest_name(root, str(path), problems)
    skills: list[SkillSource] = []
    for directory in _skill_directories(str(path)):
        try:
            skills.append(read_skill(Path(directory)))
        except QualityError as error:
            problems.append(f"{error}, so this skill is not scored")
        else:
            problems += skills[-1].problems
    agents: list[AgentSource] = []
    for file in _agent_files(str(path)):
        try:
            agents.append(_read_agent(file))
        except QualityError as error:
            problems.append(f"{error}, so this agent is not scored")
        else:
            problems += agents[-1].problems
    return PluginSource(
        path=Path(root),
        name=name,
        skills=tuple(skills),
        agents=tuple(agents),
        problems=tuple(problems),
    )


def _read_agent(file: str) -> AgentSource:
    document = read_document(file)
    problems = list(document.problems)
    fields = document.fields
    return AgentSource(
        path=Path(os.path.realpath(os.path.dirname(file)), os.path.basename(file)),
        fields=fields,
        name=fields.get("name", Path(file).stem),
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


def _kind(value: object) -> str:
    """Return what a value that is no text is; it may hold itself or be large, so without it."""
    if value is None:
        return "empty"
    if isinstance(value, list | dict | set):
        return "a list" if isinstance(value, list) else "a mapping"
    return shown(value)


def _listed(
    directory: str, entry: str, file: str, problems: list[str]
) -> tuple[bool, tuple[str, ...]]:
    """Return whether there is such a directory beside a skill, and the files directly in it."""
    place = os.path.join(directory, entry)
    if not _exists(place):
        return False, ()
    try:
        with os.scandir(place) as entries:
            return True, tuple(sorted(each.name for each in entries if _is_file(each)))
    except NotADirectoryError:
        beside = os.path.join(os.path.dirname(file), entry)
        problems.append(f"{_said(beside)}: is a file, expected a directory; it is ignored")
        return False, ()
    except OSError as error:
        beside = os.path.join(os.path.dirname(file), entry)
        problems.append(f"{_said(beside)}: cannot be listed: {error.strerror}")
        return True, ()


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


def _manifest_name(root: str, given: str, problems: list[str]) -> str:
    """Return what the manifest calls a plugin; its directory's name where it calls it nothing."""
    instead = os.path.basename(root)
    file = os.path.join(given, MANIFEST_FILE)
    if not os.path.lexists(file):
        return instead
    try:
        data = json.loads(Path(file).read_bytes().decode().removeprefix("\ufeff"))
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
                return name
            what = f"has no text as its name, got {_kind(name)}"
    problems.append(f"{_said(file)}: {what}, so the plugin is called by its directory")
    return instead


def _skill_directories(root: str) -> Iterator[str]:
    """Yield the directories in ``skills`` with a ``SKILL.md``, sorted."""
    for directory in _entries(os.path.join(root, "skills")):
        if os.path.lexists(os.path.join(directory, SKILL_FILE)):
            yield directory


def _agent_files(root: str) -> Iterator[str]:
    """Yield the Markdown files in ``agents``, sorted."""
    for file in _entries(os.path.join(root, "agents")):
        if file.endswith(".md") and not os.path.isdir(file):
            yield file


def _entries(directory: str) -> list[str]:
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    return [os.path.join(directory, name) for name in sorted(names)]


def _said(path: str) -> str:
    """Return a path for a message: on one line, bytes that are no UTF-8 replaced."""
    from pytest_plugin_eval.text import one_line, without_surrogates

    return without_surrogates(one_line(path))
