"""How pytest's outcome becomes an exit code of the reference."""

from __future__ import annotations

import signal

import pytest

from pytest_plugin_eval.cli.run import exit_code


@pytest.mark.parametrize(
    ("status", "partial", "signalled", "code"),
    [
        (0, None, None, 0),
        (1, None, None, 1),
        (2, None, None, 1),
        (3, None, None, 1),
        (4, None, None, 1),
        (5, None, None, 1),
        (1, "not_measured", None, 1),
        (2, "not_measured", None, 1),
        (2, "auth_failed", None, 2),
        (2, "cost_ceiling", None, 2),
        (2, "interrupted", None, 130),
        (2, "interrupted", signal.SIGINT, 130),
        (2, "interrupted", signal.SIGTERM, 143),
        (2, "interrupted", signal.SIGHUP, 129),
    ],
)
def test_exit_code(status: int, partial: str | None, signalled: int | None, code: int) -> None:
    assert exit_code(status, partial, signalled) == code
