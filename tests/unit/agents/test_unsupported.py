"""Cases that cannot be run yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_plugin_eval.agents.unsupported import scaffold_warning, unsupported
from tests.support.agents import make_case

ROOT = Path("/plugin")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"mock_servers": ("weather", "mail")},
            "2 mock servers (weather, mail) cannot be played yet",
        ),
        ({"history_file": "h.jsonl"}, "history_file 'h.jsonl' cannot be resumed yet"),
        ({"add_dirs": ("data",)}, "add_dirs ['data'] cannot be opened to the agent yet"),
    ],
    ids=["mocks", "history", "directories"],
)
def test_case_that_asks_for_more_is_refused(changes: dict[str, object], message: str) -> None:
    assert unsupported(make_case(ROOT, **changes)) == f"evals/hello: {message}"


def test_plain_case_is_not_refused() -> None:
    assert unsupported(make_case(ROOT, allowed_tools=("Bash",))) is None


def test_scaffold_script_is_warned_about_unless_asked_for() -> None:
    case = make_case(ROOT, scaffold_script="setup.sh")

    assert unsupported(case) is None
    assert "scaffold_script 'setup.sh' is not run" in str(scaffold_warning(case))
    assert "cannot be run yet" in str(unsupported(case, scaffold=True))
