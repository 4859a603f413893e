"""The worked example of the quality score: the skill as written gives the output as shown."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.example.markdown import ROOT, Block, blocks, replaced
from tests.example.workplace import run_line

PAGE = ROOT / "docs" / "how-to" / "raise-the-quality-score.md"
SKILL = "`link-check/SKILL.md`:"
CUT = re.compile(r"(?:tail -n \+(?P<first>\d+)|head -n (?P<count>\d+))$")


def steps() -> Iterator[tuple[Block, list[str]]]:
    """Yield each shown output with the drafts of the skill that stand above it."""
    drafts: list[str] = []
    for block in blocks(PAGE.read_text(encoding="utf-8")):
        if block.language == "markdown" and block.above.endswith(SKILL):
            drafts.append(block.text)
        elif block.language == "text" and block.text.startswith("$ "):
            yield block, list(drafts)


STEPS = list(steps())


def printed(line: str, place: Path) -> str:
    """Return what a line of commands prints, of which only the first is run."""
    command, *cuts = line.split(" | ")
    done = run_line(command, place)
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines(keepends=True)
    for cut in cuts:
        found = CUT.match(cut)
        assert found, cut
        first, count = found["first"], found["count"]
        lines = lines[int(first) - 1 :] if first else lines[: int(count)]
    return "".join(lines)


def write_drafts(place: Path, drafts: list[str]) -> None:
    """Write the last draft, and the first one for comparison."""
    for name, text in (("before/link-check", drafts[0]), ("link-check", drafts[-1])):
        (place / name).mkdir(parents=True)
        (place / name / "SKILL.md").write_text(text, encoding="utf-8")


def test_example_goes_through_four_drafts() -> None:
    assert [len(drafts) for _, drafts in STEPS] == [1, 2, 3, 4, 4, 4]


@pytest.mark.parametrize(
    "position", range(len(STEPS)), ids=lambda at: f"{at}-{shlex.split(STEPS[at][0].text)[2]}"
)
def test_output_is_what_the_command_prints(position: int, tmp_path: Path) -> None:
    block, drafts = STEPS[position]
    command, _, _ = block.text.partition("\n")
    write_drafts(tmp_path, drafts)

    current = f"{command}\n{printed(command.removeprefix('$ '), tmp_path)}"

    if os.environ.get("UPDATE_GOLDEN"):
        page = PAGE.read_text(encoding="utf-8")
        there = next(b for b in blocks(page) if b.text == block.text)
        PAGE.write_text(replaced(page, there, current), encoding="utf-8")
    assert block.text == current, "renew with: UPDATE_GOLDEN=1 pytest -n 0 tests/documents"


def test_scores_in_the_text_are_those_of_the_example() -> None:
    scores = [
        found[1]
        for block, _ in STEPS
        if (found := re.search(r"^ +([\d.]+) / 100", block.text, re.M))
    ]

    assert f"went from {scores[0]} to {scores[-1]}." in PAGE.read_text(encoding="utf-8")
