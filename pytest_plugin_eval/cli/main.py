"""The `plugin-eval` command: a group of commands, each loaded when it is called."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import click

from pytest_plugin_eval import __version__
from pytest_plugin_eval.cli.streams import flush_problem, has_no_stdout, stream_problem
from pytest_plugin_eval.text import did_you_mean, shown

__all__ = ["COMMANDS", "main"]

COMMANDS = (
    *("run", "rescore", "merge", "diff", "history", "report", "new", "doctor"),
    *("score", "certify", "compare", "init", "schema"),
)
"""In the order of the help text; each is what a module ``<name>_command`` has under its name."""
_SCORING = ("score", "certify", "compare", "init")
"""They look at standard output themselves, and have an exit code of their own."""
_NO_COMMAND = 2


class _Commands(click.Group):
    """Finds the commands, and imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """Return the commands in the order of the help text."""
        return list(COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 -- click's signature
        cmd_name: str,
    ) -> click.Command | None:
        """Return a command by name."""
        if cmd_name in COMMANDS:
            # By name, so that each costs its own imports alone: `run` imports pytest.
            module = import_module(f"pytest_plugin_eval.cli.{cmd_name}_command")
            command: click.Command = getattr(module, cmd_name)
            return command
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name, or say which ones there are."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            known = self.list_commands(ctx)
            hint = did_you_mean(args[0], known) or f", expected one of {', '.join(known)}"
            raise click.UsageError(f"{shown(args[0])} is not a command{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="plugin-eval")
def _group() -> None:
    """Measure whether a Claude Code plugin does any good."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    A bad option is 1 where the reference has it so; the commands of the quality score and a missing
    or unknown command are 2 (spec: quality-score, 13).
    """
    given = sys.argv[1:] if arguments is None else arguments
    # Python has no stream where the shell closed it, and every command would look as if done.
    if has_no_stdout() and not set(given[:1]) & set(_SCORING):
        return _failed("stdout is closed, expected somewhere to write to")
    try:
        code = _group.main(args=list(given), prog_name="plugin-eval", standalone_mode=False)
    except click.ClickException as error:
        error.show(sys.stderr)
        context = error.ctx if isinstance(error, click.UsageError) else None
        return _NO_COMMAND if context is not None and context.parent is None else 1
    except (click.Abort, KeyboardInterrupt):
        return 130
    except OSError as error:
        problem = stream_problem(error) or _directory_problem()
        if problem is None:
            raise
        return _failed(problem)
    unwritten = flush_problem()
    if unwritten is not None:
        return _failed(unwritten)
    return code if isinstance(code, int) else 0


def _directory_problem() -> str | None:
    try:
        Path.cwd()
    except OSError as error:
        return f"the working directory cannot be used: {error.strerror}, expected one that exists"
    return None


def _failed(problem: str) -> int:
    click.echo(f"Error: {problem}", err=True)
    return 1
