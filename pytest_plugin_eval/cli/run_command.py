"""`plugin-eval run`: the command line of `claude plugin eval`, read by click."""

from __future__ import annotations

import click

from pytest_plugin_eval.cli.run import run_evals
from pytest_plugin_eval.cli.run_options import STDOUT, checked, spread_lists
from pytest_plugin_eval.text import shown

__all__ = ["run"]


class _RunCommand(click.Command):
    """A command whose list options take several words at once."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Spread the lists, then parse."""
        return super().parse_args(ctx, spread_lists(args))


@click.command("run", cls=_RunCommand)
@click.argument("target", nargs=-1)
@click.option("--runs", metavar="N", help="Runs per case and arm (default: the case's, else 3).")
@click.option("--ablation", metavar="MODE", help="none or with-without (default with a plugin).")
@click.option("--threshold", metavar="X", help="Score that every case must reach (default: 1).")
@click.option("--model", metavar="MODEL", help="Model of the agent, for all cases.")
@click.option("--judge-model", metavar="MODEL", help="Model of the judge.")
@click.option("--max-cost-usd", metavar="X", help="Start nothing more once this much is spent.")
@click.option("-j", "--concurrency", metavar="N", help="Agent runs at once, 1 to 8 (default: 1).")
@click.option("--case", metavar="GLOB", help="Only cases whose name matches.")
@click.option("--tag", metavar="TAG...", multiple=True, help="Only cases with one of these tags.")
@click.option("--allow-tools", metavar="TOOL...", multiple=True, help="Grant tools to the agent.")
@click.option("--disallow-tools", metavar="TOOL...", multiple=True, help="Take tools from it.")
@click.option("--eval-dir", metavar="DIR", help="Eval directory below the plugin (default: evals).")
@click.option(
    "--json",
    metavar="[PATH]",
    is_flag=False,
    flag_value=STDOUT,
    help="Print the result document, or write it to this .json file.",
)
@click.option("--output-dir", metavar="DIR", help="Where the results go.")
@click.option("--keep-temp", is_flag=True, help="Keep each run's directory.")
@click.option("--trust-plugin", is_flag=True, help="Assert trust in the plugin's directory.")
@click.option("--verbose", is_flag=True, help="A line for each run.")
@click.option("--mocks", metavar="MODE", help="Stand-ins for MCP servers: record or off.")
@click.option("--allow-real-servers", is_flag=True, help="Start unmocked MCP servers, as you.")
@click.option("--scaffold/--no-scaffold", help="Run the cases' scaffold_script, as you.")
@click.option("--report", metavar="PATH", help="Write report.html here, not to the results.")
@click.option("--no-publish", is_flag=True, help="Accepted: nothing is ever published.")
@click.option("--publish-report", is_flag=True, hidden=True)
def run(target: tuple[str, ...], **given: object) -> int:
    """Run the eval cases of a plugin and report scores with and without it.

    TARGET is a plugin's directory, something inside it, or a case's file (default: the current
    directory). Options are those of `claude plugin eval`. No pytest configuration is read: not
    pytest.ini, conftest.py or PYTEST_ADDOPTS; for those use `pytest` itself.

    A run that the infrastructure spoilt is made once more, after a pause; `pytest` has an option
    for another number, --eval-retries.

    Exit code: 0 every case reached the threshold; 1 one did not, or an error; 2 stopped by the cost
    ceiling or a refused credential; 130, 143, 129 interrupted by SIGINT, SIGTERM, SIGHUP.
    """
    options = checked(given)
    if target[1:]:  # the reference does so without a word
        further = ", ".join(map(shown, target[1:]))
        click.echo(
            f"warning: {further} ignored: one target is evaluated, {shown(target[0])}", err=True
        )
    return run_evals(target[0] if target else ".", options)
