"""A case directory turned into a `Case`, or into everything that is wrong with it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_plugin_eval.cases.case import Case, Plugin
from pytest_plugin_eval.cases.case_paths import (
    add_dir_problem,
    path_problem,
    plugin_path_problem,
    within,
)
from pytest_plugin_eval.cases.definition import Definition, define
from pytest_plugin_eval.cases.discovery import EvalDirectory
from pytest_plugin_eval.cases.documents import MOCKS, directories_in, read_case_files
from pytest_plugin_eval.cases.grader_specs import PatternCheck, load_graders
from pytest_plugin_eval.cases.history import check_history
from pytest_plugin_eval.cases.manifest import manifest_of
from pytest_plugin_eval.cases.plugin_roots import manifest_root, outermost_manifest_root, skill_root
from pytest_plugin_eval.cases.problems import Report, value_shown
from pytest_plugin_eval.errors import CaseError

if TYPE_CHECKING:
    from pytest_plugin_eval.cases.mock import MockServer
    from pytest_plugin_eval.cases.model import GraderSpec

__all__ = ["load_case"]


def load_case(
    directory: Path,
    place: EvalDirectory,
    *,
    check_patterns: PatternCheck | None = None,
    scaffold: bool = False,
    with_mocks: bool = True,
) -> Case:
    """Return the case in a directory, or raise `CaseError` with all of its problems.

    *check_patterns* compiles patterns in JavaScript; it is called at most once a case.
    *scaffold* says that the case's script is to be run, so that it must be there; without
    *with_mocks* the mocks of the case are not looked at (``--eval-mocks off``).
    """
    report = Report()
    case_dir, eval_dir = str(directory), str(place.path)
    target = _outside(case_dir, eval_dir)
    if target:
        report.error(
            case_dir,
            f"is a link to {target!r}, outside the eval directory; put a copy in its place",
        )
        raise CaseError(tuple(report.errors))
    files = read_case_files(case_dir, eval_dir, report)
    definition = define(files, case_dir, report)
    graders = load_graders(files, case_dir, report, check_patterns)
    _check_paths(definition, case_dir, eval_dir, report, scaffold=scaffold)
    plugins = _plugins(definition, case_dir, place, report)
    mocks = _mocks(case_dir, eval_dir, plugins, check_patterns, report) if with_mocks else ()
    if report.errors:
        # What is doubtful about a broken case is often the same mistake from the other side.
        raise CaseError((*report.errors, *report.warnings))
    return _case(
        definition,
        directory,
        place,
        graders=graders,
        plugins=plugins,
        mocks=mocks,
        mock_servers=_merged(directories_in(os.path.join(eval_dir, MOCKS)), files.mock_servers),
        warnings=tuple(report.warnings),
    )


def _case(
    definition: Definition,
    directory: Path,
    place: EvalDirectory,
    *,
    graders: tuple[GraderSpec, ...],
    plugins: tuple[Plugin, ...],
    mocks: tuple[MockServer, ...],
    mock_servers: tuple[str, ...],
    warnings: tuple[str, ...],
) -> Case:
    return Case(
        id=os.path.relpath(directory, place.root).replace(os.sep, "/"),
        directory=directory,
        eval_dir=place.path,
        root=place.root,
        name=definition.text("name") or "",
        source=definition.source,
        prompt=definition.prompt,
        graders=graders,
        plugins=plugins,
        description=definition.text("description") or "",
        expected_outcome=definition.text("expected_outcome") or "",
        tags=definition.texts("tags"),
        runs=definition.number("runs"),
        model=definition.text("model"),
        max_turns=definition.number("max_turns") or 10,
        timeout_s=definition.number("timeout_seconds") or 300,
        allowed_tools=definition.texts("allowed_tools"),
        disallowed_tools=definition.texts("disallowed_tools"),
        append_system_prompt=definition.text("append_system_prompt"),
        env=definition.env(),
        scaffold_script=definition.text("scaffold_script") or None,
        history_file=definition.text("history_file") or None,
        add_dirs=definition.texts("add_dirs"),
        mock_servers=mock_servers,
        mocks=mocks,
        warnings=warnings,
    )


def _mocks(
    directory: str,
    eval_dir: str,
    plugins: tuple[Plugin, ...],
    check_patterns: PatternCheck | None,
    report: Report,
) -> tuple[MockServer, ...]:
    if not (os.path.isdir(f"{eval_dir}/{MOCKS}") or os.path.isdir(f"{directory}/{MOCKS}")):
        return ()
    from pytest_plugin_eval.cases.mock_files import load_mocks

    try:
        mocks = load_mocks(
            Path(directory), Path(eval_dir), plugins=plugins, check_patterns=check_patterns
        )
    except CaseError as error:
        report.errors.extend(error.problems)
        return ()
    report.warnings.extend(mocks.warnings)
    return mocks.servers


def _outside(directory: str, eval_dir: str) -> str | None:
    """Return where a case really is when a link on the way to it leaves the eval directory."""
    place = directory
    while place != eval_dir and not os.path.islink(place):
        place = os.path.dirname(place)
        if len(place) < len(eval_dir):
            break
    if place == eval_dir:
        return None
    target = os.path.realpath(directory)
    return None if within(target, os.path.realpath(eval_dir)) else target


def _merged(suite: Iterable[str], own: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({*suite, *own}))


def _check_paths(
    definition: Definition, directory: str, eval_dir: str, report: Report, *, scaffold: bool
) -> None:
    # A scaffold script that is missing matters only where it is to be run.
    for key, is_needed in (("scaffold_script", scaffold), ("history_file", True)):
        entry = definition.text(key)
        if not entry:  # as good as none, as in the reference
            continue
        problem = path_problem(directory, entry, "file", must_exist=is_needed, border=eval_dir)
        _report_path(definition, key, (), entry, problem, report)
        if key == "history_file" and not problem:
            _check_history(definition, directory, entry, report)
    for index, entry in enumerate(definition.texts("add_dirs")):
        problem = add_dir_problem(directory, entry)
        _report_path(definition, "add_dirs", (index,), entry, problem, report)


def _check_history(definition: Definition, directory: str, entry: str, report: Report) -> None:
    path = os.path.join(directory, entry)
    problem, warnings = check_history(Path(path))
    _report_path(definition, "history_file", (), entry, problem, report)
    for line, text in warnings:
        report.warning(f"{os.path.normpath(path)}:{line}", f"history_file: {text}")


def _report_path(
    definition: Definition,
    key: str,
    rest: tuple[int, ...],
    entry: str,
    problem: str | None,
    report: Report,
) -> None:
    if problem:
        document, path = definition.origins[key]
        report.error(document, f"{key}: {value_shown(entry)} {problem}", (*path, *rest))


def _plugins(
    definition: Definition, directory: str, place: EvalDirectory, report: Report
) -> tuple[Plugin, ...]:
    entries = definition.texts("plugins")
    if not entries:
        root = _enclosing_plugin(directory, place)
        return (manifest_of(root).plugin,) if root else ()
    top = outermost_manifest_root(str(place.root)) or str(place.root)
    roots: dict[str, None] = {}
    for index, entry in enumerate(entries):
        problem = plugin_path_problem(directory, entry, top)
        _report_path(definition, "plugins", (index,), entry, problem, report)
        if not problem:
            roots[os.path.realpath(os.path.join(directory, entry))] = None
    return tuple(manifest_of(root).plugin for root in roots)


def _enclosing_plugin(directory: str, place: EvalDirectory) -> str | None:
    """Return the plugin of a case that names none; nothing above the suite's root counts."""
    top = str(place.root)
    for root in (manifest_root(os.path.dirname(directory)), skill_root(str(place.path.parent))):
        if root and within(root, top):
            return root
    return None
