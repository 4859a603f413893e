"""From the option table to pytest's parser, and from there to checked `Settings`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Literal

import pytest

from pytest_plugin_eval.errors import EvalError, SettingsError
from pytest_plugin_eval.pytest_side import option_values as values
from pytest_plugin_eval.pytest_side.option_table import OPTIONS, ROOT, Option
from pytest_plugin_eval.settings import Mode, Settings
from pytest_plugin_eval.text import shown, tool_words

__all__ = ["add_options", "are_options_given", "settings_from"]


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
    of_command = getattr(config.option, ROOT.dest, None) is not None
    for option in OPTIONS:
        value, origin = _given(config, option)
        if value is None:
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


def _check_durations(path: Path) -> None:
    # Read here, although it is for the workers of xdist: they could only crash.
    from pytest_plugin_eval.results.finding import found_document

    try:
        found_document(path)
    except EvalError as error:
        raise SettingsError(f"--eval-shard-durations: {error}") from None


def _check_together(settings: Settings, config: pytest.Config) -> None:
    if settings.from_dir is not None:
        if settings.mode is not Mode.REPLAY:
            raise SettingsError(
                f"--eval-from: needs --eval-mode replay, the mode is {settings.mode.value}"
            )
        if not settings.from_dir.is_dir():
            raise SettingsError(f"--eval-from: {settings.from_dir} is not a directory")
    _check_resume(settings)
    if settings.durations is not None:
        _check_durations(settings.durations)
    for option, path in (("--eval-json", settings.json_path), ("--eval-html", settings.html_path)):
        if path is not None and path.is_dir():
            raise SettingsError(f"{option}: {path} is a directory, expected a file")
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


def _check_resume(settings: Settings) -> None:
    directory = settings.resume_dir
    if directory is None:
        return
    if settings.mode is Mode.REPLAY:
        raise SettingsError("--eval-resume: makes runs, so not with --eval-mode replay")
    if settings.results_dir is not None:
        raise SettingsError(
            "--eval-resume: its results go to the directory it names, so not with "
            "--eval-results-dir"
        )
    if not directory.is_dir():
        from pytest_plugin_eval.storage.results_dir import check_resumable

        check_resumable(directory)


def _refuse_path(option: str, tool: str, here: Path) -> None:
    """Refuse a path that a list of tools swallowed; without it pytest would run something else."""
    is_tool_name = tool[:1].isupper() or tool.startswith("mcp__")
    if not is_tool_name and (here / tool.partition("::")[0]).exists():
        raise SettingsError(
            f"{option} {shown(tool)}: expected a tool, this is a path; put paths before the option"
        )
