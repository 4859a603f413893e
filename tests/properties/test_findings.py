"""Whatever a skill says: what is found costs something, stands somewhere and can be told."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from pytest_plugin_eval.quality.composite import composite
from pytest_plugin_eval.quality.findings import findings
from pytest_plugin_eval.quality.model import Finding, LayerResult
from pytest_plugin_eval.quality.parse import read_plugin, read_skill
from pytest_plugin_eval.quality.static import static_plugin, static_skill
from pytest_plugin_eval.settings import Depth
from tests.support.flaws import FLAWS, TEXT
from tests.support.suites import write_tree

# fmt: off
PIECES = (
    "MUST ", "NEVER", "ALWAYS\n", "## Example\n", "### FAQ\n", "## a\n", "```", "```python\n",
    "````", "\n```\n", "| a | b |\n", "|||", "when to use", "output format", "return json", "input",
    "orchestrate", "dispatch ", "see also ", "skills/a", " skills/gone", " skills/it",
    "sub-skills/b",
    "(references/a.md)", "(references/A.md#x)", '(references/a.md "t")', "(references/",
    "(references/)",
    "(references/x\ny)", "(references/..)", "(references/ )", "use `Read`", "the `Bash` tool",
    "`grep` tool", "the LS tool", "\n", "\n\n", "\x0b", "\x1c", "\u2028", "---", "---\n", "\r",
    "\0", "\u202e", "İ",
    "ß", "description: x\n", "name:", " ",
)
FIELDS = (
    "name: it", "name:", "name: 3", "name: [a]", "description:", "description: x",
    "description: [a]",
    "description: Use this skill when testing, for a, for b, for c, proactively.", "paths: [a]",
    "description: |\n  a\n  b", "disable-model-invocation: true", "paths: a", "x: '", "? {}", "- a",
    "'description': Use it before.", "  description: z",
)
FILES = (
    "references/a.md", "references/B.md", "references/x/c.md", "assets/a", "sub-skills/b/SKILL.md",
)
# fmt: on
BEST = {"frontmatter_quality": 0.97}
"""What a sub-score can be at most, where that is not 1."""
RULES = {
    "frontmatter_quality": {"EMPTY_DESCRIPTION", "MISSING_TRIGGER"},
    "progressive_disclosure": {"BLOATED_SKILL"},
    "token_efficiency": {"OVER_CONSTRAINED"},
    "orchestration_wiring": {"structural_completeness"},
    "harness_portability": {"SKILL_OVER_CODEX_CAP", "CLAUDE_TOOL_REFS", "CLAUDE_TOOL_PROSE"},
}
"""Beside its own name, what findings that raise a sub-score go by."""

bodies = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=60).map("".join)
long_bodies = st.tuples(bodies, st.sampled_from([1, 3, 30, 300])).map(lambda two: two[0] * two[1])
frontmatters = st.lists(st.sampled_from(FIELDS), max_size=4).map("\n".join)
texts = st.one_of(
    long_bodies,
    st.tuples(frontmatters, long_bodies).map(lambda two: f"---\n{two[0]}\n---\n{two[1]}"),
)
beside = st.sets(st.sampled_from(FILES))


def score(layer: LayerResult) -> float:
    return composite([layer], depth_asked=Depth.QUICK).score


def check(found: tuple[Finding, ...], total: float) -> None:
    """Assert what holds of all findings: their order, their points, their words."""
    points = [finding.points for finding in found]
    assert [round(each, 9) for each in points] == sorted(
        (round(each, 9) for each in points), reverse=True
    )
    assert all(0.0 <= each <= 100.0 - total + 1e-9 for each in points)
    assert sum(points) <= 100.0
    assert all(finding.text and finding.remedy and finding.rule for finding in found)
    assert not [finding for finding in found if "\n" in finding.text + finding.remedy]


@given(text=texts, files=beside)
@example(text="", files=set())
@example(text=TEXT, files=set(FILES))
@example(text=TEXT * 2, files=set())
def test_any_skill_has_findings_that_make_sense(text: str, files: set[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch) / "it"
        write_tree(
            directory, {"SKILL.md": text.encode(errors="replace"), **dict.fromkeys(files, "")}
        )
        source = read_skill(directory)
    layer = static_skill(source)

    found = findings(source)

    check(found, score(layer))
    assert found == findings(source)
    assert {finding.file for finding in found} <= {"SKILL.md"}
    lines = [finding.line for finding in found if finding.line is not None]
    assert all(1 <= line <= source.line_count for line in lines)


@given(text=texts, files=beside)
def test_what_is_not_at_its_best_has_a_finding(text: str, files: set[str]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch) / "it"
        write_tree(
            directory, {"SKILL.md": text.encode(errors="replace"), **dict.fromkeys(files, "")}
        )
        source = read_skill(directory)
    layer = static_skill(source)

    rules = {finding.rule for finding in findings(source)}

    assert {entry.flag for entry in layer.anti_patterns} <= rules
    short = {
        name
        for name, value in layer.sub_scores.items()
        if isinstance(value, float) and value < BEST.get(name, 1.0) - 1e-9
    }
    assert {name for name in short if not rules & {name, *RULES.get(name, ())}} == set()


@given(
    skills=st.lists(texts, max_size=3),
    agents=st.lists(texts, max_size=2),
    flaws=st.sets(st.sampled_from(sorted(FLAWS)), max_size=2),
)
def test_any_plugin_has_findings_that_make_sense(
    skills: list[str], agents: list[str], flaws: set[str]
) -> None:
    files: dict[str, str | bytes] = {".claude-plugin/plugin.json": "{}"}
    for number, text in enumerate(skills):
        files[f"skills/s{number}/SKILL.md"] = text.encode(errors="replace")
    for number, text in enumerate(agents):
        files[f"agents/a{number}.md"] = text.encode(errors="replace")
    for number, flaw in enumerate(sorted(flaws)):
        for name, content in FLAWS[flaw].flawed.items():
            files[f"skills/f{number}/{name}"] = content
    with tempfile.TemporaryDirectory() as scratch:
        write_tree(Path(scratch), files)
        source = read_plugin(Path(scratch))

    found = findings(source)

    check(found, score(static_plugin(source)))
    assert {finding.file for finding in found} <= set(files)
