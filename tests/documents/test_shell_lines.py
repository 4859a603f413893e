"""Lines for a shell on the pages: each is run, in the order of its page, or named here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_plugin_eval.storage.trust import remember, trust_file, trust_root
from tests.documents.tutorial import tutorial_script, write_tutorial
from tests.example.markdown import ROOT, blocks
from tests.example.workplace import copy_example
from tests.support.reference import agent_binary, base_environment
from tests.support.scripted_api import ScriptedApi
from tests.support.suites import write_tree

DOCS = ROOT / "docs"
NOT_RUN = {
    "sudo apt-get install bubblewrap socat": "installs packages of the system",
    "claude plugin eval . --runs 5 --threshold 0.8 --max-cost-usd 10 --json=evals.json": (
        "the reference itself; tests/differential runs it"
    ),
}
ELSEWHERE = {
    "how-to/run-on-several-machines.md": "test_several_machines.py",
    "how-to/write-cases.md": "test_write_cases.py",
    "reference/quality.md": "test_quality_page.py",
    "tutorial.md": "test_pages.py",
}


def lines(page: Path) -> list[str]:
    """Return the lines for a shell; those of how-to pages after a `$` are run by test_pages.py."""
    kinds = ["sh", "bash"] if page.parent.name == "how-to" else ["sh", "bash", "console"]
    found = (block for block in blocks(page.read_text("utf-8")) if block.language in kinds)
    return [line.removeprefix("$ ") for block in found for line in block.text.splitlines()]


def _example(base: Path) -> Path:
    return copy_example(base)


def _greeter(base: Path) -> Path:
    return write_tutorial(base / "greeter", until="## Say how much")


def _market(base: Path) -> Path:
    write_tutorial(base / "market" / "greeter", until="## A case for staying out")
    entry = {"name": "greeter", "source": "./greeter"}
    catalog = {"name": "market", "owner": {"name": "Somebody"}, "plugins": [entry]}
    files = {
        "market/.claude-plugin/marketplace.json": json.dumps(catalog),
        "scratch/idea/prompt.md": "What does a wind force of 7 mean?\n",
        "scratch/idea/graders/sail.md": "---\ntype: regex\n---\n\nsail\n",
    }
    return write_tree(base, files)


SCENES: dict[str, Callable[[Path], Path]] = {
    "how-to/grant-tools.md": _example,
    "how-to/migrate.md": _greeter,
    "how-to/targets.md": _market,
    "reference/schemas.md": _example,
}


def test_every_line_for_a_shell_is_run_or_named() -> None:
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md") if lines(page)}

    assert pages == {*SCENES, *ELSEWHERE}
    assert [
        name for name in ELSEWHERE.values() if not Path(__file__).with_name(name).is_file()
    ] == []
    assert set(NOT_RUN) <= {line for page in SCENES for line in lines(DOCS / page)}


@pytest.mark.agent
@pytest.mark.parametrize("page", SCENES)
def test_lines_of_a_page_succeed_one_after_another(page: str, tmp_path: Path) -> None:
    place = SCENES[page](tmp_path)
    home = tmp_path.parent / f"{tmp_path.name}-home"
    tools = home / "bin"
    tools.mkdir(parents=True)
    (home / "tmp").mkdir()
    binary = agent_binary()
    assert binary is not None
    (tools / "claude").symlink_to(binary)
    path = os.pathsep.join((str(tools), str(Path(sys.executable).parent), os.environ["PATH"]))

    with ScriptedApi(tutorial_script()) as api:
        env = {**base_environment(api.url, home), "PATH": path}
        remember([trust_root(place)], trust_file(env))
        done = [
            subprocess.run(
                ["bash", "-c", line],
                cwd=place,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                timeout=240,
                check=False,
            )
            for line in lines(DOCS / page)
            if line not in NOT_RUN
        ]

    assert done
    assert [one.returncode for one in done] == [0] * len(done), [one.stdout for one in done]


def test_table_of_options_names_what_both_commands_have() -> None:
    from pytest_plugin_eval.cli.run_command import run
    from pytest_plugin_eval.pytest_side.option_table import OPTIONS

    rows = (DOCS / "how-to" / "migrate.md").read_text("utf-8").split("|---|---|\n")[1]
    cells = [row.split("|")[1:3] for row in rows.partition("\n\n")[0].splitlines()]
    asked = [word for cell, _ in cells for word in _options(cell)]
    given = [word for _, cell in cells for word in _options(cell)]

    theirs = {word for one in run.params for word in (*one.opts, *one.secondary_opts)}
    left_out = {"--no-scaffold", "--no-publish", "--publish-report"}
    assert {word for word in asked if word.startswith("--")} == {
        word for word in theirs if word.startswith("--")
    } - left_out
    known = {option.name for option in OPTIONS}
    assert [word for word in given if word.startswith("--") and word not in known] == []


def _options(cell: str) -> list[str]:
    return [word.strip("`,") for word in cell.split() if word.startswith("`-")]
