"""The skills of a plugin: their names, read once a plugin."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pytest_plugin_eval.cases.case import Plugin
from pytest_plugin_eval.cases.plugin_roots import SKILL_FILE

__all__ = ["Skill", "declared_skills"]

SKILLS = "skills"
# What is read of a SKILL.md; its frontmatter stands at the top.
_HEAD_BYTES = 8192
_FRONTMATTER = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"""^name:[ \t]*["']?([^\s"'#]+)["']?[ \t]*(?:#.*)?$""", re.MULTILINE)
_USER_ONLY = re.compile(r"^disable-model-invocation:[ \t]*[\"']?true\b", re.MULTILINE)


class Skill(NamedTuple):
    """A skill as far as hints need it."""

    plugin: str
    name: str
    user_only: bool = False
    """The model cannot choose it: somebody has to name it."""


def declared_skills(plugins: Iterable[Plugin]) -> tuple[Skill, ...]:
    """Return the skills of several plugins, each under its directory's name and its own."""
    return tuple(
        Skill(plugin.name, name, user_only)
        for plugin in plugins
        for name, user_only in _skills(str(plugin.path))
    )


@cache
def _skills(root: str) -> tuple[tuple[str, bool], ...]:
    found: dict[str, bool] = {}
    directory = os.path.join(root, SKILLS)
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        names = []
    for folder in (root, *(os.path.join(directory, name) for name in names)):
        head = _head(os.path.join(folder, SKILL_FILE))
        if head is None:
            continue
        front = found_front[1] if (found_front := _FRONTMATTER.match(head)) else ""
        own = _NAME.search(front)
        for name in (os.path.basename(folder), *([own[1]] if own else [])):
            found.setdefault(name, bool(_USER_ONLY.search(front)))
    return tuple(found.items())


def _head(file: str) -> str | None:
    try:
        with Path(file).open("rb") as stream:
            return stream.read(_HEAD_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
