"""The conversation of `plugin-eval new`, as far as a person takes part in it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import click

from pytest_plugin_eval.cli.output import say
from pytest_plugin_eval.errors import EvalError

__all__ = ["Console", "Ended", "Terminal", "Unattended", "choice", "confirmed", "paragraph"]

_YES = ("y", "yes")
_MOST_LINES = 200


class Ended(Exception):
    """The input has ended: nobody answers any more."""


class Console(Protocol):
    """Where lines are shown and questions answered."""

    def say(self, line: str) -> None:
        """Show a line."""

    def ask(self, question: str) -> str:
        """Return the line that answers a question; raises `Ended` where there is none."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """A person at a terminal."""

    def say(self, line: str) -> None:
        """Print a line, without control characters."""
        say(line)

    def ask(self, question: str) -> str:
        """Print a question and read a line."""
        click.echo(question, nl=False)
        # Not `input`, which has a buffer of its own beside the one that the trust question reads.
        try:
            line = sys.stdin.readline()
        except UnicodeDecodeError as error:
            raise EvalError(f"what was typed is no {error.encoding} text") from error
        if not line:
            click.echo()
            raise Ended
        return line.rstrip("\r\n")


@dataclass(frozen=True, slots=True)
class Unattended:
    """A script: it has said yes to everything beforehand, within its ceiling."""

    def say(self, line: str) -> None:
        """Print a line, without control characters."""
        say(line)

    def ask(self, question: str) -> str:
        """Say yes, and show that somebody did."""
        say(f"{question}yes, by --yes")
        return "yes"


def confirmed(console: Console, question: str) -> bool:
    """Return whether the answer is yes; anything else is no, and so is the end of the input."""
    try:
        return console.ask(f"{question} [y/N] ").strip().lower() in _YES
    except Ended:
        return False


def choice(console: Console, question: str, letters: Sequence[str]) -> str:
    """Return one of the letters, asking until one is given; raises `Ended`."""
    while True:
        answer = console.ask(f"{question} [{'/'.join(letters)}] ").strip().lower()
        if answer and answer[0] in letters and answer in (answer[0], "yes", "no", "all", "quit"):
            return answer[0]
        console.say(f"expected one of {', '.join(letters)}")


def paragraph(console: Console, question: str) -> str:
    """Return several lines, ended by a blank one or by the end of the input."""
    console.say(question)
    lines: list[str] = []
    try:
        while len(lines) < _MOST_LINES:
            line = console.ask("> ").strip()
            if not line:
                break
            lines.append(line)
    except Ended:
        pass
    return "\n".join(lines)
