"""Which directories are eval directories and cases. Spec: behaviour-evals, 2."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_plugin_eval.cases.discovery import (
    EvalDirectory,
    case_directory_of,
    eval_directory_of,
    find_eval_directories,
    forget,
    suite_eval_directory,
)
from tests.support.suites import MANIFEST, write_tree

PLUGIN_QA = {".claude-plugin/plugin.json": '{"name": "p", "experimental": {"evals": "qa/evals"}}'}


def _cases(root: Path, *names: str, plugin: bool = True) -> Path:
    files = {f"{name}/prompt.md": "hi" for name in names}
    return write_tree(root, {**(MANIFEST if plugin else {}), **files})


def _place(path: Path, *, eval_dir: str | None = None, root: Path | None = None) -> EvalDirectory:
    place = eval_directory_of(path, eval_dir=eval_dir, root=root)
    assert place is not None
    return place


def _found(place: EvalDirectory) -> list[str]:
    return [case.relative_to(place.path).as_posix() for case in place.cases]


def test_cases_are_found_at_any_depth_in_the_order_of_code_points(tmp_path: Path) -> None:
    names = ["9", "10", "Upper", "_under", "a b", "ga/x", "ga.b", "ga-b", "é", ".dotcase", "f/g/h"]
    _cases(tmp_path, *(f"evals/{name}" for name in names))

    place = _place(tmp_path / "evals")

    assert _found(place) == [
        ".dotcase", "10", "9", "Upper", "_under", "a b", "f/g/h", "ga-b", "ga.b", "ga/x", "é",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["mocks/x", "results/x", "recordings/x", "node_modules/x", ".git/x", "g/mocks/x", "it/inner"],
)
def test_directory_is_not_searched(tmp_path: Path, name: str) -> None:
    _cases(tmp_path, "evals/it", f"evals/{name}")

    assert _found(_place(tmp_path / "evals")) == ["it"]


@pytest.mark.parametrize(
    "file", ["case.yml", "CASE.YAML", "PROMPT.MD", "prompt.md/x", "graders/a.md", "readme.md"]
)
def test_directory_without_a_case_file_is_no_case(tmp_path: Path, file: str) -> None:
    write_tree(tmp_path, {"evals/it/prompt.md": "hi", f"evals/other/{file}": "hi"})

    assert _found(_place(tmp_path / "evals")) == ["it"]


def test_eval_directory_itself_may_be_the_case(tmp_path: Path) -> None:
    _cases(tmp_path, "evals", "evals/it")

    place = _place(tmp_path / "evals")

    assert place.cases == (tmp_path / "evals",)
    assert case_directory_of(tmp_path / "evals" / "it") == tmp_path / "evals"


def test_directory_called_evals_without_cases_is_left_alone(tmp_path: Path) -> None:
    write_tree(tmp_path, {"evals/data/a.txt": "x", "evals/test_x.py": ""})
    (tmp_path / "evals" / "gone").symlink_to("nowhere")

    assert eval_directory_of(tmp_path / "evals") is None
    assert eval_directory_of(tmp_path / "evals" / "data") is None
    assert find_eval_directories(tmp_path) == ()


@pytest.mark.parametrize("name", ["Evals", "evals2", "eval", "x.evals"])
def test_other_names_are_no_eval_directories(tmp_path: Path, name: str) -> None:
    _cases(tmp_path, f"{name}/it")

    assert eval_directory_of(tmp_path / name) is None


def test_every_place_inside_belongs_to_the_eval_directory(tmp_path: Path) -> None:
    write_tree(tmp_path, {**MANIFEST, "evals/g/it/prompt.md": "hi", "evals/g/it/files/a/b": ""})
    evals = tmp_path / "evals"
    inside = [evals, evals / "g", evals / "g" / "it", evals / "g" / "it" / "files" / "a"]

    assert {_place(path).path for path in inside} == {evals}
    assert [case_directory_of(path) for path in inside] == [None, None, inside[2], inside[2]]
    assert eval_directory_of(tmp_path) is None


@pytest.mark.parametrize(
    ("path", "root"),
    [
        ("evals", "."),
        ("skills/greet/evals", "."),
        ("evals/group/evals", "."),
        (".hid/evals", "."),
        ("sub/evals", "sub"),
    ],
)
def test_suite_root_is_the_nearest_plugin(tmp_path: Path, path: str, root: str) -> None:
    write_tree(tmp_path, {"sub/plugin.json": '{"name": "inner"}', "skills/greet/SKILL.md": ""})
    _cases(tmp_path, f"{path}/it", "evals/other")

    assert _place(tmp_path / path).path == tmp_path / path
    assert _place(tmp_path / path / "it").root == tmp_path / root


def test_suite_root_without_a_manifest_is_the_skill_folder_or_the_parent(tmp_path: Path) -> None:
    write_tree(tmp_path, {"skill/SKILL.md": ""})
    _cases(tmp_path, "skill/a/evals/it", "plain/evals/it", plugin=False)

    assert _place(tmp_path / "skill" / "a" / "evals").root == tmp_path / "skill"
    assert _place(tmp_path / "plain" / "evals").root == tmp_path / "plain"


@pytest.mark.parametrize(
    "name", ["node_modules/x/evals", "results/evals", "mocks/evals", "evals/mocks/evals"]
)
def test_eval_directory_below_a_skipped_one_is_not_found(tmp_path: Path, name: str) -> None:
    _cases(tmp_path, f"{name}/it", "evals/other")

    assert find_eval_directories(tmp_path) == (tmp_path / "evals",)
    assert case_directory_of(tmp_path / name / "it") is None


def test_evals_inside_a_case_is_part_of_the_case(tmp_path: Path) -> None:
    _cases(tmp_path, "evals/it", "evals/it/files/evals/other")

    assert _place(tmp_path / "evals/it/files/evals/other").path == tmp_path / "evals"


def test_find_lists_every_eval_directory_below(tmp_path: Path) -> None:
    names = ["a/b/evals", "evals", "evals/grp/evals", "skills/greet/evals"]
    _cases(tmp_path, *(f"{name}/it" for name in names), "node_modules/evals/it")

    assert find_eval_directories(tmp_path) == tuple(tmp_path / name for name in names)


def test_manifest_names_the_eval_directory(tmp_path: Path) -> None:
    write_tree(tmp_path, PLUGIN_QA)
    _cases(tmp_path, "qa/evals/it", "evals/other", "sub/qa/evals/it", plugin=False)

    assert _place(tmp_path / "qa" / "evals" / "it").path == tmp_path / "qa" / "evals"
    assert _place(tmp_path / "qa" / "evals").root == tmp_path
    assert eval_directory_of(tmp_path / "evals") is None
    assert eval_directory_of(tmp_path / "sub" / "qa" / "evals") is None
    assert find_eval_directories(tmp_path) == (tmp_path / "qa" / "evals",)


def test_option_goes_before_the_manifest(tmp_path: Path) -> None:
    write_tree(tmp_path, PLUGIN_QA)
    _cases(tmp_path, "qa/evals/it", "evals/other", "x/tests/it", "tests/it", plugin=False)

    assert _found(_place(tmp_path / "tests", eval_dir="tests")) == ["it"]
    assert eval_directory_of(tmp_path / "x" / "tests", eval_dir="tests") is None
    assert eval_directory_of(tmp_path / "evals", eval_dir="tests") is None
    assert _found(_place(tmp_path / "evals", eval_dir="evals")) == ["other"]


def test_root_chosen_by_the_user_is_the_suite_root(tmp_path: Path) -> None:
    write_tree(tmp_path, {"sub/plugin.json": '{"name": "inner"}'})
    _cases(tmp_path, "sub/evals/it", "evals/other", plugin=False)

    assert _place(tmp_path / "sub" / "evals", root=tmp_path).root == tmp_path
    assert eval_directory_of(tmp_path / "evals", root=tmp_path / "sub") is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [("evals", "evals"), ("skills/x/evals", "evals"), ("sub/evals", "sub/evals")],
)
def test_results_of_nested_evals_lie_in_the_suites_own(
    tmp_path: Path, path: str, expected: str
) -> None:
    write_tree(tmp_path, {"sub/plugin.json": '{"name": "inner"}'})
    _cases(tmp_path, f"{path}/it")

    assert suite_eval_directory(_place(tmp_path / path)) == tmp_path / expected


def test_link_to_a_directory_of_the_suite_adds_nothing(tmp_path: Path) -> None:
    _cases(tmp_path, "evals/a", "evals/g/b")
    (tmp_path / "evals" / "again").symlink_to("a")
    (tmp_path / "evals" / "group").symlink_to("g")

    place = _place(tmp_path / "evals")

    assert _found(place) == ["a", "g/b"]
    assert place.problems == ()


def test_links_that_lead_nowhere_upwards_or_out_are_problems(tmp_path: Path) -> None:
    _cases(tmp_path, "evals/a", "outside/group/b")
    evals = tmp_path / "evals"
    (evals / "g").mkdir()
    (evals / "gone").symlink_to("nowhere")
    (evals / "g" / "up").symlink_to("..")
    (evals / "out").symlink_to("../outside")
    forget()

    place = _place(evals)

    assert _found(place) == ["a"]
    assert place.problems == (
        f"{evals}/g/up: is a link to a directory it lies in, not followed",
        f"{evals}/gone: is a link to 'nowhere', which does not exist",
        f"{evals}/out: is a link to '{tmp_path}/outside', outside the eval directory, not followed",
    )


def test_case_outside_by_a_link_is_listed_so_that_it_is_refused_alone(tmp_path: Path) -> None:
    _cases(tmp_path, "evals/a", "outside/b")
    (tmp_path / "evals" / "b").symlink_to("../outside/b")
    forget()

    place = _place(tmp_path / "evals")

    assert (_found(place), place.problems) == (["a", "b"], ())


def test_changed_files_are_seen_after_forgetting(tmp_path: Path) -> None:
    _cases(tmp_path, "evals/a")
    _place(tmp_path / "evals")
    (tmp_path / "evals" / "b").mkdir()
    (tmp_path / "evals" / "b" / "case.yaml").touch()

    before = _found(_place(tmp_path / "evals"))
    forget()

    assert (before, _found(_place(tmp_path / "evals"))) == (["a"], ["a", "b"])


def test_discovery_imports_nothing_heavy() -> None:
    code = (
        "import sys; before = set(sys.modules); import pytest_plugin_eval.cases.discovery;"
        "print(*sorted(name for name in ('yaml', 'pydantic', 'json', 'difflib')"
        " if name in set(sys.modules) - before))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    assert done.stdout.split() == []
