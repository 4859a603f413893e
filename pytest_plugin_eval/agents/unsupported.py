"""What a case may ask for that a run cannot give yet."""

from __future__ import annotations

from pytest_plugin_eval.cases.case import Case
from pytest_plugin_eval.text import plural, shown

__all__ = ["scaffold_notice", "unsupported"]


def unsupported(case: Case) -> str | None:
    """Return why the case cannot be run at all, or ``None``."""
    if case.mock_servers:
        what = plural(len(case.mock_servers), "mock server")
        return f"{case.id}: {what} ({', '.join(case.mock_servers)}) cannot be played yet"
    return None


def scaffold_notice(script: str, *, is_run: bool) -> str:
    """Return what to say about a scaffold script, whether or not it is run."""
    if is_run:
        return (
            f"scaffold_script {shown(script)} is run before each run: code of the case's author, "
            "as you and outside of any sandbox"
        )
    return (
        f"warning: scaffold_script {shown(script)} is not run, the agent finds an empty workspace; "
        "where you trust its author, pass --eval-scaffold"
    )
