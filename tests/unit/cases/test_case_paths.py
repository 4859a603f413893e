"""Paths that a case names: where they may lead."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.cases.case_paths import add_dir_problem, path_problem
from pytest_plugin_eval.cases.discovery import eval_directory_of
from pytest_plugin_eval.cases.loader import load_case
from pytest_plugin_eval.errors import CaseError
from tests.support.suites import MANIFEST, ONE_GRADER, load, write_tree

FILES = {
    "evals/it/s.sh": "",
    "evals/it/data/x": "",
    "evals/it/graders/sub/x": "",
    "evals/it/mocks/m/t.md": "",
    "evals/shared/h": "",
    "outside": "",
}
LEAVES = "leaves the case directory, expected a path inside it"
FIXTURES = "expected a directory of fixtures"


@pytest.fixture
def case_dir(tmp_path: Path) -> Path:
    write_tree(tmp_path, FILES)
    case = tmp_path / "evals" / "it"
    (case / "inside").symlink_to("s.sh")
    (case / "beside").symlink_to("../shared/h")
    (case / "far").symlink_to(tmp_path / "outside")
    (case / "other").symlink_to("../shared", target_is_directory=True)
    (case / "hidden").symlink_to("graders", target_is_directory=True)
    return case


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("s.sh", None),
        ("./data/../s.sh", None),
        ("../it/s.sh", None),
        ("inside", None),
        ("beside", None),
        ("far", "outside the eval directory; put a copy in its place"),
        ("../shared/h", LEAVES),
        ("../../outside", LEAVES),
        ("nope", "does not exist in the case directory"),
        ("data", "is not a regular file"),
        ("a\0b", "is not a path"),
    ],
)
def test_file_of_a_case(case_dir: Path, entry: str, problem: str | None) -> None:
    found = path_problem(str(case_dir), entry, "file", border=str(case_dir.parent))

    assert (found or "").endswith(problem or "")
    assert (found is None) == (problem is None)


def test_absolute_path_leaves_even_when_it_leads_back(case_dir: Path) -> None:
    assert path_problem(str(case_dir), str(case_dir / "s.sh"), "file") == LEAVES


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("data", None),
        ("./data/", None),
        ("../it/data", None),
        ("", f"is the case directory itself, {FIXTURES} in it"),
        (".", f"is the case directory itself, {FIXTURES} in it"),
        ("data/..", f"is the case directory itself, {FIXTURES} in it"),
        ("graders", f"would show the agent the case's graders, {FIXTURES}"),
        ("graders/sub", f"would show the agent the case's graders, {FIXTURES}"),
        ("hidden", f"would show the agent the case's graders, {FIXTURES}"),
        ("mocks", f"would show the agent the case's mocks, {FIXTURES}"),
        ("s.sh", "is a file, expected a directory"),
        ("nope", "does not exist in the case directory"),
        ("..", LEAVES),
        ("../shared", LEAVES),
        ("other", "outside the case directory; put a copy in its place"),
    ],
)
def test_directory_that_is_opened(case_dir: Path, entry: str, problem: str | None) -> None:
    found = add_dir_problem(str(case_dir), entry)

    assert (found or "").endswith(problem or "")
    assert (found is None) == (problem is None)


YAML = (
    'schema_version: "1.1"\nname: n\nexecution: {prompt: p}\ncontext:\n  scaffold_script: nope.sh\n'
)


def test_missing_script_is_an_error_only_where_it_is_to_be_run(tmp_path: Path) -> None:
    files = {**MANIFEST, "evals/it/case.yaml": YAML}
    write_tree(tmp_path, {**files, **{f"evals/it/{n}": text for n, text in ONE_GRADER.items()}})
    directory = tmp_path / "evals" / "it"
    place = eval_directory_of(directory)
    assert place is not None

    assert load(directory).scaffold_script == "nope.sh"
    with pytest.raises(CaseError) as raised:
        load_case(directory, place, scaffold=True)
    assert raised.value.problems == (
        f"{directory}/case.yaml:5: scaffold_script: 'nope.sh' does not exist in the case directory",
    )
