"""Cases that nobody accepted are listed, in case their process is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_plugin_eval.storage.new_journal import Journal, left_cases
from tests.support.proposals import KILLED_NEW
from tests.support.suites import write_tree

KILLED = """
import os, sys
from pathlib import Path
from pytest_plugin_eval.storage.new_files import NewDirectories

evals = Path(sys.argv[1])
with NewDirectories(evals) as new:
    for name in ("a", "b", "group/c"):
        new.write(evals / name, {"prompt.md": "Hi"})
    new.keep(evals / "b")
    os._exit(9)
"""


def test_killed_process_leaves_a_list_of_what_was_not_kept(tmp_path: Path) -> None:
    evals = tmp_path / "evals"

    done = subprocess.run([sys.executable, "-c", KILLED, str(evals)], check=False, timeout=120)

    assert done.returncode == 9
    ((journal, cases),) = left_cases([evals, tmp_path / "none"])
    assert cases == (evals / "a", evals / "group/c")
    assert journal.parent == evals


def test_list_of_a_running_process_says_nothing(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a/prompt.md": "Hi"})
    name = KILLED_NEW.replace("4294967295", str(os.getppid()))
    write_tree(tmp_path, {name: '["a"]'})

    assert list(left_cases([tmp_path])) == []


def test_list_goes_with_the_last_case(tmp_path: Path) -> None:
    journal = Journal(tmp_path)

    journal.note([tmp_path / "a"])
    assert len(list(tmp_path.iterdir())) == 1
    journal.note([])

    assert list(tmp_path.iterdir()) == []


def test_list_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    write_tree(tmp_path, {"evals": "a file"})

    Journal(tmp_path / "evals").note([tmp_path / "evals/a"])

    assert (tmp_path / "evals").read_text("utf-8") == "a file"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "7",
        '{"a": 1}',
        "[" * 5000,
        *map(json.dumps, [[7, None], ["../out"], ["a/../../out"], ["/etc"], [""], ["\x1b[2J"]]),
        *map(json.dumps, [["missing"], ["."], ["..\\out"], ["C:"], ["plain"], ["\x00"]]),
    ],
)
def test_list_from_elsewhere_names_nothing_but_cases_here(text: str, tmp_path: Path) -> None:
    write_tree(tmp_path, {"out/prompt.md": "Hi", "evals/plain/notes.md": "Hi"})
    write_tree(tmp_path, {f"evals/{KILLED_NEW}": text})

    (found,) = left_cases([tmp_path / "evals"])

    assert found.cases == ()


@pytest.mark.parametrize("name", ["x", "1-0", "1-2-3", "1-99999999999", "-5", "1-5.json"])
def test_other_names_are_no_lists(name: str, tmp_path: Path) -> None:
    write_tree(tmp_path, {"a/prompt.md": "Hi", f".plugin-eval-new-{name}": '["a"]'})
    (tmp_path / KILLED_NEW).mkdir()

    assert list(left_cases([tmp_path])) == []
