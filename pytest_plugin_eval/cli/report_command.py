"""`plugin-eval report`: its command line, read by click."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_plugin_eval.errors import EvalError

__all__ = ["report"]


@click.command("report")
@click.argument("results")
@click.option("-o", "--output", metavar="PATH", help="The page (default: RESULTS/report.html).")
@click.option(
    "--markdown", is_flag=True, help="Print Markdown for a pull request; no page without -o."
)
def report(results: str, output: str | None, *, markdown: bool) -> int:
    """Render the page and the table of saved results again.

    RESULTS is a results directory or a document (aggregate-result.json), also one of
    claude plugin eval, which keeps no transcripts. Nothing is run or graded: plugin-eval rescore
    does that.

    Exit code: 0 written, whatever the results say; 1 there is nothing to render, or an error.
    """
    from pytest_plugin_eval.cli.report import report as run_report

    try:
        return run_report(Path(results), output=Path(output) if output else None, markdown=markdown)
    except EvalError as error:
        raise click.ClickException(str(error)) from error
