"""`plugin-eval new`: its command line, read by click."""

from __future__ import annotations

import sys

import click

from pytest_plugin_eval.errors import EvalError

__all__ = ["new"]


@click.command("new")
@click.argument("name", required=False)
@click.option("--bare", is_flag=True, help="Write a blank case and ask nothing.")
@click.option("--eval-dir", metavar="DIR", help="Eval directory below the plugin (default: evals).")
def new(name: str | None, *, bare: bool, eval_dir: str | None) -> int:
    """Write a new eval case for the plugin in the working directory.

    Nothing that exists is ever overwritten.
    """
    from pytest_plugin_eval.cli.new import new_bare

    if name is None:
        what = "--bare needs" if bare else "without a terminal to ask in, this needs"
        raise click.UsageError(f"{what} the case's name: plugin-eval new --bare NAME")
    if not bare and not sys.stdin.isatty():
        click.echo("no terminal to ask in: writing a blank case (--bare)", err=True)
    try:
        return new_bare(name, eval_dir=eval_dir)
    except EvalError as error:
        raise click.ClickException(str(error)) from error
