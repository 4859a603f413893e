"""Cases that cannot be run yet, and what is said of scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.agents.unsupported import scaffold_notice, unsupported
from tests.support.agents import make_case

ROOT = Path("/plugin")


def test_case_that_asks_for_more_is_refused() -> None:
    case = make_case(ROOT, mock_servers=("weather", "mail"))

    message = "evals/hello: 2 mock servers (weather, mail) cannot be played yet"
    assert unsupported(case) == message


@pytest.mark.parametrize(
    "changes",
    [
        {"allowed_tools": ("Bash",)},
        {"history_file": "h.jsonl"},
        {"add_dirs": ("data",)},
        {"scaffold_script": "setup.sh"},
    ],
)
def test_other_case_is_not_refused(changes: dict[str, object]) -> None:
    assert unsupported(make_case(ROOT, **changes)) is None


@pytest.mark.parametrize(
    ("is_run", "message"),
    [
        (
            False,
            "warning: scaffold_script 'setup.sh' is not run, the agent finds an empty workspace; "
            "where you trust its author, pass --eval-scaffold",
        ),
        (
            True,
            "scaffold_script 'setup.sh' is run before each run: code of the case's author, "
            "as you and outside of any sandbox",
        ),
    ],
)
def test_script_is_told_of_whether_or_not_it_is_run(is_run: bool, message: str) -> None:
    assert scaffold_notice("setup.sh", is_run=is_run) == message
