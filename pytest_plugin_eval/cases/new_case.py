"""Where a new case goes and what it may be called, and a template. Spec: behaviour-evals, 11."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pytest_plugin_eval.cases.discovery import RESERVED
from pytest_plugin_eval.cases.manifest import manifest_file, manifest_of, normalised_eval_dir
from pytest_plugin_eval.cases.plugin_roots import DEFAULT_EVAL_DIR, SKILL_FILE
from pytest_plugin_eval.errors import EvalError, SettingsError
from pytest_plugin_eval.text import shown

__all__ = ["TEMPLATE", "case_directory", "check_case_name", "new_case_parent"]

TEMPLATE: Mapping[str, str] = {
    "prompt.md": (
        "---\nmax_turns: 10\nallowed_tools: [Read, Glob, Grep, Skill]\n---\n\n"
        "TODO: what a user would type to have the plugin do its work.\n"
    ),
    "graders/criteria.md": (
        "---\ntype: llm\nweight: 1\n---\n\n"
        "TODO: what a good answer has, so that a reader can say yes or no.\n"
    ),
}
"""The files of a blank case, by relative path."""

LONGEST = 255
"""Characters in the name of a directory, on every file system that matters."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


def check_case_name(name: str) -> None:
    """Raise `EvalError` for a name that no case directory can have."""
    if not _NAME.fullmatch(name):
        raise EvalError(
            f"case name {shown(name)}: expected letters, digits, '.', '_' and '-', "
            "not beginning with '.' or '-'"
        )
    if len(name) > LONGEST:
        raise EvalError(f"case name {shown(name)}: is too long, expected {LONGEST} or fewer")
    if name in RESERVED:
        names = ", ".join(sorted(RESERVED))
        raise EvalError(
            f"case name {shown(name)}: a directory of that name holds no case ({names})"
        )


def new_case_parent(root: Path, eval_dir: str | None = None) -> Path:
    """Return the eval directory of the plugin or skill in *root*, which need not exist.

    *eval_dir* is relative to *root*, and allows any directory. Raises `EvalError` for a directory
    that is neither, and for an eval directory that no suite can have.
    """
    if eval_dir is not None:
        try:
            return root / normalised_eval_dir(eval_dir)
        except SettingsError as error:
            raise EvalError(f"--eval-dir: {error}") from error
    if manifest_file(str(root)) is None and not (root / SKILL_FILE).is_file():
        raise EvalError(
            f"{root} is no plugin and no skill: expected .claude-plugin/plugin.json or "
            f"{SKILL_FILE} in it; go to the plugin's directory, or name the eval directory with "
            "--eval-dir"
        )
    return root / (manifest_of(str(root)).eval_dir or DEFAULT_EVAL_DIR)


def case_directory(parent: Path, name: str) -> Path:
    """Return the directory of a case that is not there yet.

    Raises `EvalError` for a name that cannot be used and for a directory that exists, even empty.
    """
    check_case_name(name)
    directory = parent / name
    try:
        exists = directory.exists() or directory.is_symlink()
    except OSError as error:  # too long
        raise EvalError(f"{directory}: {error.strerror}") from error
    if exists:
        raise EvalError(f"{directory}: exists already, expected the name of a new case")
    return directory
