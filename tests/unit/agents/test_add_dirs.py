"""Opened directories in the midst of closed ones."""

from __future__ import annotations

from pathlib import Path

from pytest_plugin_eval.agents.add_dirs import Closed, closed_around, open_directories
from pytest_plugin_eval.agents.rules import allow_rules, deny_rules
from pytest_plugin_eval.agents.sandbox import Sandbox
from pytest_plugin_eval.records.model import Arm
from tests.support.agents import make_case, write_files

FILES = {
    "evals/other/prompt.md": "",
    "evals/loose.txt": "",
    "evals/hello/case.yaml": "",
    "evals/hello/graders/g.md": "",
    "evals/hello/data/x.txt": "",
    "evals/hello/more/deep/z.txt": "",
    "evals/hello/more/hidden.txt": "",
}


def closed(root: Path, *opened: str) -> list[str]:
    places = closed_around([root / "evals"], [root / "evals" / "hello" / name for name in opened])
    return [f"{place.path.relative_to(root)}{'*' if place.is_prefix else ''}" for place in places]


def test_nothing_opened_leaves_the_place_closed(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)

    assert closed_around([tmp_path / "evals"], []) == (Closed(tmp_path / "evals"),)


def test_everything_but_the_way_to_what_is_open_stays_closed(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)

    assert closed(tmp_path, "data", "more/deep") == [
        "evals/loose.txt",
        "evals/other",
        "evals/hello/case.yaml",
        "evals/hello/graders",
        "evals/hello/more/hidden.txt",
    ]


def test_closed_place_in_an_opened_one_stays_closed(tmp_path: Path) -> None:
    inner, opened = tmp_path / "evals/hello/data/results", [tmp_path / "evals/hello/data"]

    assert closed_around([inner], opened) == (Closed(inner),)


def test_many_entries_share_rules_by_how_they_begin(tmp_path: Path) -> None:
    names = [f"case-{number:03}" for number in range(500)]
    write_files(tmp_path, {f"evals/{name}/prompt.md": "" for name in (*names, "hello", "h", ".x")})
    write_files(tmp_path, {"evals/HELLO2/prompt.md": "", "evals/hello/data/x": ""})

    assert closed(tmp_path, "data") == [
        "evals/.x*",
        "evals/HELLO2*",
        "evals/c*",
        "evals/h",
        "evals/hello/prompt.md",
    ]


def test_sibling_that_differs_by_case_does_not_close_what_is_open(tmp_path: Path) -> None:
    write_files(tmp_path, {"evals/hello/data/x": "", "evals/hello/DATA/x": ""})

    assert closed(tmp_path, "data") == []


def test_rules_open_for_reading_in_both_arms_and_nothing_for_writing(tmp_path: Path) -> None:
    root = write_files(tmp_path / "demo", FILES)
    case = make_case(root, add_dirs=("data", "./more/deep/"))
    sandbox = Sandbox(tmp_path / "run")

    denied = deny_rules(case, sandbox)

    assert open_directories(case) == (case.directory / "data", case.directory / "more" / "deep")
    for arm in Arm:
        assert allow_rules(case, arm, sandbox, ()) == tuple(
            f"{tool}(/{case.directory}/{name}/**)"
            for name in ("data", "more/deep")
            for tool in ("Read", "Glob", "Grep")
        )
    assert f"Read(/{case.directory}/graders/**)" in denied
    assert f"Read(/{root}/evals/**)" not in denied
    assert f"Edit(/{root}/evals/**)" in denied
