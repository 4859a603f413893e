"""`plugin-eval score`, `certify`, `compare` and `init`. Spec: quality-score, 13 and 14."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from pytest_plugin_eval.cli.main import main
from tests.support.scores import (
    QUICK_SCORE,
    answer_by,
    whole_judge,
)
from tests.support.skills import write_skill

Captured = pytest.CaptureFixture[str]

pytestmark = pytest.mark.usefixtures("scored_place")


def test_json_has_the_numbers_of_the_specification(capsys: Captured) -> None:
    assert main(["score", "w1", "--depth", "quick", "--output", "json"]) == 0

    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document["plugin_path"] == "w1"
    assert document["composite"]["score"] == pytest.approx(QUICK_SCORE, abs=1e-9)
    assert document["config"] == {
        "depth": "quick",
        "concurrency": 4,
        "output_format": "json",
        "verbose": False,
        "corpus_path": None,
        "judges": 1,
        "monte_carlo_n": None,
    }
    assert err == ""


@pytest.mark.parametrize("path", ["w1", "w1/", "w1/SKILL.md", "demo/skills/../../w1"])
def test_skill_may_be_spelt_in_many_ways(path: str, capsys: Captured) -> None:
    assert main(["score", path, "--depth", "quick", "--output", "json"]) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["plugin_path"] == path
    assert document["composite"]["score"] == pytest.approx(QUICK_SCORE, abs=1e-9)


@pytest.mark.parametrize(
    ("output", "start"),
    [
        ([], "# Quality score: w1\n"),
        (["--output", "markdown"], "# Quality score: w1\n"),
        (["--output", "html"], "<!DOCTYPE html>"),
        (["--output", "table"], "w1 (skill, quick): w1\n"),
    ],
)
def test_output(output: list[str], start: str, capsys: Captured) -> None:
    assert main(["score", "w1", "--depth", "quick", *output]) == 0

    assert capsys.readouterr().out.startswith(start)


def test_several_paths_make_a_list_in_the_order_given(capsys: Captured) -> None:
    assert main(["score", "other", "w1", "demo", "--depth", "quick", "--output", "json"]) == 0

    documents = json.loads(capsys.readouterr().out)
    assert [one["plugin_path"] for one in documents] == ["other", "w1", "demo"]


def test_path_that_fails_leaves_the_others_be(capsys: Captured) -> None:
    (odd := Path("odd")).mkdir()
    (odd / "SKILL.md").write_bytes(b"---\nname: \xff\n---\n")

    code = main(["score", "nope", "odd", "w1", "--depth", "quick", "--output", "json"])

    out, err = capsys.readouterr()
    assert code == 2
    assert [one["plugin_path"] for one in json.loads(out)] == ["w1"]
    assert [line.split(":")[:2] for line in err.splitlines()] == [
        ["Error", " nope"],
        ["Error", f" {Path('odd', 'SKILL.md')}"],
    ]


@pytest.mark.parametrize("command", ["score", "certify"])
def test_nothing_is_printed_where_nothing_can_be_scored(command: str, capsys: Captured) -> None:
    assert main([command, "nope"]) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert len([line for line in err.splitlines() if line.startswith("Error: ")]) == 1


@pytest.mark.parametrize(
    ("threshold", "code"), [("60", 0), ("60.984848484848", 0), ("60.99", 1), ("101", 1)]
)
def test_threshold(threshold: str, code: int, capsys: Captured) -> None:
    arguments = ["score", "w1", "--depth", "quick", "--output", "json", "--threshold", threshold]

    assert main(arguments) == code

    out, err = capsys.readouterr()
    assert json.loads(out)["composite"]["badge"] == "bronze"
    assert ("below --threshold" in err) == bool(code)


def test_threshold_is_held_against_each(capsys: Captured) -> None:
    assert main(["score", "w1", "other", "--depth", "quick", "--threshold", "50"]) == 1

    err = capsys.readouterr().err
    assert [line for line in err.splitlines() if "--threshold" in line] == [
        line for line in err.splitlines() if line.startswith("other: composite ")
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score"], "Missing argument"),
        (["score", "w1", "--depth", "Quick"], "--depth"),
        (["score", "w1", "--depth", "deepest"], "--depth"),
        (["score", "w1", "--output", "xml"], "--output"),
        (["score", "w1", "--concurrency", "0"], "--concurrency"),
        (["score", "w1", "--concurrency", "21"], "--concurrency"),
        (["score", "w1", "--judges", "6"], "--judges"),
        (["score", "w1", "--judge-chars", "0"], "expected a whole number above 0, or all"),
        (["score", "w1", "--judge-chars", "\N{SUPERSCRIPT TWO}"], "--judge-chars"),
        (["score", "w1", "--threshold", "nan"], "--threshold"),
        (["score", "w1", "--max-cost-usd", "-1"], "--max-cost-usd"),
        (["score", "w1", "--max-cost-usd", "inf"], "--max-cost-usd"),
        (["score", "w1", "--depth", "quick", "--corpus", "nowhere"], "no corpus index"),
        (["certify", "w1", "--depth", "quick"], "--depth"),
        (["compare", "w1"], "Missing argument"),
        (["compare", "w1", "w1", "w1"], "unexpected extra argument"),
        (["compare", "w1", "demo"], "demo: compare takes skills, got a plugin"),
        (["compare", "w1", "w1", "--output", "xml"], "--output"),
        (["init", "nowhere"], "nowhere"),
        (["init", "w1/SKILL.md"], "got a file"),
        (["init", ".", "--corpus-dir", "w1/SKILL.md"], "cannot be written"),
        (["init", ".", "--corpus-dir", "~nobody-of-that-name/x"], "no such home directory"),
        (["score", "w1", "--corpus=~nobody-of-that-name"], "no such home directory"),
        (["score", "w1", "--judge-chars", "9" * 5000], "--judge-chars"),
    ],
)
def test_bad_usage_is_2_and_told_on_stderr(
    arguments: list[str], message: str, capsys: Captured
) -> None:
    assert main(arguments) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


@pytest.mark.parametrize("command", ["score", "certify"])
def test_plugin_is_told_that_only_the_static_layer_runs(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    backend = whole_judge()
    answer_by(monkeypatch, backend)

    assert main([command, "demo"]) == 0

    err = capsys.readouterr().err
    depth = "standard" if command == "score" else "deep"
    assert err.startswith("warning: demo: only the static layer runs on a plugin")
    assert depth in err
    assert "Estimated" in err
    assert "experimental" not in err
    assert backend.requests == []


@pytest.mark.parametrize(
    ("options", "explained"),
    [
        (["--output", "json"], False),
        (["--output", "json", "--explain"], True),
        (["--output", "markdown"], False),
        (["--output", "markdown", "--explain"], True),
        (["--output", "table"], False),
        (["--output", "table", "--explain"], True),
        (["--output", "html"], True),
        (["--output", "html", "--no-explain"], False),
    ],
)
def test_explain(options: list[str], explained: bool, capsys: Captured) -> None:
    assert main(["score", "other", "--depth", "quick", *options]) == 0

    assert ("SKILL.md:3" in capsys.readouterr().out.replace('"line": 3', "SKILL.md:3")) == explained


def test_corpus_is_written_and_read(scored_place: Path, capsys: Captured) -> None:
    shutil.copytree(scored_place / "other", scored_place / "plugins" / "p" / "skills" / "other")
    write_skill(scored_place / "plugins" / "q" / "skills" / "w1")

    assert main(["init", "plugins"]) == 0
    assert capsys.readouterr().out.startswith("2 skills in ")
    index = Path.home() / ".plugineval" / "corpus" / "index.json"
    assert [one["name"] for one in json.loads(index.read_text())] == ["other", "w1"]

    assert main(["score", "w1", "demo", "--depth", "quick", "--output", "json", "--corpus"]) == 0
    out, err = capsys.readouterr()
    skill, plugin = json.loads(out)
    assert (skill["standing"]["compared"], skill["standing"]["composite"]["lower"]) == (2, 1)
    assert "standing" not in plugin
    assert skill["config"]["corpus_path"] == str(index.parent)
    assert err == "note: demo: a plugin has no place among the skills of a corpus\n"


def test_init_leaves_out_what_it_cannot_read(scored_place: Path, capsys: Captured) -> None:
    (scored_place / "plugins" / "p" / "skills" / "bad").mkdir(parents=True)
    (scored_place / "plugins" / "p" / "skills" / "bad" / "SKILL.md").write_bytes(b"\xff")

    assert main(["init", "plugins", "--corpus-dir", "here"]) == 0

    out, err = capsys.readouterr()
    assert out == f"0 skills in {Path('here', 'index.json')}\n"
    broken, nothing = err.splitlines()
    assert broken.startswith("warning: plugins/p/skills/bad/SKILL.md: is not UTF-8 at byte 0")
    assert nothing == "warning: plugins: holds no skill that can be read"


@pytest.mark.parametrize(
    ("output", "start"),
    [
        ([], "# w1 and other\n"),
        (["--output", "html"], "<!DOCTYPE html>"),
        (["--output", "table"], "w1 and other\n"),
        (["--output", "json"], '{\n  "a": {'),
    ],
)
def test_compare(output: list[str], start: str, capsys: Captured) -> None:
    assert main(["compare", "w1", "other", *output]) == 0

    out, err = capsys.readouterr()
    assert out.startswith(start)
    assert err == ""


def test_compare_names_both_that_fail(capsys: Captured) -> None:
    assert main(["compare", "nope", "demo"]) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 2
