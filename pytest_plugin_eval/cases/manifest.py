"""Plugins: what their manifest says of them and of their evals."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pytest_plugin_eval.cases.case import Plugin
from pytest_plugin_eval.cases.plugin_roots import (
    DEFAULT_EVAL_DIR,
    manifest_file,
    manifest_root,
    skill_root,
)
from pytest_plugin_eval.errors import SettingsError
from pytest_plugin_eval.text import one_line, shown

__all__ = [
    "DEFAULT_EVAL_DIR",
    "Manifest",
    "manifest_file",
    "manifest_notes",
    "manifest_of",
    "nearest_plugin",
    "normalised_eval_dir",
    "read_plugin",
]

_COMPONENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a plugin's manifest says, as far as evaluation goes."""

    file: Path | None
    """``None`` for a bare skill folder."""
    plugin: Plugin
    eval_dir: str | None = None
    """Normalised ``experimental.evals``; ``None`` when absent or refused."""
    notes: tuple[str, ...] = ()


def normalised_eval_dir(value: str) -> str:
    """Return an eval directory in one spelling, or raise `SettingsError` with the reason.

    Spec: behaviour-evals, 2.7.
    """
    reason = _eval_dir_problem(value)
    if reason:
        raise SettingsError(f"{shown(value)} {reason}")
    return os.path.normpath(value.replace("\\", "/")).replace(os.sep, "/")


def _eval_dir_problem(value: str) -> str | None:
    spelt = value.replace("\\", "/")
    if not spelt.strip():
        return "is empty, expected a directory relative to the plugin's root, such as 'evals'"
    if spelt.startswith("/") or re.match(r"[A-Za-z]:", spelt):
        return "is absolute, expected a directory relative to the plugin's root"
    parts = os.path.normpath(spelt).replace(os.sep, "/").split("/")
    if parts == ["."]:
        return "is the plugin's root itself, expected a directory below it"
    if parts[0] == "..":
        return "leaves the plugin's root"
    for part in parts:
        if not _COMPONENT.fullmatch(part):
            return f"has the part {shown(part)}, expected a letter or digit, then also . _ - @ +"
    return None


@cache
def manifest_of(root: str) -> Manifest:
    """Return what the manifest of the plugin rooted at *root* says."""
    file = manifest_file(root)
    name = os.path.basename(root)
    path = Path(os.path.realpath(root))
    if file is None:
        return Manifest(file=None, plugin=Plugin(name=name, path=path))
    data = _json_object(file)
    problem = _manifest_problem(data)
    if data is None or problem:
        broken = Plugin(name=name, path=path, problem="manifest_invalid")
        return Manifest(
            file=Path(file),
            plugin=broken,
            notes=(f"{file}: {problem}, so the plugin cannot be loaded",),
        )
    eval_dir, notes = _manifest_eval_dir(data, file)
    if os.path.dirname(file) == root:
        # The agent does not read this one: it calls the plugin by its directory (seen of 2.1.332).
        return Manifest(
            file=Path(file), plugin=Plugin(name=name, path=path), eval_dir=eval_dir, notes=notes
        )
    version = data.get("version")
    plugin = Plugin(
        name=str(data["name"]), path=path, version=version if isinstance(version, str) else None
    )
    return Manifest(file=Path(file), plugin=plugin, eval_dir=eval_dir, notes=notes)


def _json_object(file: str) -> dict[str, object] | None:
    try:
        text = Path(file).read_bytes().decode("utf-8", errors="replace").removeprefix("\ufeff")
        data = json.loads(text, parse_constant=_refuse)
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _refuse(word: str) -> None:
    raise ValueError(word)  # NaN and Infinity, which only Python reads


def _manifest_problem(data: Mapping[str, object] | None) -> str | None:
    """Return why the agent would refuse a manifest, as far as was found out by trying."""
    if data is None:
        return "is not a readable JSON object"
    name = data.get("name")
    if not isinstance(name, str) or not name or " " in name or not name.isprintable():
        return f"name must be a string without spaces, got {shown(name)}"
    if not isinstance(data.get("version", ""), str):
        return f"version must be a string, got {shown(data['version'])}"
    for key in ("agents", "commands", "hooks", "mcpServers", "skills"):
        value = data.get(key, [])
        if not isinstance(value, str | list | dict):
            return f"{key} must be a path or a list of paths, got {shown(value)}"
        if isinstance(value, str) and not value.startswith("./"):
            return f"{key} must be a path that begins with './', got {shown(value)}"
    experimental = data.get("experimental")
    if isinstance(experimental, dict) and "evals" in experimental:
        value = experimental["evals"]
        if not isinstance(value, str | list):
            return f"experimental.evals must be a string, got {shown(value)}"
    return None


def _manifest_eval_dir(data: Mapping[str, object], file: str) -> tuple[str | None, tuple[str, ...]]:
    experimental = data.get("experimental")
    if not isinstance(experimental, dict) or "evals" not in experimental:
        if "evals" not in data:
            return None, ()
        instead = json.dumps({"experimental": {"evals": data["evals"]}})[1:-1]
        return None, (f"{file}: evals at the top level is ignored, write {one_line(instead)}",)
    value = experimental["evals"]
    if isinstance(value, list) and value:
        value = value[0]
    reason = _eval_dir_problem(value) if isinstance(value, str) else "is not a string"
    if reason or not isinstance(value, str):
        text = f"ignoring experimental.evals: {shown(value)} {reason}; using {DEFAULT_EVAL_DIR}/"
        return None, (f"{file}: {text}",)
    eval_dir = normalised_eval_dir(value)
    if eval_dir == DEFAULT_EVAL_DIR:
        return eval_dir, ()
    return eval_dir, (f"using eval directory {eval_dir}/ from {file}",)


@cache
def declared_servers(root: str) -> tuple[str, ...]:
    """Return the names of the MCP servers that a plugin declares, in order; unreadable files none.

    They stand in ``.mcp.json`` or under ``mcpServers`` of the manifest, there also as the path of
    such a file. Spec: agent-run, 7.1.
    """
    file = manifest_of(root).file
    declared = (_json_object(str(file)) or {}).get("mcpServers") if file is not None else None
    sources: list[object] = [".mcp.json", *(declared if isinstance(declared, list) else [declared])]
    names: dict[str, None] = {}
    for source in sources:
        servers: object = source
        if isinstance(source, str):
            content = _json_object(os.path.join(root, source)) or {}
            servers = content.get("mcpServers", content)
        if isinstance(servers, dict):
            names.update(dict.fromkeys(map(str, servers)))
    return tuple(names)


def read_plugin(root: Path) -> Plugin:
    """Return the plugin rooted here: one with a manifest, or a folder with a ``SKILL.md``."""
    return manifest_of(os.path.abspath(root)).plugin


def nearest_plugin(path: Path) -> Plugin | None:
    """Return the plugin that *path* belongs to; a manifest goes before a nearer skill folder."""
    directory = os.path.abspath(path)
    root = manifest_root(directory) or skill_root(directory)
    return manifest_of(root).plugin if root else None


def manifest_notes(root: Path) -> tuple[str, ...]:
    """Return what an author should know of where the evals of the plugin here are looked for."""
    directory = os.path.abspath(root)
    manifest = manifest_of(directory)
    eval_dir = manifest.eval_dir or DEFAULT_EVAL_DIR
    foreign = os.path.join(directory, eval_dir, "evals.json")
    if not os.path.isfile(foreign):
        return manifest.notes
    note = (
        f"{foreign}: is of another evaluation tool and is not read,"
        " expected a directory for each case with prompt.md or case.yaml"
    )
    return (*manifest.notes, note)
