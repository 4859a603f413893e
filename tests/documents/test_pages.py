"""The reference is in step with the code, and the tutorial works."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.documents.pages import with_tables
from tests.example.markdown import ROOT, blocks
from tests.example.script import example_script
from tests.example.workplace import copy_example, run_line
from tests.support.script import rule, script, tool, turn
from tests.support.scripted_api import ScriptedApi

PAGES = sorted((ROOT / "docs" / "reference").glob("*.md"))
GUIDES = sorted((ROOT / "docs" / "how-to").glob("*.md"))
SHOWN = [
    (guide.stem, line.removeprefix("$ "))
    for guide in GUIDES
    for block in blocks(guide.read_text(encoding="utf-8"), "console")
    for line in block.text.splitlines()
]
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`((?:evals|skills|\.claude-plugin)/[^`]+)`:?$")
USAGE = {"input": 2500, "output": 100}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_generated_tables_are_those_of_the_code(page: Path) -> None:
    written = page.read_text(encoding="utf-8")
    current = with_tables(written)

    if os.environ.get("UPDATE_GOLDEN"):
        page.write_text(current, encoding="utf-8")
    else:
        assert written == current, "renew with: UPDATE_GOLDEN=1 pytest -n 0 tests/documents"


@pytest.mark.agent
@pytest.mark.parametrize(("guide", "command"), SHOWN)
def test_command_of_a_guide_succeeds(guide: str, command: str, tmp_path: Path) -> None:
    plugin = copy_example(tmp_path)
    runs = plugin / "evals" / "results" / "2026-01-31T12-00-00-000Z" / "runs"
    shutil.copytree(plugin / "evals" / "recordings", runs)

    with ScriptedApi(example_script(plugin)) as api:
        done = run_line(command, plugin, api_url=api.url, env={"PYTEST_ADDOPTS": "--eval-runs 1"})

    assert done.returncode == 0, done.stdout


@pytest.mark.agent
def test_tutorial_gives_the_table_it_shows(tmp_path: Path) -> None:
    plugin = write_tutorial(tmp_path / "greeter", until="## A case for staying out")
    call = turn(tool("Skill", skill="greeter:greet"), usage=USAGE)
    ahoy, welcome = (turn(text, usage=USAGE) for text in ("Ahoy, Maria! A fair wind.", "Welcome!"))
    answers = script(
        rule(prompt="Maria starts here", arm="with", turns=[call, ahoy]),
        rule(prompt="Maria starts here", arm="without", turns=[welcome]),
        plugin_text="greeter:greet",
    )

    with ScriptedApi(answers) as api:
        done = run_line("pytest evals", plugin, api_url=api.url)

    shown = next(block.text for block in blocks(TUTORIAL, "text") if "W/OUT" in block.text)
    assert done.returncode == 0, done.stdout
    assert without_cost(shown) in without_cost(done.stdout)


def test_every_case_of_the_tutorial_loads(tmp_path: Path) -> None:
    plugin = write_tutorial(tmp_path / "greeter")

    done = run_line("pytest evals --collect-only -q", plugin)

    assert done.returncode == 0, done.stdout
    assert "2 cases, 12 runs, 0 judge calls" in done.stdout


def write_tutorial(plugin: Path, until: str = "") -> Path:
    """Write the files that the tutorial shows, and return the plugin's directory."""
    told = TUTORIAL[: TUTORIAL.index(until)] if until else TUTORIAL
    for block in blocks(told):
        if found := NAMED.search(block.above):
            file = plugin / found[1]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
    return plugin


def without_cost(text: str) -> str:
    return re.sub(r"\$\d+\.\d+", "$", text)
