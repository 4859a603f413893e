"""What README shows is what happens: its commands run, its picture and its case are real."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.example.markdown import ROOT, Block, blocks, commands, replaced
from tests.example.script import example_script
from tests.example.workplace import EXAMPLE, copy_example, run_line
from tests.support.scripted_api import ScriptedApi

README = ROOT / "README.md"
CASE = EXAMPLE / "evals" / "looks-before-writing"
SET_UP = "python3 -m venv .venv && "

TEXT = README.read_text(encoding="utf-8")
COMMANDS = [line for line in commands(TEXT) if not line.startswith(SET_UP)]
LIVE = [
    line for line in COMMANDS if "--eval-mode live" in line or line.startswith("plugin-eval run")
]
SCORED = [
    line
    for line in COMMANDS
    if "--eval-score" in line or line.startswith(("plugin-eval score", "plugin-eval compare"))
]
SAVED = [
    line
    for line in COMMANDS
    if line.startswith(tuple(f"plugin-eval {name}" for name in ("diff", "history", "report")))
]
CHECKED = [line for line in COMMANDS if line.startswith("plugin-eval doctor")]
REPLAYED = [line for line in COMMANDS if line not in (*LIVE, *SCORED, *SAVED, *CHECKED)]
FILES = [block for block in blocks(TEXT) if block.above.startswith(("`prompt.md`", "`graders/"))]

# The one part of the picture that another run does not repeat.
VOLATILE = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z"), "2026-01-31T12-00-00-000Z"),
    (re.compile(r"recorded \d{4}-\d\d-\d\d"), "recorded 2026-01-31"),
    (re.compile(r"Claude Code \d+\.\d+\.\d+"), "Claude Code 2.1.332"),
    (re.compile(r"· \d+s ·"), "· 1s ·"),
    (re.compile(r"=+ (.* in )\d+\.\d\ds =+"), r"== \g<1>0.50s =="),
)


def stable(text: str) -> str:
    for pattern, form in VOLATILE:
        text = pattern.sub(form, text)
    return text


def file_of(block: Block) -> Path:
    return CASE / block.above.split("`")[1]


@pytest.mark.parametrize("mark", ["pip install -e . ", "pip install -e '.[test]' "])
def test_set_up_stands_on_one_line_of_its_own(mark: str) -> None:
    lines = [line for line in TEXT.splitlines() if line.startswith(SET_UP) and mark in line]

    assert len(lines) == 1


@pytest.mark.parametrize("command", REPLAYED)
def test_command_of_readme_succeeds_without_an_account(command: str, tmp_path: Path) -> None:
    copy_example(tmp_path)

    done = run_line(command, tmp_path)

    assert done.returncode == 0, done.stdout
    assert "--collect-only" in command or re.search(r"^CASE +WITH +W/OUT +Δ", done.stdout, re.M)


@pytest.mark.parametrize("command", SCORED)
def test_command_that_scores_succeeds_without_an_account(command: str, tmp_path: Path) -> None:
    copy_example(tmp_path)

    done = run_line(command, tmp_path)

    assert done.returncode == 0, done.stdout
    assert "changelog" in done.stdout
    assert re.search(r"\b50(?:\.0)?\b", done.stdout)


@pytest.mark.parametrize("command", SAVED)
def test_command_over_saved_results_succeeds(command: str, tmp_path: Path) -> None:
    plugin = copy_example(tmp_path)
    for day in (30, 31):
        directory = plugin / f"evals/results/2026-01-{day}T12-00-00-000Z"
        run_line(f"pytest example_plugin/evals --eval-results-dir={directory}", tmp_path)

    done = run_line(command, tmp_path)

    assert done.returncode == 0, done.stdout
    assert "undo-last-commit" in done.stdout


@pytest.mark.agent
@pytest.mark.parametrize("command", CHECKED)
def test_command_that_checks_the_set_up_succeeds(command: str, tmp_path: Path) -> None:
    plugin = copy_example(tmp_path)

    with ScriptedApi(example_script(plugin)) as api:
        done = run_line(command, tmp_path, api_url=api.url)

    assert done.returncode == 0, done.stdout
    assert not api.requests


def test_composites_in_the_text_are_those_of_the_picture() -> None:
    [picture] = blocks(TEXT, "text")
    composites = re.findall(r"^(?:changelog|commit-message) +(\S+) +no badge", picture.text, re.M)

    assert [round(float(score), -1) for score in composites] == [50.0, 50.0]
    assert "both skills have about 50 points, no\nbadge" in TEXT


def test_replay_needs_neither_the_extra_of_judges_nor_a_key(tmp_path: Path) -> None:
    copy_example(tmp_path)
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    absent = "import sys\nsys.modules.update(anthropic=None, genai_prices=None)\n"
    (hidden / "sitecustomize.py").write_text(absent, encoding="utf-8")
    env = {"PYTHONPATH": str(hidden), "ANTHROPIC_API_KEY": ""}

    done = run_line("pytest example_plugin/evals", tmp_path, env=env)

    assert done.returncode == 0, done.stdout
    assert "no agent, no cost" in done.stdout


def test_live_commands_stand_below_a_word_of_what_they_cost() -> None:
    above = [block.above for block in blocks(TEXT) if set(block.text.splitlines()) & set(LIVE)]

    assert len(above) == len(LIVE)
    assert [line for line in above if "cost" not in line] == []


@pytest.mark.agent
@pytest.mark.parametrize("command", LIVE)
def test_live_command_of_readme_succeeds(command: str, tmp_path: Path) -> None:
    plugin = copy_example(tmp_path)

    with ScriptedApi(example_script(plugin)) as api:
        done = run_line(command, tmp_path, api_url=api.url)

    assert done.returncode == 0, done.stdout


def test_picture_is_what_the_replay_prints(tmp_path: Path) -> None:
    [picture] = blocks(TEXT, "text")
    command, _, _ = picture.text.partition("\n")
    copy_example(tmp_path)

    printed = run_line(command.removeprefix("$ "), tmp_path).stdout
    shown = f"{command}\n{printed[printed.index('collected ') :]}"

    if os.environ.get("UPDATE_GOLDEN"):
        README.write_text(replaced(TEXT, picture, shown), encoding="utf-8")
    assert stable(picture.text) == stable(shown)
    # A path is not broken into two.
    assert [line for line in shown.splitlines() if len(line) > 80 and "results:" not in line] == []


def test_case_is_shown_in_full() -> None:
    shown = {file_of(block) for block in FILES}

    assert shown == {path for path in CASE.rglob("*") if path.is_file()}


@pytest.mark.parametrize("block", FILES, ids=lambda block: file_of(block).stem)
def test_shown_file_is_the_real_one(block: Block) -> None:
    assert block.text == file_of(block).read_text(encoding="utf-8")
