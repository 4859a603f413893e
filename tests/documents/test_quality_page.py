"""The page of the quality commands: its tables are those of the commands, its examples run."""

from __future__ import annotations

import json
import os
import re
import shlex
from importlib import import_module
from pathlib import Path

import click
import pytest

from pytest_plugin_eval.cli.main import main
from pytest_plugin_eval.settings import Depth
from tests.example.markdown import ROOT, blocks
from tests.example.workplace import copy_example

PAGE = ROOT / "docs" / "reference" / "quality.md"
TEXT = PAGE.read_text(encoding="utf-8")
MARKS = re.compile(r"(<!-- command: (\w+) -->\n).*?(<!-- end -->)", re.S)
SHOWN = [
    line.removeprefix("$ ") for block in blocks(TEXT, "console") for line in block.text.splitlines()
]


def _table(name: str) -> str:
    command: click.Command = getattr(import_module(f"pytest_plugin_eval.cli.{name}_command"), name)
    rows = ["| option | meaning |\n|---|---|\n"]
    for option in command.params:
        if isinstance(option, click.Option):
            spelt, meaning = option.get_help_record(click.Context(command)) or ("", "")
            rows.append(f"| `{_escaped(spelt)}` | {_escaped(meaning)} |\n")
    return "".join(rows)


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _current(page: str) -> str:
    return MARKS.sub(lambda mark: f"{mark[1]}{_table(mark[2])}{mark[3]}", page)


def test_tables_are_those_of_the_commands() -> None:
    current = _current(TEXT)

    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(current, encoding="utf-8")
    else:
        assert current == TEXT, "renew with: UPDATE_GOLDEN=1 pytest -n 0 tests/documents"


def test_certify_has_the_options_of_score_but_its_depth_and_replies() -> None:
    from pytest_plugin_eval.cli.certify_command import certify
    from pytest_plugin_eval.cli.score_command import score

    options = [{one.name for one in command.params} for command in (score, certify)]

    assert options[0] - options[1] == {"depth", "judge_replies"}
    assert options[1] <= options[0]


@pytest.mark.parametrize("command", SHOWN)
def test_command_of_the_page_runs(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(copy_example(tmp_path))

    assert main(shlex.split(command)[1:]) == 0


def test_keys_of_the_page_are_those_of_the_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(copy_example(tmp_path))
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "index.json").write_text("[]", encoding="utf-8")
    quick = ["--depth", Depth.QUICK.value, "--output", "json", "--explain"]

    assert main(["score", "skills/changelog", *quick, "--corpus", str(tmp_path / "corpus")]) == 0
    skill = json.loads(capsys.readouterr().out)
    assert main(["score", ".", *quick]) == 0
    plugin = json.loads(capsys.readouterr().out)

    table = TEXT.partition("| key | holds |\n")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| ([^|]*) \|", table, re.M)))
    assert set(named) == {*skill, *plugin}
