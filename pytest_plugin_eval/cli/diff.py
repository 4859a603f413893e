"""`plugin-eval diff`: two results, compared."""

from __future__ import annotations

from pathlib import Path

from pytest_plugin_eval.cli.diff_lines import json_text, markdown_lines, text_lines
from pytest_plugin_eval.cli.output import is_ascii, say, say_all, terminal_width, write_out
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.results.difference import Difference, difference
from pytest_plugin_eval.results.finding import found_document
from pytest_plugin_eval.results.rebuilt import rebuilt_suite

__all__ = ["diff"]


def diff(
    old: Path,
    new: Path,
    *,
    markdown: bool = False,
    json: Path | None = None,
    across_suites: bool = False,
) -> int:
    """Print what moved between two results and return the exit code.

    Raises `EvalError` for what is no result, and for results of different suites.
    """
    found = difference(*(rebuilt_suite(found_document(path)[0]) for path in (old, new)))
    if not across_suites:
        _check_suites(found, old, new)
    if json is not None:
        write_out(json, [json_text(found)])
    if markdown:
        say_all(markdown_lines(found))
    else:
        say_all(text_lines(found, width=terminal_width(), ascii_only=is_ascii()))
    if json is not None:
        say(f"Wrote {json}", err=True)
    return 0


def _check_suites(found: Difference, old: Path, new: Path) -> None:
    """Raise `EvalError` when the two have nothing that could be compared."""
    names = [
        {str(one.get("name")) for one in suite.info.plugins} for suite in (found.old, found.new)
    ]
    if not found.cases:
        why = "no case is in both"
    elif all(names) and names[0].isdisjoint(names[1]):
        why = f"plugin {', '.join(sorted(names[0]))} and plugin {', '.join(sorted(names[1]))}"
    else:
        return
    raise EvalError(
        f"{old} and {new} are results of different suites ({why}); "
        "--across-suites compares them all the same"
    )
