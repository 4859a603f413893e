"""`plugin-eval rescore`: its command line, read by click."""

from __future__ import annotations

import os
from pathlib import Path

import click

from pytest_plugin_eval.cases.discovery import normalised_eval_dir
from pytest_plugin_eval.cli import run_values
from pytest_plugin_eval.cli.run_options import check_json_path, converted
from pytest_plugin_eval.errors import EvalError
from pytest_plugin_eval.judges.base import JudgeBackend, SlowDown
from pytest_plugin_eval.pytest_side.option_values import odd

__all__ = ["rescore"]


@click.command("rescore")
@click.argument("results")
@click.option("--judge-model", metavar="MODEL", help="Model of the judge (default: the session's).")
@click.option("--votes", metavar="N", help="Votes on each question, an odd number (default: 3).")
@click.option("--case", metavar="GLOB", help="Only cases whose name matches.")
@click.option("--no-judge", is_flag=True, help="Ask no judge: grade by the votes in the records.")
@click.option("--max-cost-usd", metavar="X", help="Ask nothing more once this much is spent.")
@click.option("--json", metavar="PATH", help="Write the new document to this .json file as well.")
@click.option("--root", metavar="DIR", help="The plugin, where it is not where it was.")
@click.option("--eval-dir", metavar="DIR", help="Eval directory below the plugin (default: evals).")
def rescore(results: str, **given: object) -> int:
    """Grade saved records afresh and print what changed, grader by grader.

    RESULTS is the results directory of a session, or a directory of recordings. No agent is run.
    Cases and graders are taken as they are on disk now. The judge is asked again, and its votes are
    added to the records; before it is asked a line says how many votes it is and about what they
    cost. The new document goes to RESULTS/rescored/<UTC time>, of recordings only to --json; the
    old one stays.

    Exit code: 0 all records were graded; 1 one was not, or an error; 2 stopped by the cost ceiling;
    130, 143, 129 interrupted by SIGINT, SIGTERM, SIGHUP.
    """
    from pytest_plugin_eval.cli.rescore import RescoreOptions
    from pytest_plugin_eval.cli.rescore import rescore as run_rescore
    from pytest_plugin_eval.execution.judging import find_judge

    texts = {name: value for name, value in given.items() if isinstance(value, str)}
    check_json_path(texts.get("json"))
    options = RescoreOptions(
        results=Path(results),
        judge_model=texts.get("judge_model") or None,
        votes=converted("--votes", texts.get("votes"), odd),
        case=texts.get("case"),
        no_judge=bool(given["no_judge"]),
        max_cost_usd=converted("--max-cost-usd", texts.get("max_cost_usd"), run_values.amount),
        json=Path(texts["json"]) if "json" in texts else None,
        root=Path(texts["root"]) if texts.get("root") else None,
        eval_dir=converted("--eval-dir", texts.get("eval_dir"), normalised_eval_dir),
    )

    def find(slow_down: SlowDown) -> JudgeBackend:
        return find_judge(env=os.environ, agent_path=None, run_root=None, slow_down=slow_down)

    try:
        return run_rescore(options, find=find)
    except EvalError as error:
        raise click.ClickException(str(error)) from error
