"""`plugin-eval new`: its command line, read by click."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from pytest_plugin_eval.authoring.limits import MOST_CASES
from pytest_plugin_eval.cli.run_options import spread_lists
from pytest_plugin_eval.cli.score_options import finite
from pytest_plugin_eval.errors import EvalError

if TYPE_CHECKING:
    from pytest_plugin_eval.cli.new_cases import NewOptions

__all__ = ["new"]

_SCRIPTED = "--about TEXT --skill NAME --yes --max-cost-usd X"
_WAYS = f"pass --bare NAME for a blank case, or {_SCRIPTED} for cases that a model proposes"


class _NewCommand(click.Command):
    """A command whose list option takes several words at once, as that of ``run`` does."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Spread the list, then parse."""
        return super().parse_args(ctx, spread_lists(args))


@click.command("new", cls=_NewCommand)
@click.argument("name", required=False)
@click.option("--bare", is_flag=True, help="Write a blank case and ask nothing.")
@click.option("--about", metavar="TEXT", help="What a good result looks like.")
@click.option("--skill", metavar="NAME", multiple=True, help="Skill that the cases are about.")
@click.option(
    "--cases",
    type=click.IntRange(1, MOST_CASES),
    default=6,
    show_default=True,
    help="How many cases are proposed.",
)
@click.option("--yes", is_flag=True, help="Ask nothing: spend up to the ceiling, keep every case.")
@click.option("--try/--no-try", "may_try", default=True, help="Run each case once an arm.")
@click.option(
    "--max-cost-usd",
    type=click.FloatRange(min=0),
    metavar="X",
    callback=finite,
    help="Ask and start nothing more once this much is spent.",
)
@click.option(
    "--model", metavar="MODEL", help="Model that proposes, and runs when cases are tried."
)
@click.option("--judge-model", metavar="MODEL", help="Model of the judge when cases are tried.")
@click.option("--allow-tools", metavar="TOOL...", multiple=True, help="Grant tools to the agent.")
@click.option("--trust-plugin", is_flag=True, help="Assert trust in the plugin's directory.")
@click.option("--eval-dir", metavar="DIR", help="Eval directory below the plugin (default: evals).")
def new(name: str | None, *, bare: bool, eval_dir: str | None, **given: object) -> int:
    """Write new eval cases for the plugin in the working directory.

    In a terminal it asks what a good result looks like, has a model propose prompts that should
    trigger a skill and prompts that should not, tries them once, and keeps what you accept: in the
    directory NAME of the eval directory, if one is given. What is asked and tried costs money; each
    is said beforehand, with its price, and done after a yes. --bare writes a blank case called
    NAME. Nothing that exists is ever overwritten.

    Exit code: 0 done, or declined at a question; 1 nothing could be written or tried, or an error;
    2 stopped by the cost ceiling; 130, 143, 129 interrupted by SIGINT, SIGTERM, SIGHUP.
    """
    from pytest_plugin_eval.cli.new import new_bare, new_proposed

    is_scripted = bool(given["about"] or given["skill"] or given["yes"])
    try:
        if bare or (name is not None and not is_scripted and not _has_person()):
            if not bare:
                click.echo("no terminal to ask in: writing a blank case (--bare)", err=True)
            return new_bare(_named(name), eval_dir=eval_dir)
        unattended = bool(given["yes"]) or not _has_person()
        if unattended:
            _check_complete(given)
        return new_proposed(_options(name, eval_dir, given), unattended=unattended)
    except EvalError as error:
        raise click.ClickException(str(error)) from error


def _named(name: str | None) -> str:
    if name is None:
        raise click.UsageError("--bare needs the case's name: plugin-eval new --bare NAME")
    return name


def _has_person() -> bool:
    """Say whether there is somebody to answer."""
    from pytest_plugin_eval.pytest_side.trust import ci_variable

    return sys.stdin.isatty() and sys.stdout.isatty() and ci_variable() is None


def _check_complete(given: dict[str, object]) -> None:
    """Refuse to go on without a person where something has not been said."""
    if not any(given[key] for key in ("about", "skill", "yes")):
        raise click.UsageError(f"there is no terminal to ask in: {_WAYS}")
    needed = {"--about TEXT": given["about"], "--skill NAME": given["skill"]}
    needed |= {"--yes": given["yes"], "--max-cost-usd X": given["max_cost_usd"] is not None}
    missing = [option for option, value in needed.items() if not value]
    if missing:
        raise click.UsageError(
            f"nobody is asked, and money is spent by a yes and a ceiling alone: {_SCRIPTED} belong "
            f"together, {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        )


def _options(name: str | None, eval_dir: str | None, given: dict[str, object]) -> NewOptions:
    from pytest_plugin_eval.cases.manifest import normalised_eval_dir
    from pytest_plugin_eval.cli import run_values
    from pytest_plugin_eval.cli.new_cases import NewOptions
    from pytest_plugin_eval.cli.run_options import RunOptions, converted

    about, skills, cases = given["about"], given["skill"], given["cases"]
    model, judge_model, ceiling_usd = given["model"], given["judge_model"], given["max_cost_usd"]
    assert isinstance(skills, tuple)
    assert isinstance(cases, int)
    return NewOptions(
        group=name,
        about=str(about) if about else None,
        skills=skills,
        cases=cases,
        may_try=bool(given["may_try"]),
        run=RunOptions(
            model=str(model) if model else None,
            judge_model=str(judge_model) if judge_model else None,
            max_cost_usd=ceiling_usd if isinstance(ceiling_usd, float) else None,
            allow_tools=run_values.tools(given["allow_tools"]),
            trust_plugin=bool(given["trust_plugin"]),
            eval_dir=converted("--eval-dir", eval_dir, normalised_eval_dir, ""),
        ),
    )
