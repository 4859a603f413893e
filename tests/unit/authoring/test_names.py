"""New names beside those that there are."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.authoring.names import free_name


@pytest.mark.parametrize(
    ("name", "taken", "expected"),
    [
        ("a", [], "a"),
        ("a", ["b"], "a"),
        ("a", ["a"], "a-2"),
        ("a", ["A", "a-2", "A-3"], "a-4"),
        ("x" * 60, ["x" * 60], "x" * 58 + "-2"),
    ],
)
def test_free_name(name: str, taken: list[str], expected: str) -> None:
    assert free_name(name, taken) == expected
