"""The conversation that the guide shows is the one that takes place."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.example.markdown import ROOT, blocks
from tests.example.workplace import run_line
from tests.support.proposals import MARK, grader, negative, positive, reply
from tests.support.reference import base_environment
from tests.support.script import rule, script, tool, turn
from tests.support.scripted_api import ScriptedApi
from tests.support.suites import write_tree
from tests.support.terminals import talk

pytestmark = pytest.mark.agent

GUIDE = (ROOT / "docs" / "how-to" / "write-cases.md").read_text(encoding="utf-8")
COMMAND = "import sys; from pytest_plugin_eval.cli.main import main; sys.exit(main())"
PLUGIN = {
    ".claude-plugin/plugin.json": '{"name": "greeter", "version": "1.0.0"}',
    "skills/greet/SKILL.md": (
        "---\nname: greet\ndescription: Greets people the way sailors do. Use when somebody is"
        " to be welcomed.\n---\n\nBegin with Ahoy, and wish a fair wind.\n"
    ),
}
PROPOSED = reply(
    positive(
        name="new-colleague",
        prompt="Maria starts here on Monday. Write her one line of greeting for the door.",
        why="asked for in passing, without the word welcome",
        graders=[
            grader(name="ahoy", pattern=r"^\W*Ahoy\b", flags="m"),
            grader(name="names-her", pattern="Maria"),
        ],
    ),
    negative(
        name="farewell",
        prompt="Tom leaves us on Friday. Write him one line of farewell for the card.",
        why="the same kind of line, but nobody is welcomed",
    ),
)
USAGE = {"input": 2500, "output": 100}
DIALOGUE = (
    ("\n> ", "A greeting that begins with Ahoy and names whom it is for.\n"),
    ("\n> ", "\n"),
    ("Ask? [y/N]", "y\n"),
    ("Try them? [y/N]", "y\n"),
    ("Trust it and remember that? [y/N]", "y\n"),
    ("Keep new-colleague?", "y\n"),
    ("Keep farewell?", "y\n"),
)


def test_conversation_is_the_one_that_is_shown(tmp_path: Path) -> None:
    code, output = conversation(tmp_path)

    assert code == 0, output
    happened = [_steady(line) for line in output.splitlines()]
    shown = next(block.text for block in blocks(GUIDE, "text") if "Ask? [y/N]" in block.text)
    command, *lines = map(_steady, shown.splitlines())
    assert command == "$ plugin-eval new"
    for line in lines:
        if line == "…":
            continue
        assert line in happened, f"{line!r} does not follow in:\n{output}"
        del happened[: happened.index(line) + 1]


def test_command_for_scripts_writes_cases(tmp_path: Path) -> None:
    plugin = write_tree(tmp_path / "greeter", PLUGIN)
    (command,) = [block.text for block in blocks(GUIDE, "bash")]

    with ScriptedApi(_answers()) as api:
        done = run_line(
            shlex.join(shlex.split(command.replace("\\\n", ""))), plugin, api_url=api.url
        )

    assert done.returncode == 0, done.stdout
    assert (plugin / "evals/welcome/new-colleague/prompt.md").is_file()


def conversation(base: Path) -> tuple[int, str]:
    """Lead the conversation of the guide, and return exit status and output."""
    plugin = write_tree(base / "greeter", PLUGIN)
    (base / "home/tmp").mkdir(parents=True)
    with ScriptedApi(_answers()) as api:
        env = base_environment(api.url, base / "home")
        return talk([sys.executable, "-c", COMMAND, "new"], DIALOGUE, cwd=plugin, env=env)


def _answers() -> dict[str, object]:
    call = turn(tool("Skill", skill="greeter:greet"), usage=USAGE)
    ahoy, plain, bye = (
        turn(text, usage=USAGE)
        for text in ("Ahoy, Maria! A fair wind.", "Welcome, Maria!", "All the best, Tom!")
    )
    proposing = turn(PROPOSED, usage={"input": 1900, "output": 700})
    return script(
        rule(kind="bare", contains=MARK, runs=[[proposing]], end=None),
        rule(prompt="Maria starts", arm="with", turns=[call, ahoy]),
        rule(prompt="Maria starts", arm="without", turns=[plain]),
        rule(prompt="Tom leaves", turns=[bye]),
        plugin_text="greeter:greet",
    )


def _steady(line: str) -> str:
    """Return a line without what differs from one time to the next."""
    line = re.sub(r"\$\d+\.\d+", "$", line.rstrip())
    line = re.sub(r"results/[0-9TZ-]+/", "results/…/", line)
    return re.sub(r"\b\d+s\b", "…s", line)
