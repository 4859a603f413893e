"""`plugin-eval merge`: its command line, read by click."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_plugin_eval.cli.run_options import check_json_path
from pytest_plugin_eval.errors import EvalError

__all__ = ["merge"]


@click.command("merge")
@click.argument("results", nargs=-1, required=True)
@click.option("--output-dir", metavar="DIR", help="Where the merged results go, a new directory.")
@click.option("--json", metavar="PATH", help="Write the document to this .json file as well.")
def merge(results: tuple[str, ...], output_dir: str | None, json: str | None) -> int:
    """Join the results of one suite from several machines into one.

    RESULTS are results directories, such as those of the shards of a CI matrix. They may hold
    different cases or different runs. A run that is in two of them must be the same in both;
    results of another plugin, model, judge, suite or other options are refused, listing what
    differs. The document, the page and the records go to a new directory beside the first.

    Exit code: that of one session with all these runs: 0 every case passed; 1 one did not, or runs
    or shards are missing, or an error; 2 the sessions were stopped before all runs were made.
    """
    from pytest_plugin_eval.cli.merge import merge as run_merge

    check_json_path(json)
    try:
        return run_merge(
            [Path(one) for one in results],
            output=Path(output_dir) if output_dir else None,
            json=Path(json) if json else None,
        )
    except EvalError as error:
        raise click.ClickException(str(error)) from error
