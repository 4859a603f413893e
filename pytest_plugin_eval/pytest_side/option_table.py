"""The option table: one row an option; parser, ini values and `Settings` come from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pytest_plugin_eval.pytest_side import option_values as values
from pytest_plugin_eval.pytest_side.option_values import Convert
from pytest_plugin_eval.settings import Ablation, Depth, Mocks, Mode

__all__ = ["OPTIONS", "ROOT", "Option"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Option:
    """One row of the table."""

    name: str
    """The command line's spelling, with dashes."""
    field: str
    """The attribute of `Settings`."""
    help: str
    convert: Convert | None = None
    """Checks and converts one text; ``None`` makes a flag."""
    command_convert: Convert | None = None
    """Does so instead for `plugin-eval run`, where the reference's limits are others."""
    metavar: str | None = None
    many: bool = False
    hidden: bool = False

    @property
    def dest(self) -> str:
        """The attribute of pytest's option object."""
        return "plugin_eval_" + self.name.removeprefix("--").removeprefix("eval-").replace("-", "_")

    @property
    def ini(self) -> str:
        """The ini name; ``--evals`` and ``--trust-plugin`` have names of their own."""
        special = {"--evals": "plugin_eval_auto", "--trust-plugin": "plugin_eval_trust"}
        return special.get(self.name, self.dest)


ROOT: Final = Option(
    name="--eval-root", field="root", convert=values.path, hidden=True, help="Suite root"
)
"""Given by `plugin-eval run` alone."""

OPTIONS: Final[tuple[Option, ...]] = (
    Option(
        name="--evals",
        field="evals",
        help="Run the evals that no argument names (in live mode they cost money)",
    ),
    Option(
        name="--eval-runs",
        field="runs",
        convert=values.whole(1, 50),
        command_convert=values.whole(1, None),
        metavar="N",
        help="Runs per case and arm, 1 to 50 (default: the case's own, else 3)",
    ),
    Option(
        name="--eval-ablation",
        field="ablation",
        convert=values.choice(Ablation, [mode.value for mode in Ablation]),
        metavar="MODE",
        help="none: with-arm only; with-without: both arms (default: both when a plugin resolves)",
    ),
    Option(
        name="--eval-threshold",
        field="threshold",
        convert=values.number(0, 1),
        metavar="X",
        help="Score from 0 to 1 that a case must reach with the plugin (default: 1)",
    ),
    Option(
        name="--eval-min-delta",
        field="min_delta",
        convert=values.number(-1, 1),
        metavar="X",
        help="Also fail a case whose difference between the arms is below X",
    ),
    Option(
        name="--eval-model",
        field="model",
        convert=values.filled,
        metavar="MODEL",
        help="Model of the agent (default: the case's, else ANTHROPIC_MODEL, else the agent's own)",
    ),
    Option(
        name="--eval-judge-model",
        field="judge_model",
        convert=values.filled,
        metavar="MODEL",
        help="Model of the judge: an id, or haiku, sonnet, opus (default: the small fast model)",
    ),
    Option(
        name="--eval-judge-votes",
        field="judge_votes",
        convert=values.odd,
        metavar="N",
        help="Votes of a judge on each llm and baseline grader, an odd number (default: 3)",
    ),
    Option(
        name="--eval-mode",
        field="mode",
        convert=values.choice(Mode, [mode.value for mode in Mode]),
        metavar="MODE",
        help="live: run the agent; record: also keep the records beside the cases; "
        "replay: grade saved records, without agent, key or network (default: live)",
    ),
    Option(
        name="--eval-from",
        field="from_dir",
        convert=values.path,
        metavar="DIR",
        help="Replay the records of this results directory instead of the recordings",
    ),
    Option(
        name="--eval-max-cost-usd",
        field="max_cost_usd",
        convert=values.number(0, None),
        metavar="X",
        help="Start no further run and ask no judge once this much is spent; exit status 2",
    ),
    Option(
        name="--eval-allow-tools",
        field="allow_tools",
        convert=values.filled,
        many=True,
        metavar="TOOL",
        help="Tools to grant in every run, as Tool or Tool(pattern); put the paths first",
    ),
    Option(
        name="--eval-disallow-tools",
        field="disallow_tools",
        convert=values.filled,
        many=True,
        metavar="TOOL",
        help="Tools to remove in every run; wins over a grant",
    ),
    Option(
        name="--eval-dir",
        field="eval_dir",
        convert=values.eval_dir,
        metavar="DIR",
        help="Eval directory below the plugin's root (default: the manifest's, else evals)",
    ),
    Option(
        name="--eval-scaffold",
        field="scaffold",
        help="Run the cases' scaffold_script first: code of their authors, run as you",
    ),
    Option(
        name="--eval-mocks",
        field="mocks",
        convert=values.choice(Mocks, [mode.value for mode in Mocks]),
        metavar="MODE",
        help="record: mocks stand in for MCP servers, answers of a model are kept for adoption; "
        "off: the plugins' own servers start (default: record)",
    ),
    Option(
        name="--eval-allow-real-servers",
        field="real_servers",
        help="Start the MCP servers that the plugins declare and that have no mock",
    ),
    Option(
        name="--eval-results-dir",
        field="results_dir",
        convert=values.path,
        metavar="DIR",
        help="Where results go (default: results/<UTC timestamp> in the eval directory)",
    ),
    Option(
        name="--eval-json",
        field="json_path",
        convert=values.path,
        metavar="PATH",
        help="Write a copy of aggregate-result.json here",
    ),
    Option(
        name="--eval-html",
        field="html_path",
        convert=values.path,
        metavar="PATH",
        help="Write a copy of report.html here",
    ),
    Option(
        name="--eval-junit-strict",
        field="junit_strict",
        help="Write properties of testcases into their output: Jenkins' xUnit schema has no other "
        "place for them",
    ),
    Option(
        name="--eval-report-only",
        field="report_only",
        help="Scores do not change the exit status; load errors and unmeasured runs still do",
    ),
    Option(
        name="--eval-keep-temp",
        field="keep_temp",
        help="Keep each run's directory and print its path",
    ),
    Option(
        name="--eval-concurrency",
        field="concurrency",
        convert=values.whole(1, 64),
        metavar="N",
        help="Agent runs at once in this process, without xdist (default: 1)",
    ),
    Option(
        name="--eval-grader-timeout",
        field="grader_timeout_s",
        convert=values.number(0, None, exclusive=True),
        metavar="S",
        help="Seconds for one free grader (default: 10)",
    ),
    Option(
        name="--eval-retries",
        field="retries",
        convert=values.whole(0, 10),
        metavar="N",
        help="Repeat a run that was not measured, after a pause (default: 1)",
    ),
    Option(
        name="--eval-retry-pause",
        field="retry_pause_s",
        convert=values.number(0, 600),
        hidden=True,
        help="Seconds before the first repetition",
    ),
    Option(
        name="--eval-resume",
        field="resume_dir",
        convert=values.path,
        metavar="DIR",
        help="Continue this results directory: make only the runs that it lacks",
    ),
    Option(
        name="--eval-free-only",
        field="free_only",
        help="Leave llm and baseline graders out, unevaluated and uncounted",
    ),
    Option(
        name="--eval-depth",
        field="depth",
        convert=values.choice(Depth, [depth.value for depth in Depth]),
        metavar="DEPTH",
        help="Layers of the quality score: quick, free; standard asks a judge about each skill; "
        "deep and thorough also try it out, 50 or 100 times (default: quick)",
    ),
    Option(
        name="--eval-min-composite",
        field="min_composite",
        convert=values.number(0, 100),
        metavar="X",
        help="Fail when the composite score of a plugin or of a collected skill is below X, 0 to "
        "100",
    ),
    Option(
        name="--eval-score",
        field="score",
        help="Collect every SKILL.md as an item that fails below --eval-min-composite, else below "
        "60",
    ),
    Option(
        name="--eval-agent-path",
        field="agent_path",
        convert=values.path,
        metavar="PATH",
        help="The agent binary (default: claude on PATH, else the one of the extra 'claude')",
    ),
    Option(
        name="--eval-run-root",
        field="run_root",
        convert=values.path,
        metavar="DIR",
        help="Where run directories are made (default: the user's cache directory)",
    ),
    Option(
        name="--eval-shard",
        field="shard",
        convert=values.shard,
        metavar="I/N",
        help="Run this machine's part of the cases: part I of N; plugin-eval merge joins them",
    ),
    Option(
        name="--eval-shard-durations",
        field="durations",
        convert=values.path,
        metavar="RESULTS",
        help="Balance the shards by how long each case took in these saved results",
    ),
    Option(
        name="--trust-plugin",
        field="trust",
        help="Assert trust in the plugins' directories: their hooks and servers run as you",
    ),
    Option(
        name="--eval-case",
        field="case_glob",
        convert=str,
        hidden=True,
        help="Cases by name, a glob",
    ),
    Option(
        name="--eval-tag", field="tags", convert=str, many=True, hidden=True, help="Cases by tag"
    ),
    ROOT,
    Option(
        name="--eval-plugin-id",
        field="plugin_id",
        convert=values.filled,
        hidden=True,
        help="Installed plugin that the suite root belongs to",
    ),
    Option(
        name="--eval-report",
        field="report_path",
        convert=values.path,
        hidden=True,
        help="Where report.html goes instead of the results directory",
    ),
)
