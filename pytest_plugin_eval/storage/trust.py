"""Which plugin directories the user trusts: their hooks, servers and scripts run as the user.

Trust is given to a directory; inside a git repository to the whole of it. It is remembered in the
user's configuration directory and implies nothing else: no tool, no scaffold, no real server.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from pytest_plugin_eval.errors import SettingsError
from pytest_plugin_eval.storage.atomic_write import write_text
from pytest_plugin_eval.text import shown

__all__ = ["remember", "trust_file", "trust_root", "untrusted"]

SCHEMA = 1


def trust_file(env: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Return the file that remembers: below ``XDG_CONFIG_HOME``, else the platform's own place."""
    return _configuration(env, platform) / "pytest-plugin-eval" / "trusted.json"


def trust_root(directory: Path) -> Path:
    """Return what is trusted when *directory* is: its git repository, or itself outside of one."""
    place = Path(os.path.realpath(directory))
    for candidate in (place, *place.parents):
        # A file in work trees and submodules.
        if (candidate / ".git").exists():
            return candidate
    return place


def untrusted(directories: Iterable[Path], file: Path) -> tuple[Path, ...]:
    """Return the roots, each once, of those directories that nobody said to trust.

    Raises `SettingsError` when *file* is there and cannot be read.
    """
    known = _known(file)
    roots = dict.fromkeys(trust_root(directory) for directory in directories)
    return tuple(root for root in roots if str(root) not in known)


def remember(roots: Iterable[Path], file: Path) -> None:
    """Add roots to those that are trusted, also where two sessions do so at once.

    Raises `OSError` when *file* cannot be written, `SettingsError` when it cannot be read.
    """
    from filelock import FileLock

    file.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(file.with_suffix(".lock")):
        directories = sorted({*_known(file), *map(str, roots)})
        fields = {"schema": SCHEMA, "directories": directories}
        write_text(file, f"{json.dumps(fields, ensure_ascii=False, indent=2)}\n")


def _known(file: Path) -> frozenset[str]:
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return frozenset()
    except OSError as error:
        raise SettingsError(f"{file}: cannot be read: {error.strerror}") from error
    try:
        fields = json.loads(content)
        schema, directories = fields["schema"], fields["directories"]
    except (ValueError, TypeError, KeyError, RecursionError):
        schema, directories = None, None
    if not isinstance(schema, int) or not isinstance(directories, list):
        raise SettingsError(
            f"{file}: expected trusted directories as written by pytest-plugin-eval, got "
            f"{shown(content.decode('utf-8', 'replace'))}; remove the file to be asked again"
        )
    if schema > SCHEMA:
        raise SettingsError(
            f"{file}: written by a newer version: schema {schema}, this version reads up to "
            f"{SCHEMA}"
        )
    return frozenset(entry for entry in directories if isinstance(entry, str))


def _configuration(env: Mapping[str, str], platform: str) -> Path:
    # A relative value does not count (XDG Base Directory Specification, 0.8).
    chosen = Path(env.get("XDG_CONFIG_HOME", ""))
    if chosen.is_absolute():
        return chosen
    if platform == "win32" and env.get("APPDATA"):
        return Path(env["APPDATA"])
    home = Path(env.get("HOME") or Path.home())
    return home / ("Library/Application Support" if platform == "darwin" else ".config")
