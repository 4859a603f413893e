"""The ini file that pytest read, and the one the user meant.

pytest looks for its ini file before it loads plugins. It does not know their options then, and
takes `evals.json` in `--eval-json evals.json` for a path to test, once there is a file of that
name. Such a path can lead it to another ini file, and from replay to live runs that cost money.
"""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from pytest_plugin_eval.pytest_side.option_table import OPTIONS, Option

__all__ = ["check_configuration"]

_WHOLE_FILES: Final = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
_SECTIONS: Final = {
    "tox.ini": re.compile(r"^\[pytest\]", re.M),
    "setup.cfg": re.compile(r"^\[tool:pytest\]", re.M),
}
_PYPROJECT: Final = "pyproject.toml"


@dataclass(frozen=True, slots=True)
class _Given:
    """An option of ours whose values stand as words of their own."""

    option: Option
    words: tuple[str, ...]

    def spelt(self) -> str:
        """Return the spelling that no one can take for paths."""
        name = self.option.name
        if self.option.metavar == "TOOL":
            return f"{name}={shlex.quote(','.join(self.words))}"
        return " ".join(f"{name}={shlex.quote(word)}" for word in self.words)


def check_configuration(config: pytest.Config) -> None:
    """Refuse a session whose ini file was chosen by the value of one of our options.

    Raises `pytest.UsageError` naming the option, both files, and the spelling that helps.
    """
    if hasattr(config, "workerinput") or config.getoption("inifilename"):
        return
    here = config.invocation_params.dir
    given = list(_given(_words(config)))
    taken = [(one, word) for one in given for word in one.words if _exists(here / word)]
    if not taken:
        return
    has_rootdir = bool(config.getoption("rootdir"))

    def chosen(*more: str) -> Path | None:
        return _chosen([*_paths(config), *more], here, has_rootdir=has_rootdir)

    read, meant = config.inipath, chosen()
    # Where our words do not lead to the file that was read, something else did.
    if read == meant or read != chosen(*(word for _, word in taken)):
        return
    one, word = next((pair for pair in taken if chosen(pair[1]) == read), taken[0])
    raise pytest.UsageError(
        f"{one.option.name} {word}: pytest took this path for a test path and read"
        f" {_named(read, here)} instead of {_named(meant, here)}; write {one.spelt()}"
    )


def _words(config: pytest.Config) -> list[str]:
    """Return the words pytest saw when it chose its ini file; those of the ini file came later."""
    added = shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
    words: list[str] = []
    for word in (*added, *map(str, config.invocation_params.args)):
        file = config.invocation_params.dir / word[1:]
        if word.startswith("@") and file.is_file():
            words += file.read_text(encoding="utf-8", errors="replace").splitlines()
        else:
            words.append(word)
    return words


def _given(words: Sequence[str]) -> Iterator[_Given]:
    options = {option.name: option for option in OPTIONS if option.convert is not None}
    for position, word in enumerate(words):
        if word == "--":
            return
        if option := options.get(word):
            values: list[str] = []
            for value in words[position + 1 :]:
                if value.startswith("-") or (values and not option.many):
                    break
                values.append(value)
            yield _Given(option, tuple(values))


def _paths(config: pytest.Config) -> list[str]:
    return config.args if config.args_source is pytest.Config.ArgsSource.ARGS else []


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # the value of an option may be too long for a path
        return False


def _chosen(arguments: Sequence[str], here: Path, *, has_rootdir: bool) -> Path | None:
    """Return the ini file that pytest chooses for path arguments, as its documentation has it."""
    paths = [Path(os.path.normpath(here / one.partition("::")[0])) for one in arguments]
    directories = [path if path.is_dir() else path.parent for path in paths if _exists(path)]
    ancestor = Path(os.path.commonpath(directories)) if directories else here
    found = _first_above([ancestor])
    if found is not None or has_rootdir:
        return found
    if any((place / "setup.py").is_file() for place in (ancestor, *ancestor.parents)):
        return None
    return _first_above(directories or [here])


def _first_above(directories: Sequence[Path]) -> Path | None:
    without_section: Path | None = None
    for directory in directories:
        for place in (directory, *directory.parents):
            for name in (*_WHOLE_FILES, _PYPROJECT, *_SECTIONS):
                file = place / name
                if not file.is_file():
                    continue
                if _configures(file):
                    return file
                if name == _PYPROJECT:
                    without_section = without_section or file
    return without_section


def _configures(file: Path) -> bool:
    """Whether the file is one that pytest reads; a broken one is, with an error."""
    if file.name in _WHOLE_FILES:
        return True
    try:
        text = file.read_text(encoding="utf-8")
        if section := _SECTIONS.get(file.name):
            return section.search(text) is not None
        table = tomllib.loads(text).get("tool", {}).get("pytest", {})
    except (OSError, ValueError):
        return True
    return bool(table)


def _named(file: Path | None, here: Path) -> str:
    return "no ini file" if file is None else os.path.relpath(file, here)
