"""Which odd cases load, against what the reference command says of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_plugin_eval.errors import CaseError
from tests.support.odd_cases import CASES, DIFFERENT, REFUSED_BY_REFERENCE
from tests.support.suites import MANIFEST, load, write_tree

# `casing` holds its case one level below.
DIRECTORIES = {name: "casing/sub" if name == "casing" else name for name in CASES}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {f"evals/{name}/{file}": text for name in CASES for file, text in CASES[name].items()}
    return write_tree(tmp_path_factory.mktemp("suite"), {**MANIFEST, **files})


def _problems(directory: Path) -> tuple[str, ...]:
    try:
        load(directory)
    except CaseError as error:
        return error.problems
    return ()


@pytest.mark.parametrize("name", [name for name in CASES if name not in DIFFERENT])
def test_case_loads_exactly_when_the_reference_loads_it(suite: Path, name: str) -> None:
    problems = _problems(suite / "evals" / DIRECTORIES[name])

    assert bool(problems) == (name in REFUSED_BY_REFERENCE), problems


@pytest.mark.parametrize(("name", "row"), DIFFERENT.items(), ids=DIFFERENT)
def test_case_that_we_judge_differently_on_purpose(suite: Path, name: str, row: str) -> None:
    problems = _problems(suite / "evals" / DIRECTORIES[name])

    assert bool(problems) == (name not in REFUSED_BY_REFERENCE), row


@pytest.mark.parametrize("name", sorted(REFUSED_BY_REFERENCE - DIFFERENT.keys()))
def test_every_problem_names_a_line_that_exists(suite: Path, name: str) -> None:
    problems = _problems(suite / "evals" / DIRECTORIES[name])

    located = [re.match(r"(.+?\.(?:md|yaml)):(\d+): ", problem) for problem in problems]
    assert all(
        1 <= int(found[2]) <= Path(found[1]).read_bytes().count(b"\n") + 1
        for found in located
        if found
    )
    # What is missing altogether has no line; its directory is named instead.
    assert all(
        found
        or problem.startswith((f"{suite}{'/evals/'}{name}: ", f"{suite}/evals/{name}/graders: "))
        for found, problem in zip(located, problems, strict=True)
    )
