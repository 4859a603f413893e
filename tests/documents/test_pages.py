"""The reference is in step with the code, and the tutorial works."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from pytest_plugin_eval.cli.main import COMMANDS
from tests.documents.pages import with_tables
from tests.documents.tutorial import NAMED, TUTORIAL, tutorial_script, write_tutorial
from tests.example.markdown import ROOT, blocks
from tests.example.script import example_script
from tests.example.workplace import EXAMPLE, copy_example, run_line
from tests.support.scripted_api import ScriptedApi

PAGES = sorted(
    page
    for page in (ROOT / "docs").rglob("*.md")
    if "<!-- generated: " in page.read_text(encoding="utf-8")
)
GUIDES = sorted((ROOT / "docs" / "how-to").glob("*.md"))
SHOWN = [
    (guide.stem, line.removeprefix("$ "))
    for guide in GUIDES
    for block in blocks(guide.read_text(encoding="utf-8"), "console")
    for line in block.text.splitlines()
]
RESULTS = "evals/results/2026-01-31T12-00-00-000Z"
CEILING = 2
SMALL = "evals/undo-last-commit"
SOME = "commit-message"
OVER_DOCUMENTS = ("plugin-eval diff", "plugin-eval history", "plugin-eval report")
DIRECTORY = re.compile(r"evals/results/[\w.:-]+")
ALL = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
TAKEN = [
    (found[1], block.text)
    for guide in GUIDES
    for block in blocks(guide.read_text(encoding="utf-8"), "markdown")
    if (found := NAMED.search(block.above))
]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)")


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
    options = "--eval-runs 1"
    if "--eval-mode record" in command or "--eval-resume" in command:
        options += f" -k {SOME}"  # with the agent

    with ScriptedApi(example_script(plugin)) as api:
        if "--eval-resume" in command:
            options += " --eval-mode live"
            earlier = (
                f"pytest evals --eval-max-cost-usd 0.001 --eval-results-dir={RESULTS} {options}"
            )
            assert run_line(earlier, plugin, api_url=api.url).returncode == CEILING
        elif command.startswith(OVER_DOCUMENTS):
            options += " --eval-mode live" if "history" in command else ""
            for place in set(DIRECTORY.findall(command)) or {RESULTS}:
                earlier = f"pytest {SMALL} --eval-results-dir={place} {options}"
                assert run_line(earlier, plugin, api_url=api.url).returncode == 0
        else:
            shutil.copytree(plugin / "evals" / "recordings", plugin / RESULTS / "runs")
        done = run_line(command, plugin, api_url=api.url, env={"PYTEST_ADDOPTS": options})

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("name", "text"), TAKEN)
def test_file_that_a_guide_takes_from_the_example_is_the_real_one(name: str, text: str) -> None:
    assert text == (EXAMPLE / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", ALL, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_pages_and_headings(page: Path) -> None:
    missing = []
    for name, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            missing.append(f"{name}#{anchor}")

    assert missing == []


def test_every_command_has_its_place_in_the_reference() -> None:
    text = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")

    assert re.findall(r"^## (\S+)$", text, re.M) == list(COMMANDS)
    assert re.findall(r"<!-- generated: command_(\w+) -->", text) == list(COMMANDS)


def test_every_page_is_in_the_index() -> None:
    index = ROOT / "docs" / "index.md"

    linked = {(index.parent / name).resolve() for name, _ in LINK.findall(index.read_text("utf-8"))}

    assert [page for page in (ROOT / "docs").rglob("*.md") if page not in {index, *linked}] == []


@pytest.mark.agent
def test_tutorial_gives_the_table_it_shows(tmp_path: Path) -> None:
    plugin = write_tutorial(tmp_path / "greeter", until="## A case for staying out")

    with ScriptedApi(tutorial_script()) as api:
        done = run_line("pytest evals", plugin, api_url=api.url)

    shown = next(block.text for block in blocks(TUTORIAL, "text") if "W/OUT" in block.text)
    assert done.returncode == 0, done.stdout
    assert without_cost(shown) in without_cost(done.stdout)


@pytest.mark.agent
def test_commands_of_the_tutorial_succeed_one_after_another(tmp_path: Path) -> None:
    plugin = write_tutorial(tmp_path / "greeter")
    shown = [
        line.removeprefix("$ ") for b in blocks(TUTORIAL, "console") for line in b.text.splitlines()
    ]

    with ScriptedApi(tutorial_script()) as api:
        done = [
            run_line(line, plugin, api_url=api.url, env={"PYTEST_ADDOPTS": "--eval-runs 1"})
            for line in shown
        ]

    assert len(done) == 4
    assert [one.returncode for one in done] == [0] * 4, "".join(one.stdout for one in done)
    assert "no agent, no cost" in done[-1].stdout


def test_every_case_of_the_tutorial_loads(tmp_path: Path) -> None:
    plugin = write_tutorial(tmp_path / "greeter")

    done = run_line("pytest evals --collect-only -q", plugin)

    assert done.returncode == 0, done.stdout
    assert "2 cases, 12 runs, 0 judge calls" in done.stdout


def anchors(page: Path) -> set[str]:
    """Return what a page's headings are called in links to them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def without_cost(text: str) -> str:
    return re.sub(r"\$\d+\.\d+", "$", text)
