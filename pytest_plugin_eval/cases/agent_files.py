"""The agent's own files on installed plugins, of which none is sure to be there or well-formed.

As `claude plugin install` and `claude plugin marketplace add` write them, seen with 2.1.332.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pytest_plugin_eval.cases.plugin_roots import MANIFESTS, SKILL_FILE
from pytest_plugin_eval.text import shown

__all__ = ["AgentFiles", "FolderMarketplace", "Install", "SkillFolder", "json_object"]

_VERSIONS = (1, 2)
_CATALOG = os.path.join(".claude-plugin", "marketplace.json")
_FOLDERS = frozenset(("directory", "file"))
"""Kinds of marketplaces that are read in place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Install:
    """One installation of a plugin; there may be one for each project."""

    path: str
    scope: str = "user"
    project: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderMarketplace:
    """A marketplace that is a folder of this machine."""

    path: str
    catalog: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFolder:
    """A personal skill folder that is a plugin, or could be one."""

    path: str
    name: str | None = None
    """As its manifest says; ``None`` without a manifest, or with one that cannot be used."""
    problem: str | None = None
    """What is wrong with the manifest."""


class AgentFiles:
    """Reads the files of one configuration directory, each when it is first asked for."""

    def __init__(self, env: Mapping[str, str], cwd: str) -> None:
        home = env.get("HOME") or env.get("USERPROFILE") or os.path.expanduser("~")
        named = env.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
        self.directory = os.path.normpath(os.path.join(cwd, named))
        plugins = env.get("CLAUDE_CODE_PLUGIN_CACHE_DIR")
        self.plugins = os.path.join(cwd, plugins) if plugins else f"{self.directory}/plugins"
        self.installs_file = os.path.join(self.plugins, "installed_plugins.json")
        self.settings_file = os.path.join(self.directory, "settings.json")

    @cached_property
    def installs_problem(self) -> str | None:
        """What makes the list of installed plugins unreadable; a missing one is an empty one."""
        if not os.path.lexists(self.installs_file):
            return None
        content, problem = json_object(self.installs_file)
        if content is None:
            return problem
        version = content.get("version")
        if version not in _VERSIONS:
            return f"expected version 1 or 2 of its format, got {shown(version)}"
        return None if isinstance(content.get("plugins"), dict) else "it has no object 'plugins'"

    @cached_property
    def installs(self) -> Mapping[str, tuple[Install, ...]]:
        """Installed plugins by id, those without a usable installation left out."""
        content, _ = json_object(self.installs_file)
        plugins = (content or {}).get("plugins")
        if self.installs_problem is not None or not isinstance(plugins, dict):
            return {}
        found = {one: tuple(_installs(listed)) for one, listed in plugins.items() if "@" in one}
        return {one: installs for one, installs in found.items() if installs}

    @cached_property
    def disabled(self) -> frozenset[str]:
        """Ids of plugins that the user's settings turn off."""
        content, _ = json_object(self.settings_file)
        enabled = (content or {}).get("enabledPlugins")
        if not isinstance(enabled, dict):
            return frozenset()
        return frozenset(one for one, value in enabled.items() if value is False)

    @cached_property
    def skill_folders(self) -> tuple[SkillFolder, ...]:
        """Personal skill folders, by folder name; a folder with neither file is none."""
        top = os.path.join(self.directory, "skills")
        try:
            names = sorted(os.listdir(top))
        except OSError:
            return ()
        folders = (_skill_folder(os.path.join(top, name)) for name in names)
        return tuple(folder for folder in folders if folder is not None)

    def folder_marketplace(self, name: str) -> FolderMarketplace | None:
        """Return the marketplace of that name if it is a folder that is read in place."""
        known, _ = json_object(os.path.join(self.plugins, "known_marketplaces.json"))
        entry = (known or {}).get(name)
        source = entry.get("source") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(source, dict):
            return None
        named, place = source.get("path"), entry.get("installLocation")
        if source.get("source") not in _FOLDERS or not isinstance(named, str):
            return None
        if source["source"] == "directory":
            path = place if isinstance(place, str) else named
            return FolderMarketplace(path=path, catalog=os.path.join(path, _CATALOG))
        # The file is in the marketplace's `.claude-plugin`, or is told of by its own folder.
        path = place if isinstance(place, str) else os.path.dirname(os.path.dirname(named))
        return FolderMarketplace(path=path, catalog=named)


def json_object(file: str) -> tuple[Mapping[str, object] | None, str | None]:
    """Return the object in a JSON file, or ``None`` and why there is none."""
    try:
        if not os.path.isfile(file):  # a pipe would be waited for
            return None, "no such file"
        with open(file, encoding="utf-8-sig") as stream:
            content: object = json.load(stream)
    except OSError as error:
        return None, error.strerror or "cannot be read"
    except (ValueError, RecursionError):
        return None, "it is not valid JSON"
    if not isinstance(content, dict):
        return None, "it is not a JSON object"
    return content, None


def _installs(listed: object) -> Iterator[Install]:
    # Version 1 has a single installation instead of a list.
    for entry in listed if isinstance(listed, list) else [listed]:
        path = entry.get("installPath") if isinstance(entry, dict) else None
        if isinstance(entry, dict) and isinstance(path, str) and os.path.isabs(path):
            project = entry.get("projectPath")
            yield Install(
                path=path,
                scope=str(entry.get("scope", "user")),
                project=project if isinstance(project, str) else None,
            )


def _skill_folder(path: str) -> SkillFolder | None:
    # Only in its own folder: a `plugin.json` beside a SKILL.md is not taken as a manifest here.
    manifest = os.path.join(path, MANIFESTS[0])
    if not os.path.isfile(manifest):
        is_skill = os.path.isfile(os.path.join(path, SKILL_FILE))
        return SkillFolder(path=path) if is_skill else None
    content, problem = json_object(manifest)
    if content is None:
        return SkillFolder(path=path, problem=f"{manifest}: {problem}")
    name = content.get("name")
    if not isinstance(name, str) or not name:
        expected = f"name must be a string that is not empty, got {shown(name)}"
        return SkillFolder(path=path, problem=f"{manifest}: {expected}")
    return SkillFolder(path=path, name=name)
