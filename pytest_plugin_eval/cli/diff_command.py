"""`plugin-eval diff`: its command line, read by click."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_plugin_eval.cli.run_options import check_json_path
from pytest_plugin_eval.errors import EvalError

__all__ = ["diff"]


@click.command("diff")
@click.argument("old")
@click.argument("new")
@click.option("--markdown", is_flag=True, help="Print Markdown, for a pull request's comment.")
@click.option("--json", metavar="PATH", help="Write the comparison to this .json file as well.")
@click.option("--across-suites", is_flag=True, help="Compare although the suites are different.")
def diff(old: str, new: str, *, markdown: bool, json: str | None, across_suites: bool) -> int:
    """Show what moved between two results, case by case and grader by grader, and what moved it.

    OLD and NEW are results directories or documents (aggregate-result.json), also those of
    claude plugin eval. W/OUT knows nothing of the plugin: if it moved, the model or the environment
    did; if WITH alone moved, the plugin did, or the plugin with this model. A case whose prompt,
    graders or judge changed is not comparable. What else differs between the two is said first.

    Exit code: 0 compared, whatever moved; 1 they cannot be compared, or an error.
    """
    from pytest_plugin_eval.cli.diff import diff as run_diff

    check_json_path(json)
    try:
        return run_diff(
            Path(old),
            Path(new),
            markdown=markdown,
            json=Path(json) if json else None,
            across_suites=across_suites,
        )
    except EvalError as error:
        raise click.ClickException(str(error)) from error
