"""What is said of scripts, whether or not they are run."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.agents.scaffold import scaffold_notice


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
