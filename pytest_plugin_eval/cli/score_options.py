"""The options that the commands of the quality score share, and how they end."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import click

from pytest_plugin_eval.errors import EvalError, QualityError
from pytest_plugin_eval.settings import Depth
from pytest_plugin_eval.text import one_line, shown

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "DEFAULT_CORPUS",
    "ScoreCommand",
    "asking_options",
    "depth_option",
    "finite",
    "output_option",
    "own_path",
]

DEFAULT_CORPUS = "~/.plugineval/corpus"
USAGE = 2
ALL = "all"
MOST_DIGITS = 18
"""Of a number of characters; Python refuses to read those of thousands."""

C = TypeVar("C", bound=Callable[..., object])


class ScoreCommand(click.Command):
    """A command that exits with 2 for bad usage and for what cannot be scored. Spec: 13."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: object,
    ) -> click.Context:
        """Read the arguments."""
        with _refusals():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        with _refusals():
            return super().invoke(ctx)


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except click.ClickException as error:
        error.show(sys.stderr)
        raise click.exceptions.Exit(USAGE) from error
    except EvalError as error:
        click.echo(f"Error: {error}", err=True)
        raise click.exceptions.Exit(USAGE) from error


def depth_option(default: Depth) -> Callable[[C], C]:
    """Return the option ``--depth``."""
    return click.option(
        "--depth",
        type=click.Choice([depth.value for depth in Depth]),
        default=default.value,
        show_default=True,
        help="Which layers run: the static one; and a judge; and 50 runs; and 100.",
    )


def output_option(command: C) -> C:
    """Add the option ``--output``."""
    return click.option(
        "--output",
        type=click.Choice(["json", "markdown", "html", "table"]),
        help="Format of the report (default: markdown; table on a terminal).",
    )(command)


def asking_options(command: C) -> C:
    """Add the options of depths at which a model is asked."""
    for option in reversed(_ASKING):
        command = option(command)
    return command


def _characters(ctx: click.Context, param: click.Parameter, value: str) -> int | None:  # noqa: ARG001 -- click's
    if value == ALL:
        return None
    is_number = value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS
    if not is_number or int(value) < 1:
        raise click.BadParameter(f"expected a whole number above 0, or {ALL}, got {shown(value)}")
    return int(value)


def own_path(text: str) -> Path:
    """Return a path in which ``~`` is a home directory; raises `QualityError` for nobody's."""
    from pathlib import Path

    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise QualityError(f"{one_line(text)}: no such home directory, expected a path") from error


def finite(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:  # noqa: ARG001 -- click's
    """Refuse what is a number for Python alone."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"expected a number, got {shown(value)}")
    return value


_ASKING: Sequence[Callable[[Callable[..., object]], Callable[..., object]]] = (
    click.option(
        "--concurrency",
        type=click.IntRange(1, 20),
        default=4,
        show_default=True,
        help="Calls of a model at once.",
    ),
    click.option(
        "--judges",
        type=click.IntRange(1, 5),
        default=1,
        show_default=True,
        help="How often each question of the judge layer is asked; the mean counts.",
    ),
    click.option(
        "--judge-chars",
        metavar="N",
        default="3000",
        show_default=True,
        callback=_characters,
        help="How many characters of SKILL.md a judge is shown, or all.",
    ),
    click.option(
        "--max-cost-usd",
        type=click.FloatRange(min=0),
        metavar="X",
        callback=finite,
        help="Ask nothing more once this much is spent.",
    ),
    click.option("--model", metavar="MODEL", help="Model of the runs (default: the agent's)."),
    click.option("--judge-model", metavar="MODEL", help="Model of the judge and of the prompts."),
)
