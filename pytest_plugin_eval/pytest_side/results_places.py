"""The results directories of a session, one a suite root."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_plugin_eval.errors import SettingsError
from pytest_plugin_eval.settings import Settings
from pytest_plugin_eval.storage.results_dir import (
    named_results_directory,
    resumed_results_directory,
    shared_results_directory,
)

__all__ = ["open_results", "results_directory_of"]


def open_results(
    settings: Settings, session_id: str, bases: Mapping[Path, Path]
) -> dict[Path, Path]:
    """Make, or take over, the results directory of each suite root; return them by root.

    *bases* are the directories in which results go by timestamp, by suite root. Raises
    `SettingsError` when results cannot be written.
    """
    opened: dict[Path, Path] = {}
    for root, base in bases.items():
        try:
            opened[root] = _opened(settings, session_id, base, _folder(root, bases))
        except OSError as error:
            raise SettingsError(
                f"results cannot be written to {error.filename}: {error.strerror}; "
                "name another place with --eval-results-dir"
            ) from error
    return opened


def results_directory_of(
    settings: Settings, session_id: str, root: Path, bases: Mapping[Path, Path]
) -> Path:
    """Return which directory `open_results` makes for a root, unless its name is taken."""
    if settings.results_dir is not None:
        return settings.results_dir / _folder(root, bases)
    return bases[root] / session_id.partition(" ")[0]


def _opened(settings: Settings, session_id: str, base: Path, folder: str) -> Path:
    named = settings.resume_dir or settings.results_dir
    if named is None:
        return shared_results_directory(base, session_id)
    directory = named / folder
    if settings.resume_dir is None:
        named_results_directory(directory, session_id)
    else:
        resumed_results_directory(directory, session_id)
    return directory


def _folder(root: Path, roots: Mapping[Path, Path]) -> str:
    """Return a folder name for a suite, unique among those of the session; empty for the only."""
    if len(roots) == 1:
        return ""
    position = sorted(other for other in roots if other.name == root.name).index(root)
    return root.name if position == 0 else f"{root.name}-{position + 1}"
