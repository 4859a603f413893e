"""Names of skills in the patterns of graders."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.agents.skill_pattern import plain_skills


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ('"skill":"greet"', ("greet",)),
        ('"skill":"greeter:greet"', ("greet",)),
        (r'"skill"\s*:\s*"(?:[\w-]+:)?ci-secure"', ("ci-secure",)),
        (r'"skill": ?"([^":]+:)?ci\-secure"', ("ci-secure",)),
        (r"\"skill\":\"greeter\:greet\"", ("greet",)),
        (r'"skill":"(?:greeter:)?greet"', ("greet",)),
        (r'"skill":"\w+:greet"', ("greet",)),
        (r'"skill":"[^"]*:greet"', ("greet",)),
        ('^{"skill":"greet"}$', ("greet",)),
        ('"skill":"greet","args":"(?:a|b)[|]"', ("greet",)),
        (r'"skill":"greet".*"args":".*--loud', ("greet",)),
        ('"args":"x","skill":"greet"', ("greet",)),
        ('"skill":"(?:greeter:)?(greet|hello)"', ("greet", "hello")),
        ('"skill":"greet"|"skill":"hello"', ("greet", "hello")),
    ],
)
def test_plain_names(pattern: str, names: tuple[str, ...]) -> None:
    assert plain_skills(pattern) == names


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "greet",
        "greet|hello",
        "greeter:greet",
        '"skill":"greet',
        '"skill":"gre+t"',
        '"skill":"greet?"',
        '"skill":"greet"?',
        '"skill":"greet.*"',
        '"skill":"[^"]*greet"',
        '"skill":".*greet"',
        '"skill":"[gG]reet"',
        '"skill":"greet|hello"',
        '"skill":"(greet|hel+o)"',
        '"skill":"greet(?:-v2)?"',
        r'"skill":"\w+"',
        '"skill":"greet"|"args":"x"',
        '(?:"skill":"greet")?',
        '("skill":"greet"|hello)',
        '(?!.*"skill":"greet")',
        '["skill":"greet"]',
        '"args":"greet"',
        "(",
        "[",
        "\\",
    ],
)
def test_nothing_is_said_where_other_calls_may_match(pattern: str) -> None:
    assert plain_skills(pattern) == ()
