"""Whether files of a case load, asked of the loader before anything is written to stay."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pytest_plugin_eval.authoring.contract import Proposal
from pytest_plugin_eval.cases.discovery import EvalDirectory
from pytest_plugin_eval.cases.loader import load_case
from pytest_plugin_eval.errors import CaseError
from pytest_plugin_eval.graders.javascript import compile_errors
from pytest_plugin_eval.storage.new_files import write_new_directory

__all__ = ["load_problems"]


def load_problems(proposal: Proposal, files: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is wrong with the files of a proposal; nothing when they load.

    Patterns are compiled as they will be when a run is graded.
    """
    with tempfile.TemporaryDirectory(prefix="plugin-eval-new-") as scratch:
        root = Path(os.path.realpath(scratch))
        directory = root / "evals" / proposal.name
        write_new_directory(directory, files)
        place = EvalDirectory(path=root / "evals", root=root, cases=(directory,))
        try:
            case = load_case(directory, place, check_patterns=compile_errors)
        except CaseError as error:
            return tuple(_relative(problem, directory) for problem in error.problems)
        if case.prompt != proposal.prompt:
            return ("prompt would not be read as it is written",)
        return ()


def _relative(problem: str, directory: Path) -> str:
    return problem.replace(f"{directory}{os.sep}", "").replace(str(directory), "the case")
