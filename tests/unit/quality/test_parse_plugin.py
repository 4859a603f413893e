"""Reading of plugins: their manifest, skills and agents, as far as they can be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_plugin_eval.quality.parse import read_plugin
from pytest_plugin_eval.quality.static import static_plugin
from tests.support.suites import write_tree

SKILL = "---\nname: other\ndescription: Use this skill when a test is read.\n---\n\n# Body\n"
AGENT = "---\nname: a\ndescription: An agent of twenty letters.\n---\n"


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b"1" * 5000, b"[" * 100_000, b"null"])
def test_broken_manifest_leaves_the_name_of_the_directory(tmp_path: Path, data: bytes) -> None:
    write_tree(tmp_path / "p", {".claude-plugin/plugin.json": data, "skills/a/SKILL.md": SKILL})

    source = read_plugin(tmp_path / "p")

    assert (source.name, len(source.skills)) == ("p", 1)
    (problem,) = source.problems
    assert problem.startswith(f"{tmp_path}/p/.claude-plugin/plugin.json: ")
    assert problem.endswith("; the plugin is called by its directory")


@pytest.mark.parametrize(
    ("manifest", "name", "problems"),
    [
        ('{"name": "kit"}', "kit", 0),
        ('\ufeff{"name": "kit"}', "kit", 0),
        ('{"name": ""}', "", 0),
        ("{}", "p", 0),
        ('{"name": null}', "p", 1),
        ('{"name": ["x"]}', "p", 1),
        ('{"name": "\\ud800"}', "\ufffd", 0),
    ],
)
def test_name_of_a_plugin(tmp_path: Path, manifest: str, name: str, problems: int) -> None:
    write_tree(tmp_path / "p", {".claude-plugin/plugin.json": manifest})

    source = read_plugin(tmp_path / "p")

    assert (source.name, len(source.problems)) == (name, problems)


def test_plugin_is_its_skills_and_agents_in_order(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "skills/b/SKILL.md": SKILL,
            "skills/a/SKILL.md": SKILL,
            "skills/none/README.md": "",
            "skills/file.md": "",
            "agents/z.md": AGENT,
            "agents/README.md": "",
            "agents/notes.txt": "",
            "agents/sub/x.md": AGENT,
            "commands/c.md": "",
            "nested/.claude-plugin/plugin.json": "{}",
        },
    )

    source = read_plugin(tmp_path)

    assert [skill.directory_name for skill in source.skills] == ["a", "b"]
    assert [agent.path.name for agent in source.agents] == ["README.md", "z.md"]
    assert source.problems == ()


def test_what_cannot_be_read_of_a_plugin_is_named_and_the_rest_scored(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "skills/a-bad/SKILL.md": b"\xff",
            "skills/b-good/SKILL.md": SKILL,
            "skills/c-dir/SKILL.md/x": "",
            "agents/bad.md": b"\xe9",
            "agents/dir.md/x": "",
            "agents/good.md": AGENT,
        },
    )
    (tmp_path / "skills/d-broken").mkdir()
    (tmp_path / "skills/d-broken/SKILL.md").symlink_to("gone")

    source = read_plugin(tmp_path)

    assert [skill.directory_name for skill in source.skills] == ["b-good"]
    assert [agent.name for agent in source.agents] == ["a"]
    assert [problem.removeprefix(f"{tmp_path}/") for problem in source.problems] == [
        "skills/a-bad/SKILL.md: is not UTF-8 at byte 0 (0xff), expected a text file in UTF-8;"
        " this skill is not scored",
        "skills/c-dir/SKILL.md: cannot be read: Is a directory; this skill is not scored",
        "skills/d-broken/SKILL.md: cannot be read: No such file or directory;"
        " this skill is not scored",
        "agents/bad.md: is not UTF-8 at byte 0 (0xe9), expected a text file in UTF-8;"
        " this agent is not scored",
        "agents/dir.md: cannot be read: Is a directory; this agent is not scored",
    ]


@pytest.mark.parametrize("entry", ["skills", "agents"])
def test_directory_of_a_plugin_that_is_a_file_is_told(tmp_path: Path, entry: str) -> None:
    write_tree(tmp_path, {entry: ""})

    source = read_plugin(tmp_path)

    assert source.problems == (f"{tmp_path}/{entry}: cannot be listed: Not a directory",)


@pytest.mark.parametrize(
    ("frontmatter", "score"),
    [
        ("", 0.5),
        ("description:", 0.5),
        ("description: [Use proactively]", 0.5),
        (f"description: {'x' * 19}", 0.5),
        (f"description: {'x' * 20}", 0.55),
        (f"description: {'x' * 39}", 0.55),
        (f"description: {'x' * 40}", 0.6),
        ("description: USE PROACTIVELY", 0.7),
        ("description: Use  proactively", 0.5),
        ("tools: Read", 0.6),
        ("tools: ' '", 0.6),
        ("tools: ''", 0.5),
        ("tools: [Read]", 0.6),
        ("tools: []", 0.5),
        ("tools: 7", 0.5),
        ("tools: {a: b}", 0.5),
        ("model: opus", 0.6),
        ("model:", 0.5),
        ("model: ''", 0.5),
        (f"description: use proactively {'x' * 40}\ntools: [a]\nmodel: m", 1.0),
    ],
)
def test_score_of_an_agent(tmp_path: Path, frontmatter: str, score: float) -> None:
    write_tree(tmp_path, {"agents/a.md": f"---\n{frontmatter}\n---\n"})

    layer = static_plugin(read_plugin(tmp_path))

    assert layer.sub_scores == {"skill_scores": [], "agent_scores": [pytest.approx(score)]}
    assert layer.score == pytest.approx(score)


def test_empty_plugin_is_worth_a_half(tmp_path: Path) -> None:
    layer = static_plugin(read_plugin(tmp_path))

    assert (layer.score, set(layer.dimensions.values())) == (0.5, {0.5})


@pytest.mark.parametrize("name", [".claude-plugin/plugin.json", "skills/a/SKILL.md", "agents/a.md"])
def test_pipe_in_a_plugin_is_not_waited_for(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    os.mkfifo(tmp_path / name)

    (problem,) = read_plugin(tmp_path).problems

    assert problem.startswith(f"{tmp_path}/{name}: cannot be read: it is no regular file; ")
