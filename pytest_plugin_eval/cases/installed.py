"""Plugins that the agent has installed: which there are, and where sessions load them from.

Read from the files of the agent's own configuration directory, which nothing here writes.
Spec: behaviour-evals, 2.8.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_plugin_eval.cases import agent_files
from pytest_plugin_eval.cases.agent_files import AgentFiles, Install, SkillFolder
from pytest_plugin_eval.cases.case_paths import within
from pytest_plugin_eval.cases.plugin_roots import SKILL_FILE, manifest_file
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.text import did_you_mean, shown

__all__ = ["InstalledError", "InstalledPlugin", "find_installed", "unknown_name"]

SKILLS_DIR = "skills-dir"
"""What stands for the marketplace of a plugin that is a personal skill folder."""

_EVERYWHERE = frozenset(("user", "managed"))
"""Scopes of an installation that are bound to no project."""


class InstalledError(EvalError):
    """A name that stands for no single plugin, or for one that no session could load.

    *root* is where the plugin should be, ``None`` if that cannot be told.
    """

    def __init__(
        self, message: str, *, root: str | None = None, plugin_id: str | None = None
    ) -> None:
        super().__init__(message)
        self.root = root
        self.plugin_id = plugin_id


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledPlugin:
    """An installed plugin and the directory that sessions load it from."""

    id: str
    """``name@marketplace``; the manifest's name may be another one."""
    root: str
    notes: tuple[str, ...] = ()


def find_installed(text: str, *, env: Mapping[str, str], cwd: str) -> InstalledPlugin | None:
    """Return the installed plugin called *text*, or ``None`` when none is.

    A name with or without its marketplace, which goes before a directory of that name as in the
    reference; anything with a slash is a path. Raises `InstalledError` when several are called so,
    or when the one that is cannot be loaded.
    """
    if not _is_name(text):
        return None
    files = AgentFiles(env, cwd)
    found = [one for one in _ids(files) if text in {one, _name(one)}]
    if len(found) > 1:
        raise InstalledError(
            f"{text}: is the name of {len(found)} installed plugins, expected one of "
            + ", ".join(found)
        )
    if found:
        return _plugin(found[0], files, cwd)
    if os.path.exists(os.path.join(cwd, text)):
        return None
    return _other_skill_folder(text, files)


def unknown_name(text: str, *, env: Mapping[str, str], cwd: str) -> str:
    """Return what to add to "no such file or directory", empty for what can only be a path."""
    if not _is_name(text):
        return ""
    files = AgentFiles(env, cwd)
    record = files.installs_file
    if problem := files.installs_problem:
        return f", and which plugins are installed cannot be read from {record}: {problem}"
    ids = _ids(files)
    near = did_you_mean(text, [*ids, *map(_name, ids)])
    return f", and no plugin of that name is installed in {files.directory}{near}"


def _is_name(text: str) -> bool:
    separators = {"/", os.sep, "\0"}
    return text.strip(".") != "" and not separators.intersection(text)


def _name(plugin_id: str) -> str:
    return plugin_id.rpartition("@")[0]


def _skill_id(folder: SkillFolder) -> str:
    return f"{folder.name}@{SKILLS_DIR}"


def _ids(files: AgentFiles) -> list[str]:
    """Return the ids of everything installed, in the reference's order."""
    skills = [_skill_id(folder) for folder in files.skill_folders if folder.name is not None]
    return list(dict.fromkeys([*files.installs, *skills]))


def _plugin(plugin_id: str, files: AgentFiles, cwd: str) -> InstalledPlugin:
    installs = files.installs.get(plugin_id)
    if installs is None:
        return _skill_plugin(plugin_id, files)
    name, _, marketplace = plugin_id.rpartition("@")
    root = _in_folder_marketplace(name, marketplace, files)
    if root is None:
        root = _copy(_applicable(installs, cwd), files)
        problem = f"is installed in {root}, which is not there; install it again"
    else:
        problem = f"is listed by its marketplace in {root}, which is not there"
    if not os.path.isdir(root):
        raise InstalledError(f"{plugin_id}: {problem}", root=root, plugin_id=plugin_id)
    return InstalledPlugin(id=plugin_id, root=root, notes=tuple(_notes(plugin_id, root, files)))


def _applicable(installs: tuple[Install, ...], cwd: str) -> Install:
    """Return the first installation that holds in *cwd*, else the first of all."""
    here = {cwd, os.path.realpath(cwd)}
    for install in installs:
        if install.scope in _EVERYWHERE or install.project in here:
            return install
    return installs[0]


def _copy(install: Install, files: AgentFiles) -> str:
    """Return the directory of an installation, also where the configuration was moved."""
    _, cache, inside = install.path.partition(f"{os.sep}cache{os.sep}")
    moved = os.path.join(files.plugins, "cache", inside)
    if cache and not os.path.isdir(install.path) and os.path.isdir(moved):
        return moved
    return install.path


def _in_folder_marketplace(name: str, marketplace: str, files: AgentFiles) -> str | None:
    """Return where a plugin lies in a marketplace that is a folder: it is loaded in place.

    ``None``: the marketplace is none, or takes the plugin from elsewhere.
    """
    folder = files.folder_marketplace(marketplace)
    if folder is None:
        return None
    plugin_id = f"{name}@{marketplace}"
    catalog, problem = agent_files.json_object(folder.catalog)
    if catalog is None:
        raise InstalledError(
            f"{plugin_id}: sessions load it from the folder {folder.path}, but what that offers "
            f"cannot be read from {folder.catalog}: {problem}"
        )
    listed = catalog.get("plugins")
    entries = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    entry = next((one for one in entries if one.get("name") == name), None)
    if entry is None:
        offered = [str(one.get("name")) for one in entries]
        raise InstalledError(
            f"{plugin_id}: sessions load it from the folder {folder.path}, but {folder.catalog} "
            f"lists it no more{did_you_mean(name, offered)}"
        )
    source = _local_source(entry.get("source"), catalog.get("metadata"))
    if source is None:
        return None
    root = os.path.normpath(os.path.join(folder.path, source))
    if not within(root, os.path.normpath(folder.path)):
        raise InstalledError(
            f"{plugin_id}: {folder.catalog} has it in {shown(source)}, expected a place inside the "
            "marketplace"
        )
    return root


def _local_source(source: object, metadata: object) -> str | None:
    """Return the ``source`` of a catalog's entry relative to the marketplace."""
    if not isinstance(source, str):
        return None
    if source.startswith("./"):
        return source
    base = metadata.get("pluginRoot") if isinstance(metadata, dict) else None
    return os.path.join(base, source) if isinstance(base, str) else None


def _skill_plugin(plugin_id: str, files: AgentFiles) -> InstalledPlugin:
    folders = [one for one in files.skill_folders if _skill_id(one) == plugin_id]
    if len(folders) > 1:
        places = ", ".join(one.path for one in folders)
        raise InstalledError(f"{plugin_id}: is the name of several skill folders: {places}")
    root = os.path.realpath(folders[0].path)
    return InstalledPlugin(id=plugin_id, root=root, notes=tuple(_notes(plugin_id, root, files)))


def _other_skill_folder(text: str, files: AgentFiles) -> InstalledPlugin | None:
    """Return the skill folder called *text* that says no name of its own."""
    name = text.removesuffix(f"@{SKILLS_DIR}")
    folder = next((one for one in files.skill_folders if os.path.basename(one.path) == name), None)
    if folder is None:
        return None
    if folder.name is not None:
        raise InstalledError(
            f"{text}: the plugin in {folder.path} has another name, "
            f"expected {shown(_skill_id(folder))}"
        )
    if folder.problem is not None:
        raise InstalledError(f"{text}: the plugin in {folder.path} is broken: {folder.problem}")
    return InstalledPlugin(id=f"{name}@{SKILLS_DIR}", root=os.path.realpath(folder.path))


def _notes(plugin_id: str, root: str, files: AgentFiles) -> list[str]:
    notes = []
    if plugin_id in files.disabled:
        notes.append(f"{plugin_id} is disabled in {files.settings_file}; evaluated all the same")
    if manifest_file(root) is None and not os.path.isfile(os.path.join(root, SKILL_FILE)):
        notes.append(f"{root} has no manifest of its own, so that no run can load {plugin_id}")
    return notes
