"""The option table: one row an option; parser, ini values and `Settings` come from it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import pytest

from pytest_plugin_eval.errors import SettingsError
from pytest_plugin_eval.pytest_side import option_values as values
from pytest_plugin_eval.pytest_side.option_values import Convert
from pytest_plugin_eval.settings import Ablation, Mode, Settings
from pytest_plugin_eval.text import shown, tool_words

__all__ = ["OPTIONS", "Option", "add_options", "are_options_given", "settings_from"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Option:
    """One row of the table."""

    name: str
    """The command line's spelling, with dashes."""
    field: str
    """The attribute of `Settings`; empty for an option whose feature is not there yet."""
    help: str
    convert: Convert | None = None
    """Checks and converts one text; ``None`` makes a flag."""
    command_convert: Convert | None = None
    """Does so instead for `plugin-eval run`, where the reference's limits are others."""
    metavar: str | None = None
    many: bool = False
    hidden: bool = False
    harmless: tuple[str, ...] = ()
    """Of an option whose feature is not there yet: the values that ask for nothing."""

    @property
    def dest(self) -> str:
        """The attribute of pytest's option object."""
        return "plugin_eval_" + self.name.removeprefix("--").removeprefix("eval-").replace("-", "_")

    @property
    def ini(self) -> str:
        """The ini name; ``--evals`` and ``--trust-plugin`` have names of their own."""
        special = {"--evals": "plugin_eval_auto", "--trust-plugin": "plugin_eval_trust"}
        return special.get(self.name, self.dest)


_ROOT: Final = Option(
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
        help="Model of the judge",
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
        help="Start no further run once this much is spent; exit status 2",
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
        name="--eval-free-only",
        field="free_only",
        help="Leave llm and baseline graders out, unevaluated and uncounted",
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
        name="--trust-plugin",
        field="",
        harmless=("1",),
        help="Assert trust in the plugin's directory (nothing asks for it yet)",
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
    _ROOT,
    *(
        Option(
            name=name,
            field="",
            convert=values.filled if metavar else None,
            metavar=metavar,
            harmless=harmless,
            help=f"{text} (not available yet)",
        )
        for name, metavar, harmless, text in (
            ("--eval-html", "PATH", (), "Write a copy of the HTML report here"),
            ("--eval-scaffold", None, (), "Run the cases' scaffold_script"),
            ("--eval-mocks", "MODE", ("record",), "MCP stand-ins: record or off"),
            ("--eval-allow-real-servers", None, (), "Let unmocked MCP servers start"),
            ("--eval-retries", "N", ("0",), "Repeat a run that was not measured"),
            ("--eval-resume", "DIR", (), "Continue an unfinished results directory"),
            ("--eval-depth", "DEPTH", ("quick",), "Layers of the composite score"),
            ("--eval-min-composite", "X", (), "Fail the session below this composite score"),
            ("--eval-judge-votes", "N", ("3",), "Odd number of votes of a judge"),
            ("--eval-shard", "I/N", ("1/1",), "This machine's part of the runs"),
            ("--eval-score", None, (), "Collect skills as items"),
        )
    ),
)


def add_options(parser: pytest.Parser) -> None:
    """Add every row of the table to pytest's parser, with its ini value."""
    group = parser.getgroup("plugin-eval", "evals of Claude Code plugins")
    for option in OPTIONS:
        help_text = argparse.SUPPRESS if option.hidden else option.help
        if option.convert is None:
            group.addoption(
                option.name, action="store_true", default=None, dest=option.dest, help=help_text
            )
        elif option.many:
            # Several words after one option, as the reference command takes them.
            group.addoption(
                option.name,
                action="extend",
                nargs="+",
                default=None,
                dest=option.dest,
                metavar=option.metavar,
                help=help_text,
            )
        else:
            group.addoption(
                option.name, default=None, dest=option.dest, metavar=option.metavar, help=help_text
            )
        if not option.hidden:
            parser.addini(option.ini, option.help, type=_ini_type(option), default=None)


def _ini_type(option: Option) -> Literal["bool", "args", "string"]:
    if option.convert is None:
        return "bool"
    return "args" if option.many else "string"


def are_options_given(config: pytest.Config) -> bool:
    """Whether the command line has an option of the table."""
    return any(getattr(config.option, option.dest, None) is not None for option in OPTIONS)


def settings_from(config: pytest.Config) -> Settings:
    """Return the checked settings of command line and ini file; the command line wins.

    Raises `SettingsError` naming the option or ini value, what was given and what was expected.
    """
    chosen: dict[str, object] = {}
    of_command = getattr(config.option, _ROOT.dest, None) is not None
    for option in OPTIONS:
        value, origin = _given(config, option)
        if value is None:
            continue
        if not option.field:
            _refuse_later(option, value, origin)
            continue
        try:
            chosen[option.field] = _converted(option, value, of_command=of_command)
        except SettingsError as error:
            raise SettingsError(f"{origin}: {error}") from None
    settings = Settings(**chosen)  # type: ignore[arg-type]  # each converter returns its field's type
    _check_together(settings, config)
    return settings


def _given(config: pytest.Config, option: Option) -> tuple[object, str]:
    value = getattr(config.option, option.dest, None)
    if value is not None:
        return value, option.name
    if option.hidden:
        return None, option.name
    # An unset ini value is None, but also an empty list or False, depending on its type.
    value = config.getini(option.ini)
    if value in (None, [], False, ""):
        return None, option.ini
    if option.convert is values.path and config.inipath is not None:
        # As with pytest's own: a path in a file belongs to the file, not to where one stands.
        value = str(config.inipath.parent / Path(str(value)).expanduser())
    return value, option.ini


def _converted(option: Option, value: object, *, of_command: bool) -> object:
    if option.convert is None:
        return bool(value)
    if of_command and option.command_convert is not None:
        return option.command_convert(str(value))
    if option.many:
        assert isinstance(value, list)
        texts = [str(item) for item in value]
        if option.metavar == "TOOL":
            texts = [word for text in texts for word in tool_words(text) or [text]]
        return tuple(option.convert(text) for text in texts)
    return option.convert(str(value))


def _refuse_later(option: Option, value: object, origin: str) -> None:
    text = "1" if value is True else str(value)
    if text not in option.harmless:
        given = "" if option.convert is None else f" {shown(text)}"
        raise SettingsError(f"{origin}{given}: not available in this version yet")


def _check_together(settings: Settings, config: pytest.Config) -> None:
    if settings.from_dir is not None:
        if settings.mode is not Mode.REPLAY:
            raise SettingsError(
                f"--eval-from: needs --eval-mode replay, the mode is {settings.mode.value}"
            )
        if not settings.from_dir.is_dir():
            raise SettingsError(f"--eval-from: {settings.from_dir} is not a directory")
    if settings.json_path is not None and settings.json_path.is_dir():
        raise SettingsError(f"--eval-json: {settings.json_path} is a directory, expected a file")
    for name, tools in (
        ("--eval-allow-tools", settings.allow_tools),
        ("--eval-disallow-tools", settings.disallow_tools),
    ):
        for tool in tools:
            _refuse_path(name, tool, config.invocation_params.dir)
    uses_xdist = getattr(config.option, "dist", "no") != "no" or hasattr(config, "workerinput")
    if uses_xdist and settings.concurrency > 1:
        raise SettingsError(
            f"--eval-concurrency {settings.concurrency}: not with xdist, use -n "
            f"{settings.concurrency} alone"
        )
    if getattr(config.option, "dist", "no") == "each" and settings.mode is not Mode.REPLAY:
        raise SettingsError(
            "--dist each: would make every run once on each worker; use --dist load"
        )


def _refuse_path(option: str, tool: str, here: Path) -> None:
    """Refuse a path that a list of tools swallowed; without it pytest would run something else."""
    is_tool_name = tool[:1].isupper() or tool.startswith("mcp__")
    if not is_tool_name and (here / tool.partition("::")[0]).exists():
        raise SettingsError(
            f"{option} {shown(tool)}: expected a tool, this is a path; put paths before the option"
        )
