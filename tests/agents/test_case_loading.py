"""The reference command's verdict on every odd case, asked of the real binary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_plugin_eval.cases.discovery import eval_directory_of, find_eval_directories
from tests.support.odd_cases import CASES, REFUSED_BY_REFERENCE
from tests.support.reference import run_reference
from tests.support.suites import MANIFEST, write_tree

pytestmark = pytest.mark.agent

# fmt: off
PLACES = (
    "evals/9", "evals/10", "evals/Upper", "evals/g/h/x", "evals/.dot", "evals/it", "evals/it/inner",
    "evals/mocks/x", "evals/results/x", "evals/node_modules/x", "evals/.git/x",
    "evals/grp/evals/y", "skills/greet/evals/z", ".hid/evals/w", "node_modules/a/evals/b",
    "Evals/v", "evals2/u", "qa/t",
)
# fmt: on
NOWHERE = "http://127.0.0.1:9"


def _refused(root: Path) -> set[str]:
    """Return the names of the cases that the reference command does not load."""
    # A ceiling of nothing: every case is loaded and none is run.
    done = run_reference(root, NOWHERE, "--max-cost-usd", "0", "--ablation", "none")
    paths = re.findall(rf"^✗ {re.escape(str(root))}/evals/([^/:]+)", done.stderr, re.MULTILINE)
    return set(paths)


def test_reference_refuses_what_the_table_says(tmp_path: Path) -> None:
    files = {f"evals/{name}/{file}": text for name in CASES for file, text in CASES[name].items()}
    write_tree(tmp_path, {**MANIFEST, **files})

    assert _refused(tmp_path) == set(REFUSED_BY_REFERENCE)


def test_reference_finds_the_cases_that_we_find(tmp_path: Path) -> None:
    # Broken on purpose, so that the command lists them all.
    files = {f"{name}/prompt.md": "---\nruns: 0\n---\n" for name in PLACES}
    write_tree(tmp_path, {**MANIFEST, **files})

    done = run_reference(tmp_path, NOWHERE, "--max-cost-usd", "0", "--ablation", "none")
    theirs = re.findall(rf"^✗ {re.escape(str(tmp_path))}/(.+?): ", done.stderr, re.MULTILINE)

    places = [eval_directory_of(path) for path in find_eval_directories(tmp_path)]
    cases = [case for place in places if place for case in place.cases]
    ours = [case.relative_to(tmp_path).as_posix() for case in cases]
    assert sorted(ours) == sorted(theirs)
    assert len(ours) == 9
