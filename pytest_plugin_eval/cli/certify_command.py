"""`plugin-eval certify`: its command line, read by click."""

from __future__ import annotations

import click

from pytest_plugin_eval.cli.score_command import run_score, scoring_options
from pytest_plugin_eval.cli.score_options import ScoreCommand
from pytest_plugin_eval.settings import Depth

__all__ = ["certify"]


@click.command("certify", cls=ScoreCommand)
@scoring_options
def certify(paths: tuple[str, ...], **given: object) -> int:
    """Score skills at depth deep: the static layer, a judge, and 50 runs of a model.

    Nothing is written but what is printed. Options, output and exit codes are those of `score`.
    """
    return run_score(paths, Depth.DEEP, given)
