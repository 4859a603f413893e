"""Suites written into a test's directory, and what loading them gives."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pytest_plugin_eval.cases import discovery
from pytest_plugin_eval.cases.case import Case
from pytest_plugin_eval.cases.discovery import eval_directory_of
from pytest_plugin_eval.cases.loader import load_case
from pytest_plugin_eval.errors import CaseError
from pytest_plugin_eval.graders.javascript import compile_errors

MANIFEST = {".claude-plugin/plugin.json": '{"name": "demo", "version": "1.0.0"}'}
GRADER = "---\ntype: regex\npattern: x\n---\n"
ONE_GRADER = {"graders/a.md": GRADER}


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a directory, forget what discovery knows, and return the directory."""
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    discovery.forget()
    return root


def load(directory: Path) -> Case:
    """Return the case in a directory, its patterns checked by the engine."""
    place = eval_directory_of(directory)
    assert place is not None, f"no eval directory around {directory}"
    return load_case(directory, place, check_patterns=compile_errors)


def case_of(root: Path, files: Mapping[str, str | bytes]) -> Case:
    """Write one case, `evals/it`, of a plugin, and load it."""
    write_tree(root, {**MANIFEST, **{f"evals/it/{name}": text for name, text in files.items()}})
    return load(root / "evals" / "it")


def problems_of(root: Path, files: Mapping[str, str | bytes]) -> list[str]:
    """Write one case and return what is wrong with it, by paths relative to the case."""
    try:
        case_of(root, files)
    except CaseError as error:
        return [_short(problem, root) for problem in error.problems]
    return []


def warnings_of(root: Path, files: Mapping[str, str | bytes]) -> list[str]:
    """Write one case and return what is doubtful about it, by paths relative to the case."""
    return [_short(warning, root) for warning in case_of(root, files).warnings]


def _short(text: str, root: Path) -> str:
    case = str(root / "evals" / "it")
    return text.replace(case + os.sep, "").replace(case, ".")
