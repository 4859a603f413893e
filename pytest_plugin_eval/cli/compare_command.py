"""`plugin-eval compare`: its command line, read by click."""

from __future__ import annotations

import click

from pytest_plugin_eval.cli.score_options import (
    ScoreCommand,
    asking_options,
    depth_option,
    output_option,
)
from pytest_plugin_eval.settings import Depth

__all__ = ["compare"]


@click.command("compare", cls=ScoreCommand)
@click.argument("a")
@click.argument("b")
@depth_option(Depth.QUICK)
@output_option
@asking_options
def compare(a: str, b: str, depth: str, **given: object) -> int:
    """Compare the skills A and B: their scores side by side, and the findings gained and lost.

    Two versions of one skill, or two skills. The difference is that of B to A.

    Exit code: 0 done, whichever wins; 2 one is no skill that can be scored, or bad usage.
    """
    from pytest_plugin_eval.cli.compare import compare as compare_both
    from pytest_plugin_eval.cli.score_command import models_of, options_of
    from pytest_plugin_eval.cli.score_output import Output

    output = given["output"]
    return compare_both(
        a,
        b,
        options=options_of(Depth(depth), given),
        models=models_of(given),
        output=Output(str(output)) if output is not None else None,
    )
