"""What a case may ask for that a run cannot give yet."""

from __future__ import annotations

from pytest_plugin_eval.cases.case import Case
from pytest_plugin_eval.text import plural, shown

__all__ = ["scaffold_warning", "unsupported"]


def unsupported(case: Case, *, scaffold: bool = False) -> str | None:
    """Return why the case cannot be run at all, or ``None``."""
    if case.mock_servers:
        what = plural(len(case.mock_servers), "mock server")
        return f"{case.id}: {what} ({', '.join(case.mock_servers)}) cannot be played yet"
    if case.history_file is not None:
        return f"{case.id}: history_file {shown(case.history_file)} cannot be resumed yet"
    if case.add_dirs:
        return f"{case.id}: add_dirs {shown(list(case.add_dirs))} cannot be opened to the agent yet"
    if scaffold and case.scaffold_script is not None:
        return f"{case.id}: scaffold_script {shown(case.scaffold_script)} cannot be run yet"
    return None


def scaffold_warning(case: Case) -> str | None:
    """Return what to say about a scaffold script that is not run, or ``None`` without one."""
    if case.scaffold_script is None:
        return None
    return (
        f"{case.id}: scaffold_script {shown(case.scaffold_script)} is not run,"
        " the agent finds an empty workspace"
    )
