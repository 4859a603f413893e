"""Command-line arguments that mean cases: directory ids, files of a case, and the spend rule."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_plugin_eval.cases.discovery import case_directory_of, eval_directory_of
from pytest_plugin_eval.settings import Settings

__all__ = ["Picked", "rewrite_arguments"]


@dataclass(slots=True, eq=False, repr=False)
class Picked:
    """What the arguments said of cases."""

    named: list[Path] = field(default_factory=list)
    """Resolved paths given as arguments; ini `testpaths` do not count (decisions, 21)."""
    inside: list[Path] = field(default_factory=list)
    """Those of them that are an eval directory or lie in one."""
    names: dict[Path, set[str]] = field(default_factory=dict)
    """By case directory: the item names asked for; a case without an entry is wanted whole."""
    shown: dict[Path, str] = field(default_factory=dict)
    """By case directory: the path as the user typed it."""

    def is_named(self, case: Path, eval_dir: Path) -> bool:
        """Whether an argument names the eval directory or something in it that holds the case.

        An eval directory around that one names it as well.
        """
        return any(
            case.is_relative_to(path) and (path.is_relative_to(eval_dir) or path in self.inside)
            for path in self.named
        )


def rewrite_arguments(config: pytest.Config, settings: Settings) -> Picked:
    """Replace ids and files of cases in ``config.args`` by the case's directory, and remember them.

    pytest 9.2 refuses a directory with ``::`` ("directory argument cannot contain ::").
    """
    picked = Picked()
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        return picked
    whole: set[Path] = set()
    kept: list[str] = []
    for argument in config.args:
        base, separator, name = argument.partition("::")
        path = Path(config.invocation_params.dir, base)
        case = _case(path, settings)
        if case is None:
            kept.append(argument)
            if path.exists():
                picked.named.append(path.resolve())
                if eval_directory_of(path, eval_dir=settings.eval_dir, root=settings.root):
                    picked.inside.append(path.resolve())
            continue
        picked.named.append(case.resolve())
        picked.shown[case] = base
        if separator:
            picked.names.setdefault(case, set()).add(name)
        else:
            whole.add(case)
        word = _word(case, config.invocation_params.dir)
        if word not in kept:
            kept.append(word)
    for case in whole:
        picked.names.pop(case, None)
    config.args[:] = kept
    return picked


def _word(case: Path, invocation_dir: Path) -> str:
    """Return the directory as an argument: pytest 9.2 reads ``[`` as the start of parameters."""
    return os.path.relpath(case, invocation_dir) if "[" in str(case) else str(case)


def _case(path: Path, settings: Settings) -> Path | None:
    if not path.exists():
        return None
    directory = path if path.is_dir() else path.parent
    return case_directory_of(directory, eval_dir=settings.eval_dir, root=settings.root)
