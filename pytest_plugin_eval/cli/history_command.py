"""`plugin-eval history`: its command line, read by click."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_plugin_eval.errors import EvalError

__all__ = ["history"]


@click.command("history")
@click.argument("directory")
@click.option(
    "--html", metavar="PATH", help="Write the page here (default: DIRECTORY/history.html)."
)
@click.option("--no-html", is_flag=True, help="Write no page.")
@click.option("--replays", is_flag=True, help="Count replays and rescored results as well.")
def history(directory: str, *, html: str | None, no_html: bool, replays: bool) -> int:
    """Show how the cases did over many results.

    DIRECTORY holds results directories, at any depth, such as evals/results. Sessions that were
    stopped before their end and runs that were not measured are left out and counted. The table
    goes to the terminal, and a page with a small line for each case to a file.

    Exit code: 0 shown; 1 there is nothing to show, or an error.
    """
    from pytest_plugin_eval.cli.history import history as run_history

    if html is not None and no_html:
        raise click.UsageError("--html and --no-html exclude each other")
    page = None if no_html else Path(html) if html else Path(directory) / "history.html"
    try:
        return run_history(Path(directory), page=page, with_replays=replays)
    except EvalError as error:
        raise click.ClickException(str(error)) from error
