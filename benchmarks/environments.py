"""Two Python environments that differ in this plugin and what it brings along.

They hold links to the distributions of the running interpreter, so nothing is downloaded, and
nothing else that happens to be installed there takes part.
"""

from __future__ import annotations

import os
import subprocess
import venv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import pytest_plugin_eval

__all__ = ["HERE", "Environment", "environment"]

HERE = Path(__file__).parent
OURS = "pytest-plugin-eval"
_BASE = ("pytest", "pytest-xdist")


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """A virtual environment."""

    python: Path
    home: Path
    """An empty home directory."""

    def command(self, *arguments: str) -> list[str]:
        """Return the command of a pytest session."""
        return [str(self.python), "-m", "pytest", *arguments]

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables of a session: nothing of the user's."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "HOME": str(self.home),
        }


def environment(
    place: Path, *, with_ours: bool, modules: Sequence[Path] = (), packages: Sequence[str] = ()
) -> Environment:
    """Make an environment below *place* with pytest and xdist, and with ours or without.

    *modules* are files that can be imported there as well, *packages* further distributions.
    """
    home = place / "home"
    home.mkdir(parents=True)
    venv.create(place / "venv", symlinks=True, with_pip=False)
    python = place / "venv" / "bin" / "python"
    site = _site_packages(python)
    for found in _closure((*_BASE, *packages, *([OURS] if with_ours else ()))):
        _link(_parts(found), site)
    if with_ours:
        # An editable install has the package elsewhere.
        _link([Path(pytest_plugin_eval.__file__).parent], site)
    _link(modules, site)
    return Environment(python=python, home=home)


def _site_packages(python: Path) -> Path:
    asked = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    return Path(subprocess.check_output(asked, text=True).strip())


def _closure(names: Iterable[str]) -> list[Distribution]:
    """Return the distributions of these names and all that they need, without extras."""
    found: dict[str, Distribution] = {}
    pending = list(names)
    while pending:
        name = canonicalize_name(pending.pop())
        if name in found:
            continue
        found[name] = distribution(name)
        for text in found[name].requires or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                pending.append(requirement.name)
    return list(found.values())


def _parts(found: Distribution) -> list[Path]:
    """Return what a distribution has in site-packages, its metadata included."""
    if found.files is None:
        raise PackageNotFoundError(found.metadata["Name"])
    root = Path(str(found.locate_file("")))
    tops = {file.parts[0] for file in found.files} - {"..", "__pycache__"}
    return [root / top for top in sorted(tops) if not top.endswith(".pth")]


def _link(sources: Iterable[Path], packages: Path) -> None:
    for source in sources:
        target = packages / source.name
        if not target.exists():
            target.symlink_to(source.resolve(), target_is_directory=source.is_dir())
