"""`plugin-eval doctor`: its command line, read by click."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from pytest_plugin_eval.cli.run_options import checked, spread_lists

__all__ = ["doctor"]


class _DoctorCommand(click.Command):
    """A command whose list options take several words at once, as those of ``run`` do."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Spread the lists, then parse."""
        return super().parse_args(ctx, spread_lists(args))


@click.command("doctor", cls=_DoctorCommand)
@click.argument("target", default=".")
@click.option("--runs", metavar="N", help="As for `run`.")
@click.option("--ablation", metavar="MODE", help="As for `run`.")
@click.option("--model", metavar="MODEL", help="As for `run`.")
@click.option("--judge-model", metavar="MODEL", help="Model of the judge.")
@click.option("--max-cost-usd", metavar="X", help="Ceiling, under which prices must be known.")
@click.option("--case", metavar="GLOB", help="Only cases whose name matches.")
@click.option("--tag", metavar="TAG...", multiple=True, help="Only cases with one of these tags.")
@click.option("--allow-tools", metavar="TOOL...", multiple=True, help="Tools to be granted.")
@click.option("--disallow-tools", metavar="TOOL...", multiple=True, help="Tools to be taken away.")
@click.option("--eval-dir", metavar="DIR", help="Eval directory below the plugin (default: evals).")
@click.option("--output-dir", metavar="DIR", help="Where the results are to go.")
@click.option("--trust-plugin", is_flag=True, help="Assert trust in the plugin's directory.")
@click.option("--mocks", metavar="MODE", help="Stand-ins for MCP servers: record or off.")
@click.option("--allow-real-servers", is_flag=True, help="Start unmocked MCP servers, as you.")
@click.option("--scaffold/--no-scaffold", help="Run the cases' scaffold_script, as you.")
@click.option("--agent-path", metavar="PATH", help="Agent binary (pytest: --eval-agent-path).")
@click.option("--run-root", metavar="DIR", help="Run directories (pytest: --eval-run-root).")
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def doctor(target: str, as_json: bool, **given: object) -> int:
    """Say whether evals can be run here, and what a run would cost, without spending anything.

    TARGET is what `run` would be given (default: the current directory), and the options are those
    of `run` that make a difference. No model is asked and nothing is sent; the agent is started for
    its version alone. Each line begins with ok, warning or problem.

    Exit code: 0 ready; 1 a problem would stop a run, or keep it from ending well.
    """
    from pytest_plugin_eval.cli.doctor import DoctorOptions, examine, report

    paths = {name: given.pop(name) for name in ("agent_path", "run_root")}
    named = {name: Path(str(path)) for name, path in paths.items() if path}
    never = {"report": None, "publish_report": False, "no_publish": False, "json": None}
    options = DoctorOptions(
        target=target,
        run=checked({**never, **given}),
        agent_path=named.get("agent_path"),
        run_root=named.get("run_root"),
    )
    return report(examine(options, os.environ, time.time()), as_json=as_json)
