"""The corpus index: its file, and where a skill stands among those that it names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_plugin_eval.errors import QualityError
from pytest_plugin_eval.quality.composite import composite
from pytest_plugin_eval.quality.corpus import (
    Index,
    IndexEntry,
    Rank,
    build_index,
    index_text,
    measure_index,
    read_index,
    standing,
)
from pytest_plugin_eval.quality.model import Dimension, LayerResult, QualityReport, Target
from pytest_plugin_eval.quality.parse import read_skill
from pytest_plugin_eval.quality.static import static_skill
from pytest_plugin_eval.settings import Depth

PLAIN = "---\nname: {name}\ndescription: {words}\n---\n\n# Title\n"
POOR = PLAIN.format(name="poor", words="Things.")
FAIR = PLAIN.format(name="fair", words="Use this skill when reading a long log of a service.")
GOOD = PLAIN.format(
    name="good",
    words="Use this skill when reading a long log, when testing it, for debugging, proactively.",
)


def write_skill(source: Path, category: str, name: str, text: str | bytes = POOR) -> Path:
    directory = source / category / "skills" / name
    directory.mkdir(parents=True)
    data = text.encode() if isinstance(text, str) else text
    (directory / "SKILL.md").write_bytes(data)
    return directory


def report_of(path: Path, *, target: Target = Target.SKILL) -> QualityReport:
    layers: tuple[LayerResult, ...] = (static_skill(read_skill(path)),)
    return QualityReport(
        path=str(path),
        target=target,
        name=path.name,
        depth=Depth.QUICK,
        effective_depth=Depth.QUICK,
        layers=layers,
        composite=composite(layers, depth_asked=Depth.QUICK),
        timestamp="2026-01-01T00:00:00+00:00",
    )


def index_file(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "index.json"
    file.write_text(text, encoding="utf-8")
    return file


def test_index_names_skills_by_plugin_then_by_name(tmp_path: Path) -> None:
    for category, name in [("zeta", "b"), ("alpha", "d"), ("alpha", "c")]:
        write_skill(tmp_path, category, name)

    index = build_index(tmp_path)

    assert [(entry.category, Path(entry.path).name) for entry in index.entries] == [
        ("alpha", "c"),
        ("alpha", "d"),
        ("zeta", "b"),
    ]


def test_index_text_has_the_keys_and_indent_of_the_specification(tmp_path: Path) -> None:
    directory = write_skill(tmp_path, "one", "poor")

    text = index_text(build_index(tmp_path))

    assert text == (
        "[\n  {\n"
        '    "name": "poor",\n'
        f'    "path": "{directory}",\n'
        '    "category": "one",\n'
        '    "line_count": 7,\n'
        '    "elo_rating": 1500.0\n'
        "  }\n]\n"
    )


def test_paths_are_as_reached_from_the_source_as_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_skill(tmp_path / "plugins", "one", "poor")
    monkeypatch.chdir(tmp_path)

    index = build_index(Path("plugins"))

    assert [entry.path for entry in index.entries] == ["plugins/one/skills/poor"]


@pytest.mark.parametrize(
    "left_out",
    [
        pytest.param("one/skills/x/README.md", id="a directory without SKILL.md"),
        pytest.param("one/skills/SKILL.md", id="a file beside the skills"),
        pytest.param("one/agents/SKILL.md", id="no skills directory"),
        pytest.param("SKILL.md", id="a file beside the plugins"),
        pytest.param("one/skills/x/y/SKILL.md", id="a nested skill"),
    ],
)
def test_what_is_no_skill_of_a_plugin_is_not_in_the_index(tmp_path: Path, left_out: str) -> None:
    (tmp_path / left_out).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / left_out).write_text(POOR, encoding="utf-8")

    index = build_index(tmp_path)

    assert index == Index(entries=())


def test_skill_that_cannot_be_read_is_left_out_and_named(tmp_path: Path) -> None:
    write_skill(tmp_path, "one", "bad", b"---\nname: \xff\n---\n")
    write_skill(tmp_path, "one", "poor")

    index = build_index(tmp_path)

    assert [entry.name for entry in index.entries] == ["poor"]
    assert len(index.problems) == 1
    assert "bad" in index.problems[0]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("3", 3),
        ("1.5", 1.5),
        (".nan", "nan"),
        (".inf", "inf"),
        ("2026-01-01", "2026-01-01"),
        ("", None),
        ("[a]", "['a']"),
    ],
)
def test_name_of_any_type_is_written_as_json(
    tmp_path: Path, written: str, name: str | float | None
) -> None:
    write_skill(tmp_path, "one", "x", f"---\nname: {written}\n---\n")

    text = index_text(build_index(tmp_path))

    assert json.loads(text)[0]["name"] == name


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("gone", "gone: no such directory, expected one that holds plugins"),
        ("file", "file: expected a directory that holds plugins, got a file"),
        ("x" * 5000, f"{'x' * 5000}: no such directory, expected one that holds plugins"),
        ("a\0b", "a b: no such directory, expected one that holds plugins"),
    ],
)
def test_source_that_is_no_directory_is_refused(tmp_path: Path, path: str, message: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(QualityError) as caught:
        build_index(tmp_path / path)

    assert str(caught.value) == f"{tmp_path}/{message}"


def test_index_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_skill(tmp_path / "plugins", "one", "poor")
    write_skill(tmp_path / "plugins", "two", "fair", FAIR)
    index = build_index(tmp_path / "plugins")
    file = index_file(tmp_path, index_text(index))

    by_file, by_directory = read_index(file), read_index(tmp_path)

    assert by_file.entries == index.entries
    assert by_directory == by_file
    assert by_file.file == file


GOOD_ENTRY: dict[str, object] = {
    "name": "a",
    "path": "p",
    "category": "c",
    "line_count": 3,
    "elo_rating": 1500.0,
}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "expected the JSON of a corpus index"),
        ("[" * 100_000, "expected the JSON of a corpus index"),
        ("[1" + "0" * 5000 + "]", "expected the JSON of a corpus index"),
        ("{}", "expected a list of skills, got {}"),
        ("[1]", "skill 1: expected an object, got 1"),
        ("[{}]", "skill 1: path must be that of a skill, got None"),
    ],
)
def test_broken_index_is_one_clear_error(tmp_path: Path, text: str, complaint: str) -> None:
    file = index_file(tmp_path, text)

    with pytest.raises(QualityError) as caught:
        read_index(file)

    assert str(caught.value).startswith(f"{file}: {complaint}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("name", ["a"], "name must be a string, got ['a']"),
        ("path", 3, "path must be that of a skill, got 3"),
        ("path", "", "path must be that of a skill, got ''"),
        ("category", None, "category must be a string, got None"),
        ("line_count", "3", "line_count must be an integer, got '3'"),
        ("line_count", True, "line_count must be an integer, got True"),
        ("line_count", 1.5, "line_count must be an integer, got 1.5"),
        ("elo_rating", "high", "elo_rating must be a number, got 'high'"),
        ("elo_rating", False, "elo_rating must be a number, got False"),
        ("elo_rating", 10**400, f"elo_rating must be a number, got 1{'0' * 78}…"),
    ],
)
def test_entry_with_a_wrong_value_is_named_by_its_place(
    tmp_path: Path, field: str, value: object, complaint: str
) -> None:
    file = index_file(tmp_path, json.dumps([GOOD_ENTRY, GOOD_ENTRY | {field: value}]))

    with pytest.raises(QualityError) as caught:
        read_index(file)

    assert str(caught.value) == f"{file}: skill 2: {complaint}"


@pytest.mark.parametrize(("path", "file"), [(".", "index.json"), ("gone", "gone")])
def test_index_that_is_not_there_names_the_command_that_writes_it(
    tmp_path: Path, path: str, file: str
) -> None:
    with pytest.raises(QualityError) as caught:
        read_index(tmp_path / path)

    message = f"{tmp_path / file}: no corpus index, `plugin-eval init` writes one"
    assert str(caught.value) == message


def test_key_of_a_later_version_is_ignored(tmp_path: Path) -> None:
    file = index_file(tmp_path, json.dumps([GOOD_ENTRY | {"colour": "red"}]))

    index = read_index(file)

    assert index.entries == (IndexEntry(name="a", path="p", category="c", line_count=3),)


@pytest.mark.parametrize(
    ("lower", "equal", "total", "share"),
    [(0, 0, 4, 0.0), (4, 0, 4, 1.0), (1, 2, 4, 0.5), (0, 4, 4, 0.5), (3, 1, 4, 0.875)],
)
def test_percentile_rank_is_those_below_and_half_of_the_equals(
    lower: int, equal: int, total: int, share: float
) -> None:
    rank = Rank(score=0.0, lower=lower, equal=equal, total=total)

    assert rank.share == share


def test_skill_stands_among_the_others_and_not_beside_itself(tmp_path: Path) -> None:
    skills = {
        "poor": POOR,
        "fair": FAIR,
        "fair-too": FAIR.replace("name: fair", "name: fair-too"),
        "good": GOOD,
    }
    for name, text in skills.items():
        write_skill(tmp_path, "one", name, text)
    index = build_index(tmp_path)

    stands = standing(report_of(tmp_path / "one/skills/fair"), index)

    assert stands.compared == 3
    assert (stands.composite.lower, stands.composite.equal) == (1, 1)
    assert stands.composite.share == 0.5
    triggering = stands.dimensions[Dimension.TRIGGERING_ACCURACY]
    assert (triggering.lower, triggering.equal, triggering.total) == (1, 1, 3)
    assert stands.dimensions[Dimension.TOKEN_EFFICIENCY].equal == 3
    assert list(stands.dimensions) == [d for d in Dimension if d in stands.dimensions]
    assert len(stands.dimensions) == 6


@pytest.mark.parametrize("spelling", ["one/skills/fair", "one/../one/skills/fair", "link"])
def test_skill_is_known_as_itself_by_its_resolved_path(tmp_path: Path, spelling: str) -> None:
    write_skill(tmp_path, "one", "fair", FAIR)
    (tmp_path / "link").symlink_to(tmp_path / "one/skills/fair")

    stands = standing(report_of(tmp_path / spelling), build_index(tmp_path))

    assert stands.compared == 0
    assert stands.composite.share is None


def test_skill_given_by_its_file_is_not_compared_with_itself(tmp_path: Path) -> None:
    directory = write_skill(tmp_path, "one", "fair", FAIR)

    stands = standing(report_of(directory / "SKILL.md"), build_index(tmp_path))

    assert stands.compared == 0


def test_skill_that_two_entries_name_counts_once(tmp_path: Path) -> None:
    directory = write_skill(tmp_path, "one", "fair", FAIR)
    entry = IndexEntry(name="fair", path=str(directory), category="one", line_count=7)

    measured = measure_index(Index(entries=(entry, entry)))

    assert list(measured.scores) == [directory.resolve()]


def test_skills_that_vanished_are_named_and_the_rest_compared(tmp_path: Path) -> None:
    for name in ("fair", "good", "poor"):
        write_skill(tmp_path, "one", name, {"fair": FAIR, "good": GOOD, "poor": POOR}[name])
    index = build_index(tmp_path)
    (tmp_path / "one/skills/good/SKILL.md").unlink()

    stands = standing(report_of(tmp_path / "one/skills/fair"), index)

    assert stands.compared == 1
    assert stands.missing == (str(tmp_path / "one/skills/good"),)
    assert stands.problems == ()


def test_skill_of_the_index_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    write_skill(tmp_path, "one", "fair", FAIR)
    write_skill(tmp_path, "one", "poor", POOR)
    index = build_index(tmp_path)
    (tmp_path / "one/skills/poor/SKILL.md").write_bytes(b"\xff")

    stands = standing(report_of(tmp_path / "one/skills/fair"), index)

    assert stands.compared == 0
    assert stands.missing == ()
    assert len(stands.problems) == 1
    assert "poor" in stands.problems[0]


@pytest.mark.parametrize(
    ("cwd", "file"),
    [
        pytest.param("here", "away/index.json", id="below the working directory"),
        pytest.param("away", "here/index.json", id="below the directory of the index"),
    ],
)
def test_relative_paths_are_found(tmp_path: Path, cwd: str, file: str) -> None:
    directory = write_skill(tmp_path / "here/plugins", "one", "fair", FAIR)
    entry = IndexEntry(name="fair", path="plugins/one/skills/fair", category="one", line_count=7)

    measured = measure_index(Index(entries=(entry,), file=tmp_path / file), cwd=tmp_path / cwd)

    assert list(measured.scores) == [directory.resolve()]


def test_working_directory_goes_before_that_of_the_index(tmp_path: Path) -> None:
    first = write_skill(tmp_path / "here/plugins", "one", "fair", FAIR)
    write_skill(tmp_path / "away/plugins", "one", "fair", GOOD)
    entry = IndexEntry(name="fair", path="plugins/one/skills/fair", category="one", line_count=7)

    measured = measure_index(
        Index(entries=(entry,), file=tmp_path / "away/index.json"), cwd=tmp_path / "here"
    )

    assert list(measured.scores) == [first.resolve()]


def test_index_of_which_nothing_is_found_says_where_it_was_looked_for(tmp_path: Path) -> None:
    file = tmp_path / "away/index.json"
    entries = tuple(
        IndexEntry(name=None, path=path, category="one", line_count=7)
        for path in ("plugins/a", "x\0y", "z" * 5000)
    )

    measured = measure_index(Index(entries=entries, file=file), cwd=tmp_path)

    assert measured.scores == {}
    assert measured.missing == ("plugins/a", "x\0y", "z" * 5000)
    assert measured.problems == (
        f"{file}: none of its 3 skills is there, looked below {tmp_path} and {file.parent};"
        " `plugin-eval init` writes it anew",
    )


def test_plugin_has_no_place_among_skills(tmp_path: Path) -> None:
    directory = write_skill(tmp_path, "one", "fair", FAIR)

    with pytest.raises(QualityError) as caught:
        standing(report_of(directory, target=Target.PLUGIN), Index(entries=()))

    assert str(caught.value) == (
        f"{directory}: a plugin has no place among the skills of a corpus,"
        " expected one of its skills"
    )


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b"])
def test_index_of_an_impossible_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(QualityError):
        read_index(tmp_path / name)


def test_message_is_one_line_whatever_the_path(tmp_path: Path) -> None:
    with pytest.raises(QualityError) as caught:
        read_index(tmp_path / "a\nb\udcff")

    assert str(caught.value).startswith(f"{tmp_path}/a b\ufffd: no corpus index")
