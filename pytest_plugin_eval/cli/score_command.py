"""`plugin-eval score`: its command line, read by click."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

import click

from pytest_plugin_eval.cli.score_options import (
    DEFAULT_CORPUS,
    ScoreCommand,
    asking_options,
    depth_option,
    finite,
    output_option,
    own_path,
)
from pytest_plugin_eval.settings import Depth

if TYPE_CHECKING:
    from pytest_plugin_eval.cli.score_session import Models
    from pytest_plugin_eval.quality.score import ScoreOptions

__all__ = ["models_of", "options_of", "run_score", "score", "scoring_options"]

C = TypeVar("C", bound=Callable[..., object])


def scoring_options(command: C) -> C:
    """Add the argument and the options that ``score`` and ``certify`` share."""
    for option in reversed(_SCORING):
        command = option(command)
    return command


def run_score(
    paths: tuple[str, ...],
    depth: Depth,
    given: Mapping[str, object],
    *,
    replies: str | None = None,
) -> int:
    """Score the targets by the options that were given, and return the exit code.

    *replies*: a file with the replies of a judge.
    """
    from dataclasses import replace

    from pytest_plugin_eval.cli.score import ScoreRequest, Wanted
    from pytest_plugin_eval.cli.score import score as score_all
    from pytest_plugin_eval.cli.score_output import Output

    output, corpus, threshold = given["output"], given["corpus"], given["threshold"]
    explain = given["explain"]
    options = options_of(depth, given)
    if replies is not None:
        from pytest_plugin_eval.cli.judge_replies import replies_in

        options = replace(options, replies=replies_in(replies, paths[0]))
    return score_all(
        ScoreRequest(
            paths=paths,
            options=options,
            models=models_of(given),
            wanted=Wanted(
                output=Output(str(output)) if output is not None else None,
                verbose=bool(given["verbose"]),
                explain=None if explain is None else bool(explain),
                threshold=threshold if isinstance(threshold, float) else None,
                corpus=own_path(str(corpus)) if corpus is not None else None,
            ),
        )
    )


def options_of(depth: Depth, given: Mapping[str, object]) -> ScoreOptions:
    """Return how to score; findings are left to whoever prints them."""
    from pytest_plugin_eval.quality.score import ScoreOptions

    chars = given["judge_chars"]
    assert isinstance(given["concurrency"], int)
    assert isinstance(given["judges"], int)
    return ScoreOptions(
        depth=depth,
        concurrency=given["concurrency"],
        judges=given["judges"],
        judge_chars=chars if isinstance(chars, int) else None,
    )


def models_of(given: Mapping[str, object]) -> Models:
    """Return who is to be asked."""
    from pytest_plugin_eval.cli.score_session import Models

    ceiling_usd = given["max_cost_usd"]
    return Models(
        model=str(given["model"]) if given["model"] else None,
        judge_model=str(given["judge_model"]) if given["judge_model"] else None,
        max_cost_usd=ceiling_usd if isinstance(ceiling_usd, float) else None,
    )


_SCORING: tuple[Callable[[Callable[..., object]], Callable[..., object]], ...] = (
    click.argument("paths", nargs=-1, required=True, metavar="PATH..."),
    output_option,
    click.option("-v", "--verbose", is_flag=True, help="Say more of each layer on stderr."),
    click.option(
        "--threshold",
        type=float,
        metavar="X",
        callback=finite,
        help="Exit with 1 when a composite is below, 0 to 100.",
    ),
    click.option(
        "--explain/--no-explain",
        default=None,
        help="List what costs points, where, and what to do (default: in html alone).",
    ),
    click.option(
        "--corpus",
        is_flag=False,
        flag_value=DEFAULT_CORPUS,
        metavar="[DIR|FILE]",
        help="Say where each skill stands in a corpus (default: what `init` wrote).",
    ),
    asking_options,
)


@click.command("score", cls=ScoreCommand)
@scoring_options
@depth_option(Depth.STANDARD)
@click.option(
    "--judge-replies",
    metavar="FILE",
    help="Take the judge's four replies from a JSON file (- is stdin) instead of asking a model.",
)
def score(paths: tuple[str, ...], depth: str, **given: object) -> int:
    """Score skills and plugins, 0 to 100, and say what costs points.

    PATH is a skill's directory, its SKILL.md, or a plugin's directory; several are scored one after
    another. At depth quick nothing is asked and nothing is spent. Above, a line says first how many
    calls are made and about what they cost; without a model to ask the static layer is reported.
    Put paths before --corpus, which would take one for its own.

    Exit code: 0 done; 1 a composite is below --threshold; 2 a path cannot be scored, or bad usage;
    130, 143, 129 interrupted by SIGINT, SIGTERM, SIGHUP.
    """
    replies = given.pop("judge_replies")
    if replies is not None:
        _check_one_judged(paths, depth)
    return run_score(paths, Depth(depth), given, replies=None if replies is None else str(replies))


def _check_one_judged(paths: tuple[str, ...], depth: str) -> None:
    """Refuse what the replies of a judge cannot be about."""
    if len(paths) > 1:
        raise click.UsageError(f"--judge-replies is about one skill, got {len(paths)} paths")
    if depth != Depth.STANDARD:
        raise click.UsageError(f"--judge-replies goes with --depth standard, got {depth!r}")
