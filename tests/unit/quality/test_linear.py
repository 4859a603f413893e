"""Long inputs: twice the text takes about twice the time, whatever it repeats."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_plugin_eval.quality.parse import read_skill
from pytest_plugin_eval.quality.static import static_skill
from tests.support.suites import write_tree

SIZE = 60_000
GUARD_S = 5.0
# Quadratic time would be 16 times as much for four times the text.
RATIO = 10.0
# Below this the clock and the other processes say more than the text.
NOISE_S = 0.02

UNITS = {
    "lines": "Some words that MUST be here.\n",
    "line": "word ",
    "newlines": "\n",
    "spaces": " ",
    "output": "output ",
    "output-other-line": "output x\nformat\n",
    "format": "xformat output ",
    "return": "return ",
    "json": "json ",
    "headings": "## Head\n",
    "skill": "skill",
    "skill-slash": "skill/",
    "sub-skills": "sub-skills/",
    "one-cross-reference": "skills/a/",
    "cross-references": "skills/a ",
    "links-that-open": "(references/",
    "links": "(references/a)",
    "backticks": "`",
    "fences": "```a\n",
    "pipes": "|",
    "two-pipes": "||\n",
    "the": "the ",
    "the-tick": "the `Read ",
    "ticked": "`Read` ",
    "the-name": "the Read ",
    "use": "use\n",
    "directives": "MUST",
    "dashes": "-",
    "rules": "---\n",
    "next-lines": "\x85",
    "carriage-returns": "\r",
    "accents": "é",
}
DESCRIPTIONS = {
    "use": "use ",
    "use-this-skill": "use this skill ",
    "immediately": "use immediately ",
    "commas": ",",
    "comma-or": ", or ",
    "for": "for aaaa ",
    "always": "always ",
    "auto": "auto-load ",
    "trigger": "triggers ",
    "one-word": "a",
    "spaces": " ",
}
OPENED = {
    "use-spaces": ("use", " "),
    "for-letters": ("for ", "i"),
    "comma-spaces": (",", " "),
    "or-spaces": (",or", " "),
    "always-spaces": ("always", " "),
}


def seconds(root: Path, text: str) -> float:
    write_tree(root / "skill", {"SKILL.md": text, "references/b": ""})
    start = time.process_time()
    static_skill(read_skill(root / "skill"))
    return time.process_time() - start


def check(root: Path, head: str, unit: str, tail: str) -> None:
    """Assert that a text four times as long takes no more than some multiple of the time."""

    def text(length: int) -> str:
        return head + unit * (length // len(unit)) + tail

    short = min(seconds(root, text(SIZE)) for _ in range(2))
    long = min(seconds(root, text(4 * SIZE)) for _ in range(2))

    assert long < max(short, NOISE_S) * RATIO
    assert long < GUARD_S


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_body_takes_linear_time(tmp_path: Path, unit: str) -> None:
    check(tmp_path, "---\nname: x\n---\n", unit, "")


@pytest.mark.parametrize("unit", DESCRIPTIONS.values(), ids=DESCRIPTIONS)
def test_description_takes_linear_time(tmp_path: Path, unit: str) -> None:
    check(tmp_path, '---\ndescription: "', unit, '"\n---\n')


@pytest.mark.parametrize(("start", "unit"), OPENED.values(), ids=OPENED)
def test_description_with_one_long_run_takes_linear_time(
    tmp_path: Path, start: str, unit: str
) -> None:
    check(tmp_path, f'---\ndescription: "{start}', unit, 'x"\n---\n')


@pytest.mark.parametrize(
    "unit", ["- ", "[", "{a: ", "&a ", "*a ", "? ", "a: b\n", "# x\n", "%TAG !a! b\n", "!", "9"]
)
def test_frontmatter_takes_linear_time(tmp_path: Path, unit: str) -> None:
    check(tmp_path, "---\na: x\nb: ", unit, "\n---\n")


def test_many_different_cross_references_take_linear_time(tmp_path: Path) -> None:
    few = seconds(tmp_path, "".join(f"skills/a{i} " for i in range(5_000)))
    many = seconds(tmp_path, "".join(f"skills/a{i} " for i in range(20_000)))

    assert many < max(few, NOISE_S) * RATIO


@pytest.mark.parametrize(
    "text",
    ["Some words and output format too.\n" * 150_000, "word output " * 17_000, "## Head\n" * 10_000,
     "".join(f"skills/a{i} " for i in range(100_000))],
    ids=["5-MB", "200-KB-line", "10,000-headings", "100,000-cross-references"],
)  # fmt: skip
def test_large_skill_is_scored_in_seconds(tmp_path: Path, text: str) -> None:
    assert seconds(tmp_path, text) < GUARD_S


FORBIDDEN = ("_pytest", "anthropic", "click", "jinja2", "pydantic", "pytest", "scipy", "mini_racer")


def test_static_layer_loads_nothing_heavy(tmp_path: Path) -> None:
    write_tree(tmp_path, {"SKILL.md": "no frontmatter"})
    code = (
        "import sys\n"
        "from pytest_plugin_eval.quality import composite, static\n"
        "from pytest_plugin_eval.quality.parse import read_target\n"
        "from pytest_plugin_eval.settings import Depth\n"
        "layer = static.static_skill(read_target(sys.argv[1]))\n"
        "composite.composite([layer], depth_asked=Depth.QUICK)\n"
        "print(*sys.modules)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )

    loaded = set(done.stdout.split())
    assert "pytest_plugin_eval.quality.static" in loaded
    assert not loaded & {*FORBIDDEN, "yaml"}
