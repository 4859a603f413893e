"""What the pages say of the commands, of what `diff` tells apart, and of the action's inputs."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator
from importlib import import_module

import click

from pytest_plugin_eval.results import attribution
from tests.support.action import ACTION

_NAME = re.compile(r"(?<![\w`/.-])(--[a-z][\w-]*|-[a-z](?!\w))(?![\w`/])")


def command_text(name: str) -> str:
    """Return how a command is called, what it does, and its options."""
    command: click.Command = getattr(import_module(f"pytest_plugin_eval.cli.{name}_command"), name)
    context = click.Context(command, info_name=f"plugin-eval {name}")
    usage = " ".join([context.info_name or "", *command.collect_usage_pieces(context)])
    parts = [f"`{usage}`", *_paragraphs(command.help or "")]
    table = _table(("option", "meaning"), _options(command, context))
    return "\n".join(f"{part}\n" for part in (*parts, *([table] if table else [])))


def movers() -> str:
    """Return the words that `plugin-eval diff` has for what moved a case."""
    tree = ast.parse(inspect.getsource(attribution.Mover)).body[0]
    assert isinstance(tree, ast.ClassDef)
    meanings = {
        ast.unparse(name.targets[0]): ast.literal_eval(said.value)
        for name, said in zip(tree.body, tree.body[1:], strict=False)
        if isinstance(name, ast.Assign) and isinstance(said, ast.Expr)
    }
    rows = [
        (f"`{one.value}`", meanings.get(one.name, "Neither arm moved.").removesuffix("."))
        for one in attribution.Mover
    ]
    return f"{_table(('MOVED BY', 'when'), rows)}\n"


def action_inputs() -> str:
    """Return the inputs of the action."""
    rows = [
        (
            f"`{name}`",
            f"`{one['default']}`" if one.get("default") else "",
            _as_code(" ".join(one["description"].split()).removesuffix(".")),
        )
        for name, one in ACTION["inputs"].items()
    ]
    return f"{_table(('input', 'default', 'meaning'), rows)}\n"


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in textwrap.dedent(text).strip().split("\n\n"):
        yield _as_code(" ".join(paragraph.split()))


def _options(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            spelt, meaning = option.get_help_record(context) or ("", "")
            yield f"`{_cell(spelt)}`", _as_code(_cell(meaning).removesuffix("."))


def _as_code(text: str) -> str:
    """Return text in which options are code, where they are not yet, and `<x>` is no markup."""
    parts = re.split(r"(`[^`]*`)", text)
    plain = (re.sub(r"(<[^>]*>)", r"`\1`", _NAME.sub(r"`\1`", part)) for part in parts[::2])
    return "".join(piece for pair in zip(plain, [*parts[1::2], ""], strict=True) for piece in pair)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(titles: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows]
    head = [f"| {' | '.join(titles)} |", f"|{'---|' * len(titles)}"]
    return "\n".join([*head, *lines]) if lines else ""
