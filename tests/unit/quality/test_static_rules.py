"""Each rule and each step of the static layer on the smallest text that tells it apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.quality.counts import counts_of
from pytest_plugin_eval.quality.parse import read_skill
from pytest_plugin_eval.quality.static import static_skill, sub_scores
from pytest_plugin_eval.quality.static.coherence import ecosystem_coherence
from pytest_plugin_eval.quality.static.frontmatter import pushiness
from pytest_plugin_eval.quality.static.parts import Step, reached
from pytest_plugin_eval.quality.static.skill import WEIGHTS
from pytest_plugin_eval.quality.static.tokens import token_efficiency
from pytest_plugin_eval.quality.static.wiring import orchestration_wiring
from tests.support.suites import write_tree

GOOD = "Use this skill when a test needs one more line of text."
"""A description that raises no flag."""


def front(description: str = GOOD, more: str = "") -> str:
    return f'---\nname: other\ndescription: "{description}"\n{more}---\n'


def parts_of(root: Path, text: str, rule: str, files: dict[str, str] | None = None) -> object:
    write_tree(root / "skill", {"SKILL.md": text, **(files or {})})
    return sub_scores(read_skill(root / "skill"))[rule].parts


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("name: other\n", 0.15),
        ("name: skill\n", 0.10),
        ("", 0.10),
        ("name:\n", 0.0),
        ("name: ''\n", 0.0),
        ("name: []\n", 0.0),
        ("name: 7\n", 0.15),
        ("name: [a]\n", 0.15),
        ("name: Skill\n", 0.15),
    ],
)
def test_name(tmp_path: Path, name: str, points: float) -> None:
    write_tree(tmp_path / "skill", {"SKILL.md": f"---\n{name}description: x\n---\n"})

    found = sub_scores(read_skill(tmp_path / "skill"))["frontmatter_quality"]

    assert found.parts["name"] == points


@pytest.mark.parametrize(
    ("length", "points"),
    [(0, 0), (9, 0), (10, 0.05), (29, 0.05), (30, 0.15), (59, 0.15), (60, 0.20), (99, 0.20),
     (100, 0.25), (5000, 0.25)],
)  # fmt: skip
def test_length_of_the_description(tmp_path: Path, length: int, points: float) -> None:
    text = front("  " + "x" * length + "  ")

    parts = parts_of(tmp_path, text, "frontmatter_quality")

    assert isinstance(parts, dict)
    assert parts["description"] == points


@pytest.mark.parametrize(
    ("description", "part", "points"),
    [
        ("use when", "trigger", 0.25),
        ("should be USED when", "trigger", 0.25),
        ("use this  skill whenever", "trigger", 0.25),
        ("use\nimmediately\tafter", "trigger", 0.25),
        ("use this skill immediately before", "trigger", 0.25),
        ("use proactively", "trigger", 0.25),
        ("triggers on", "trigger", 0.25),
        ("trigger when", "trigger", 0.25),
        ("auto-loads when", "trigger", 0.25),
        ("autoload on", "trigger", 0.25),
        ("auto load when", "trigger", 0.25),
        ("use it when", "trigger", 0),
        ("use this when", "trigger", 0),
        ("using when", "trigger", 0),
        ("reuse when", "trigger", 0),
        ("use when-ever", "trigger", 0.25),
        ("use whens", "trigger", 0),
        ("u\N{LATIN SMALL LETTER LONG S}e when", "trigger", 0.25),
        ("proactively", "proactive", 0.15),
        ("Proactively,", "proactive", 0.15),
        ("proactive", "proactive", 0),
        ("automatically", "keyword", 0.10),
        ("always  use", "keyword", 0.10),
        ("Trigger", "keyword", 0.10),
        ("invoke", "keyword", 0.10),
        ("triggers invoked", "keyword", 0),
        ("always, use", "keyword", 0),
        (", when", "contexts", 0.10),
        (", for, during", "contexts", 0.10),
        (",when,or setting up,  or debugging", "contexts", 0.20),
        (", forms", "contexts", 0.10),
        (", WHEN", "contexts", 0.10),
        (", and when", "contexts", 0),
        ("when or for", "contexts", 0),
        ("when testing", "gerund", 0.15),
        ("for\nDeploying", "gerund", 0.15),
        ("during string", "gerund", 0.15),
        ("when a testing", "gerund", 0),
        ("when ing", "gerund", 0),
        ("when testings", "gerund", 0),
        (" " + "x" * 40, "length", 0.10),
        ("x" * 39 + "  ", "length", 0),
    ],
)
def test_part_of_pushiness(description: str, part: str, points: float) -> None:
    assert pushiness(description)[part] == points


@pytest.mark.parametrize(
    ("text", "part", "points"),
    [
        ("output x format", "output_format", 0.10),
        ("format x output", "output_format", 0.10),
        ("output\nformat", "output_format", 0),
        ("outputs format", "output_format", 0),
        ("output formats", "output_format", 0),
        ("output\x0bformat", "output_format", 0.10),
        ("returning x json", "output_format", 0.10),
        ("returnjson", "output_format", 0.10),
        ("return xjson", "output_format", 0.10),
        ("json return", "output_format", 0),
        ("return jsonx", "output_format", 0),
        ("xreturn json", "output_format", 0),
        ("return\njson", "output_format", 0),
        ("output output\nreturn format json", "output_format", 0.10),
        ("output\nformat output", "output_format", 0.10),
        ("return", "output", 0.05),
        ("produces", "output", 0.05),
        ("outputs", "output", 0.05),
        ("generate", "output", 0.05),
        ("generated xoutput", "output", 0),
        ("input", "input", 0.10),
        ("receives", "input", 0.10),
        ("accept", "input", 0.10),
        ("parameters", "input", 0.10),
        ("args", "input", 0.10),
        ("inputs argument accepted", "input", 0),
        ("orchestrates", "orchestration", -0.15),
        ("coordination", "orchestration", -0.15),
        ("dispatch", "orchestration", -0.15),
        ("redispatch subcoordinate", "orchestration", 0),
    ],
)
def test_part_of_wiring(text: str, part: str, points: float) -> None:
    assert orchestration_wiring(text, 0).parts[part] == points


@pytest.mark.parametrize(("fences", "points"), [(0, 0), (1, 0), (2, 0.05), (9, 0.05)])
def test_fences_in_wiring(fences: int, points: float) -> None:
    assert orchestration_wiring("", fences).parts["fences"] == points


@pytest.mark.parametrize(
    ("lines", "points"),
    [(1, 0.20), (99, 0.20), (100, 0.50), (199, 0.50), (200, 0.60), (600, 0.60), (601, 0.40),
     (800, 0.40), (801, 0.15)],
)  # fmt: skip
def test_length_in_disclosure(tmp_path: Path, lines: int, points: float) -> None:
    parts = parts_of(tmp_path, "\n" * (lines - 1), "progressive_disclosure")

    assert parts == {"length": points, "references": 0, "assets": 0}


@pytest.mark.parametrize(
    ("lines", "files", "references", "assets"),
    [
        (400, {"references/a.md": ""}, 0.15, 0),
        (401, {"references/a.md": ""}, 0.25, 0),
        (401, {"references/sub/a.md": ""}, 0, 0),
        (1, {"references/.hidden": "", "assets/x": ""}, 0.15, 0.15),
        (1, {"assets/sub/x": ""}, 0, 0),
    ],
)
def test_files_in_disclosure(
    tmp_path: Path, lines: int, files: dict[str, str], references: float, assets: float
) -> None:
    parts = parts_of(tmp_path, "\n" * (lines - 1), "progressive_disclosure", files)

    assert isinstance(parts, dict)
    assert (parts["references"], parts["assets"]) == (references, assets)


@pytest.mark.parametrize(
    ("text", "part", "points"),
    [
        ("## a\n", "headings", 0),
        ("## a\n### b\n", "headings", 0.10),
        ("## a\n" * 4, "headings", 0.15),
        ("### a\n" * 6, "headings", 0.20),
        ("  ## a\n### b\n", "headings", 0.10),  # the body is stripped
        ("x\n ## a\n ### b\n##c\n#### d\n# e\n", "headings", 0),
        ("```\n## a\n## b\n", "headings", 0.10),
        ("```", "fences", 0.10),
        ("```\n```\n```\n", "fences", 0.15),
        ("``````` ``````", "fences", 0.15),
        ("```" * 5, "fences", 0.20),
        ("~~~\n    x\n`` `", "fences", 0),
        ("```a\n```a\n```", "languages", 0),
        ("```a\n```A\n```", "languages", 0.10),
        ("```c++ ```c# ```c", "languages", 0),
        ("``` a ```{b} ```c", "languages", 0),
        ("```a```b```c", "languages", 0.15),
        ("#### Usage", "examples", 0.15),
        ("x ## examples", "examples", 0.15),
        ("# usage ##example", "examples", 0),
        ("## Troubleshooting", "troubleshooting", 0.15),
        ("### Common Issues", "troubleshooting", 0.15),
        ("## FAQs", "troubleshooting", 0.15),
        ("# faq", "troubleshooting", 0),
        ("a || b | c", "table", 0.10),
        ("|a|\n|", "table", 0),
        ("tradeoffs", "depth", 0.05),
        ("indecisions, When To Use", "depth", 0.05),
        ("when  to use", "depth", 0),
    ],
)
def test_part_of_structure(tmp_path: Path, text: str, part: str, points: float) -> None:
    parts = parts_of(tmp_path, text, "structural_completeness")

    assert isinstance(parts, dict)
    assert parts[part] == points


@pytest.mark.parametrize(
    ("text", "part", "points"),
    [
        ("decision", "depth", 0.05),
        ("## usage ## faq", "examples", 0),
        ("## usage ## faq", "troubleshooting", 0),
        ("|||", "table", 0.10),
        ("```a```b", "languages", 0.10),
    ],
)
def test_frontmatter_counts_where_the_content_is_asked(
    tmp_path: Path, text: str, part: str, points: float
) -> None:
    parts = parts_of(tmp_path, front(text), "structural_completeness")

    assert isinstance(parts, dict)
    assert parts[part] == points


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("MUST\n", -0.2),  # 1 of 2 lines is not over 0.5
        ("MUST MUST NEVER\n", -0.4),
        ("ALWAYS" + "\n" * 9, 0.0),
        ("ALWAYS" + "\n" * 8, -0.1),
        ("must Never MUSTY xALWAYS", 0.0),
    ],
)
def test_density_of_directives(text: str, points: float) -> None:
    assert token_efficiency(text, counts_of(text, text)).parts["density"] == points


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("", 0),
        ("\n \n", 0),
        ("a\nb", 0),
        ("a\na\n", 0.5),
        ("a\n  a  \nb\n", 1 / 3),
        ("a\x0ba\x85a\u2028a", 0.75),
        ("---\n---\n----\na", 0),
        (" ---\n ---\n", 0.5),
        ("```\n```\n", 0.5),
    ],
)
def test_repeated_lines(text: str, share: float) -> None:
    parts = token_efficiency(text, counts_of(text, text)).parts

    assert parts["repetition"] == pytest.approx(-0.4 * share)


@pytest.mark.parametrize(
    ("text", "count", "part", "points"),
    [
        ("", 0, "cross_references", 0),
        ("", 1, "cross_references", 0.08),
        ("", 3, "cross_references", 0.24),
        ("", 4, "cross_references", 0.25),
        ("", 100_000, "cross_references", 0.25),
        ("related", 0, "relation", 0.25),
        ("see also", 0, "relation", 0.25),
        ("a companion.", 0, "relation", 0.25),
        ("complementary", 0, "relation", 0.25),
        ("unrelated see  also companions uncomplement", 0, "relation", 0),
    ],
)
def test_part_of_coherence(text: str, count: int, part: str, points: float) -> None:
    assert ecosystem_coherence(text, count).parts[part] == pytest.approx(points)


def test_weights_of_sub_scores_are_one_together() -> None:
    assert sum(WEIGHTS.values()) == pytest.approx(1.0)


def test_score_of_the_layer_bears_the_penalty(tmp_path: Path) -> None:
    write_tree(tmp_path / "skill", {"SKILL.md": ""})

    layer = static_skill(read_skill(tmp_path / "skill"))

    # 0.32 * 0.10 + 0.23 * 0.70 + 0.14 * 0.20 + 0.09 + 0.06 * 0.50 + 0.06, two entries.
    assert layer.score == pytest.approx(0.401 * 0.90)
    assert layer.metadata == {"skill_name": "skill", "line_count": 1}


@pytest.mark.parametrize(("value", "points"), [(0, 0), (1, 0.5), (2, 0.5), (3, 1.0)])
def test_first_step_that_is_reached_counts(value: float, points: float) -> None:
    assert reached(value, (Step(3, 1.0), Step(1, 0.5))) == points
