"""Patterns that need no engine to be believed."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.graders.well_formed import is_well_formed


@pytest.mark.parametrize(
    ("source", "flags"),
    [
        ("", ""),
        ("plain words, ümlaut \U0001f600", "gims"),
        (r"^feat(?:\([a-z0-9_]+\))?!?: \S.{0,60}[^.\s]$", "m"),
        (r"a|b|(?:c|d)*?", ""),
        (r"(a(b(c)))+", "dy"),
        (r"(?=x)y(?!z)(?<=y)(?<!x)", ""),
        (r"[a-zA-Z0-9_.-]{2,}", ""),
        (r"[^\]\\]", ""),
        ("[(a]|[)]", ""),
    ],
)
def test_usual_patterns_are_believed(source: str, flags: str) -> None:
    assert is_well_formed(source, flags)


@pytest.mark.parametrize(
    ("source", "flags"),
    [
        ("a", "u"),
        ("a", "ii"),
        ("a", "x"),
        ("(", ""),
        (")", ""),
        ("(?", ""),
        ("(?i)a", ""),
        ("(?<name>a)", ""),
        ("*", ""),
        ("(*)", ""),
        ("a**", ""),
        ("^*", ""),
        ("(?=a)*", ""),
        ("a{3,2}", ""),
        ("[z-a]", ""),
        ("[a(b-)]", ""),
        (r"[\w-a]", ""),
        ("[", ""),
        ("a\\", ""),
        (r"\1", ""),
        (r"\u{1}", ""),
        ("(" * 60 + ")" * 60, ""),
        ("a" * 20_000, ""),
    ],
)
def test_broken_and_unusual_patterns_are_left_to_the_engine(source: str, flags: str) -> None:
    assert not is_well_formed(source, flags)
