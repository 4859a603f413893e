"""What costs points: that it is found where it is, and that mending it wins what is said."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pytest_plugin_eval.quality.composite import composite
from pytest_plugin_eval.quality.findings import findings
from pytest_plugin_eval.quality.model import Finding
from pytest_plugin_eval.quality.parse import read_plugin, read_skill
from pytest_plugin_eval.quality.static import static_plugin, static_skill
from pytest_plugin_eval.settings import Depth
from tests.support.flaws import FLAWLESS, FLAWS, Flaw, described, edited, skill, write_skill
from tests.support.suites import write_tree
from tests.support.worked_skills import LIMITS

AGENT = (
    "---\nname: a\ndescription: Use proactively when a limit has to be looked at in depth.\n"
    "tools: Read\nmodel: inherit\n---\n\nBody.\n"
)
OTHER_SKILL = "---\nname: other\ndescription: Use when x.\n---\n\nSee skills/nothing and more.\n"
every_flaw = pytest.mark.parametrize("flaw", FLAWS.values(), ids=FLAWS)


def score_of_skill(directory: Path) -> float:
    return composite([static_skill(read_skill(directory))], depth_asked=Depth.QUICK).score


def score_of_plugin(directory: Path) -> float:
    return composite([static_plugin(read_plugin(directory))], depth_asked=Depth.QUICK).score


def write_plugin(root: Path, files: dict[str, str] | None = None, *, agent: str = AGENT) -> Path:
    write_skill(root / "skills", FLAWLESS if files is None else files)
    return write_tree(
        root,
        {
            ".claude-plugin/plugin.json": '{"name": "demo"}',
            "skills/other/SKILL.md": OTHER_SKILL,
            "agents/helper.md": agent,
        },
    )


def the_one(found: tuple[Finding, ...], flaw: Flaw, file: str) -> Finding:
    """Return the finding of a flaw; there is exactly one."""
    (finding,) = [
        each
        for each in found
        if each.rule == flaw.rule and flaw.told in each.text and each.file == file
    ]
    return finding


def test_skill_that_lacks_nothing_has_no_finding(tmp_path: Path) -> None:
    directory = write_skill(tmp_path, FLAWLESS)

    assert findings(read_skill(directory)) == ()


@every_flaw
def test_flaw_is_found_at_its_line(tmp_path: Path, flaw: Flaw) -> None:
    directory = write_skill(tmp_path, flaw.flawed)

    found = findings(read_skill(directory))

    assert the_one(found, flaw, "SKILL.md").line == flaw.line
    assert (len(found) == 1) is flaw.alone


@every_flaw
def test_skill_gains_the_points_of_what_is_mended(tmp_path: Path, flaw: Flaw) -> None:
    flawed = write_skill(tmp_path / "flawed", flaw.flawed)
    mended = write_skill(tmp_path / "mended", flaw.mended)

    finding = the_one(findings(read_skill(flawed)), flaw, "SKILL.md")

    gained = score_of_skill(mended) - score_of_skill(flawed)
    assert finding.points == pytest.approx(gained, abs=1e-9)


@every_flaw
def test_plugin_gains_the_points_of_what_is_mended(tmp_path: Path, flaw: Flaw) -> None:
    flawed = write_plugin(tmp_path / "flawed", dict(flaw.flawed))
    mended = write_plugin(tmp_path / "mended", dict(flaw.mended))

    finding = the_one(findings(read_plugin(flawed)), flaw, "skills/limits/SKILL.md")

    gained = score_of_plugin(mended) - score_of_plugin(flawed)
    assert finding.points == pytest.approx(gained, abs=1e-9)


@every_flaw
def test_what_is_mended_is_found_no_more(tmp_path: Path, flaw: Flaw) -> None:
    directory = write_skill(tmp_path, flaw.mended)

    found = findings(read_skill(directory))

    assert [each for each in found if flaw.told in each.text and each.rule == flaw.rule] == []


@pytest.mark.parametrize(
    ("told", "line", "edits"),
    [
        ("does not say 'use proactively'", 3, [("Use proactively when", "Use it when some")]),
        ("names no tools", None, [("tools: Read\n", "")]),
        ("names no tools", 4, [("tools: Read\n", "tools: []\n")]),
        ("names no model", 5, [("model: inherit", "model:")]),
        (
            "the agent's description has 28 characters, 40 or more",
            3,
            [(" when a limit has to be looked at in depth", " when it is.")],
        ),
        (
            "the agent's description has 16 characters, 40 or more",
            3,
            [(" when a limit has to be looked at in depth", "")],
        ),
    ],
)
def test_agent_gains_the_points_of_what_is_mended(
    tmp_path: Path, told: str, line: int | None, edits: list[tuple[str, str]]
) -> None:
    flawed = write_plugin(tmp_path / "flawed", agent=edited(AGENT, *edits))
    mended = write_plugin(tmp_path / "mended")

    found = [each for each in findings(read_plugin(flawed)) if each.file.startswith("agents/")]

    assert [(each.file, each.rule) for each in found] == [("agents/helper.md", "agent_quality")]
    assert told in found[0].text
    assert found[0].line == line
    gained = score_of_plugin(mended) - score_of_plugin(flawed)
    assert found[0].points == pytest.approx(gained, abs=1e-9)


@pytest.mark.parametrize(
    ("file", "agent", "is_told"),
    [
        ("agents/README.md", AGENT.replace("model: inherit\n", ""), True),
        ("agents/notes.md", "# Notes\n", True),
        ("agents/other.md", AGENT.replace("model: inherit\n", ""), False),
    ],
)
def test_file_that_is_an_agent_by_its_place_alone_is_told(
    tmp_path: Path, file: str, agent: str, is_told: bool
) -> None:
    write_tree(write_plugin(tmp_path), {file: agent})

    found = [each for each in findings(read_plugin(tmp_path)) if each.file == file]

    hint = f"every .md file in agents/ is taken for an agent, '{Path(file).name}' too"
    assert [hint in each.text for each in found] == [is_told] * len(found)
    assert found


def test_empty_plugin_is_told_of_its_points(tmp_path: Path) -> None:
    write_tree(tmp_path, {".claude-plugin/plugin.json": "{}"})

    found = findings(read_plugin(tmp_path))

    assert [(each.rule, each.points) for each in found] == [("empty_plugin", 0.0)]
    assert found[0].text == (
        "the plugin has no skill and no agent, and 50 points all the same, an odd rule"
    )


def test_dearest_finding_comes_first(tmp_path: Path) -> None:
    flawed = skill(
        ("Use this skill when", "It serves when"), ("| a | b | c |", "a"), ("## End", "End")
    )
    directory = write_skill(tmp_path, flawed)

    found = findings(read_skill(directory))

    assert [each.rule for each in found] == [
        "MISSING_TRIGGER",
        "structural_completeness",
        "structural_completeness",
    ]
    assert found[1].text.startswith("there is no table")


@pytest.mark.parametrize(
    ("dead", "wins", "is_told"),
    [(10, True, False), (11, False, True), (12, False, True)],
)
def test_anti_pattern_beyond_the_limit_of_the_penalty_says_that_it_wins_nothing(
    tmp_path: Path, dead: int, wins: bool, is_told: bool
) -> None:
    paths = ", ".join(f"skills/gone-{i}" for i in range(dead))
    directory = write_skill(tmp_path, skill(("skills/pools and", f"{paths} and")))

    found = [each for each in findings(read_skill(directory)) if each.rule == "DEAD_CROSS_REF"]

    limit = (
        f"there are {dead} anti-patterns, and the penalty is at its limit with {dead - 1} as well"
    )
    assert len(found) == dead
    assert [each.points > 0 for each in found] == [wins] * dead
    assert [limit in each.text for each in found] == [is_told] * dead


def test_cause_of_more_anti_patterns_than_count_wins_what_the_penalty_gives(tmp_path: Path) -> None:
    links = "[b](references/b.md) " * 12
    flawed = skill(("The [table]", f"{links} The [table]"))
    directory = write_skill(tmp_path / "flawed", flawed)
    mended = write_skill(tmp_path / "mended", {**flawed, "references/b.md": ""})

    (finding,) = findings(read_skill(directory))

    assert finding.points == pytest.approx(score_of_skill(mended) - score_of_skill(directory))
    assert "limit" not in finding.text


@pytest.mark.parametrize(
    ("text", "told", "remedy"),
    [
        ("", "there is no frontmatter, and so", "begin the file with a frontmatter"),
        ("# Title\n", "there is no frontmatter, and so", "begin the file with a frontmatter"),
        ("---\nname: x\n", "there is no frontmatter, and so", "begin the file with a frontmatter"),
        ("---\n---\n", "the frontmatter gives no fields", "write the frontmatter as fields"),
        ("---\ndescription: 'x\n---\n", "the frontmatter gives no fields", "write the frontmatter"),
        ("---\n- a\n---\n", "the frontmatter gives no fields", "write the frontmatter as fields"),
        ("---\nname: x\n---\n", "there is no description", "add a field 'description'"),
        ("---\ndescription:\n---\n", "the description is no text", "say in a sentence or two"),
    ],
)
def test_remedy_of_a_missing_description_says_where_it_goes(
    tmp_path: Path, text: str, told: str, remedy: str
) -> None:
    directory = write_skill(tmp_path, {"SKILL.md": text})

    found = [each for each in findings(read_skill(directory)) if each.rule == "EMPTY_DESCRIPTION"]

    assert [each.text.startswith(told) for each in found] == [True]
    assert found[0].remedy.startswith(remedy)


def test_platinum_skill_has_but_the_findings_that_it_has(tmp_path: Path) -> None:
    files = {
        "SKILL.md": LIMITS,
        "references/table.md": "",
        "assets/t.txt": "",
    }
    directory = write_skill(tmp_path, files)

    found = findings(read_skill(directory))

    assert score_of_skill(directory) == pytest.approx(96.80352707401887, abs=1e-9)
    assert [(each.rule, each.line) for each in found] == [
        ("progressive_disclosure", None),
        ("ecosystem_coherence", None),
        ("token_efficiency", 22),
    ]
    # Weights of the composite over 0.66: 0.10 * 0.10, 0.02 * 0.17, 0.06 * 0.4 * 2 / 244.
    assert [each.points for each in found] == [
        pytest.approx(1.5151515151515151, abs=1e-9),
        pytest.approx(0.5151515151515151, abs=1e-9),
        pytest.approx(0.0298062593144560, abs=1e-9),
    ]


def test_anti_pattern_of_a_plugin_says_that_it_is_paid_for_twice(tmp_path: Path) -> None:
    write_plugin(tmp_path)

    found = findings(read_plugin(tmp_path))

    twice = "; a plugin pays for it twice, in the skill's score and in its own"
    assert {each.rule for each in found if each.text.endswith(twice)} == {
        "EMPTY_DESCRIPTION",
        "DEAD_CROSS_REF",
    }


@pytest.mark.parametrize(
    ("paths", "is_flagged", "is_told"),
    [("[a]", True, True), ("a", False, False), ("''", True, False)],
)
def test_list_of_paths_is_told_not_to_exempt(
    tmp_path: Path, paths: str, is_flagged: bool, is_told: bool
) -> None:
    text = described(f"paths: {paths}\ndescription: It serves when needed, all in all.\n")
    directory = write_skill(tmp_path, text)

    (finding,) = [
        each
        for each in findings(read_skill(directory))
        if "does not say when to use the skill" in each.text
    ]

    assert (finding.rule == "MISSING_TRIGGER") is is_flagged
    assert ("a list of paths does not exempt a skill" in finding.text) is is_told


@pytest.mark.parametrize(
    ("link", "remedy"),
    [
        (
            "tabel.md",
            "make the file 'references/tabel.md' or correct the link, did you mean 'table.md'?",
        ),
        ("zzz", "make the file 'references/zzz' or correct the link"),
        ("sub/table.md#a", "link it plainly, 'references/sub/table.md'"),
        (
            "b.md#a",
            "make the file 'references/b.md' and link it plainly, without a fragment or title",
        ),
        ("..", "correct the link to a file in references/"),
        ("#a", "correct the link to a file in references/"),
        (" ", "correct the link to a file in references/"),
    ],
)
def test_remedy_of_an_orphan_fits_its_link(tmp_path: Path, link: str, remedy: str) -> None:
    directory = write_skill(tmp_path, skill(("references/table.md", f"references/{link}")))

    (finding,) = findings(read_skill(directory))

    assert finding.remedy == remedy


def test_remedy_of_missing_references_names_the_files_that_are_linked(tmp_path: Path) -> None:
    links = "".join(f"[{name}](references/{name}) " for name in "dcba")
    flawed = skill(("[table](references/table.md)", links), without=["references/table.md"])
    directory = write_skill(tmp_path, flawed)

    remedies = [
        each.remedy
        for each in findings(read_skill(directory))
        if each.text == "there is no file directly in references/"
    ]

    assert remedies == [
        "move what is not needed every time into a file in references/, and link it"
        " (the text links there already to 'a', 'b', 'c' and 1 more: they have to be among them)"
    ]


def test_skill_reached_by_a_link_is_named_below_skills(tmp_path: Path) -> None:
    target = write_skill(tmp_path / "elsewhere", skill(("Use this skill when", "It serves when")))
    write_tree(tmp_path / "plugin", {"skills/pools/x": ""})
    (tmp_path / "plugin/skills/linked").symlink_to(target)

    found = findings(read_plugin(tmp_path / "plugin"))

    assert [(each.file, each.rule) for each in found] == [
        ("skills/linked/SKILL.md", "MISSING_TRIGGER")
    ]


def test_many_dead_links_take_no_time_to_speak_of(tmp_path: Path) -> None:
    links = "".join(f"[x](references/gone-{i}.md) skills/gone-{i}\n" for i in range(2000))
    directory = write_skill(tmp_path, skill(("## End\n", f"## End\n{links}")))
    start = time.process_time()

    found = findings(read_skill(directory))

    assert len(found) > 4000
    assert time.process_time() - start < 5
