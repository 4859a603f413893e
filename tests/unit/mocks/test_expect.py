"""Expectations: every form of the table in agent-run, 7.4, and what the reference does besides."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.cases.mock import Condition, Expectation
from pytest_plugin_eval.mocks.expect import violation
from tests.support.mocks import matches

INPUTS = {
    "text": "foo",
    "digits": "5",
    "number": 5,
    "whole": 1.0,
    "yes": True,
    "nothing": None,
    "list": ["a", 2],
    "object": {"a": [1], "b": {"c": "bar"}},
    "long": "y" * 500,
    "quoted": 'a\nb"q',
    "a.b": "dotted",
}


def expect(path: str, condition: Condition, *values: str | float, flags: str = "") -> Expectation:
    return Expectation(path=path, condition=condition, values=values, flags=flags)


@pytest.mark.parametrize(
    "expectation",
    [
        expect("text", Condition.TYPE, "string"),
        expect("number", Condition.TYPE, "number"),
        expect("whole", Condition.TYPE, "number"),
        expect("yes", Condition.TYPE, "boolean"),
        expect("list", Condition.TYPE, "array"),
        expect("object", Condition.TYPE, "object"),
        expect("number", Condition.TEXT, "5"),
        expect("digits", Condition.TEXT, 5),
        expect("whole", Condition.TEXT, 1),
        expect("whole", Condition.TEXT, "1"),
        expect("yes", Condition.TEXT, "true"),
        expect("yes", Condition.TEXT, True),
        expect("object.b.c", Condition.TEXT, "bar"),
        expect("list.0", Condition.TEXT, "a"),
        expect("list.01", Condition.TEXT, 2),
        expect("text", Condition.CHOICE, "bar", "foo"),
        expect("number", Condition.CHOICE, "x", "5"),
        expect("text", Condition.PATTERN, "O", flags="i"),
        expect("number", Condition.PATTERN, r"^\d$"),
        expect("quoted", Condition.PATTERN, "a.b", flags="s"),
    ],
)
def test_what_is_as_expected(expectation: Expectation) -> None:
    assert violation([expectation], INPUTS, matches) is None


@pytest.mark.parametrize(
    ("expectation", "expected"),
    [
        (expect("number", Condition.TYPE, "string"), "number = 5 is not a string"),
        (expect("digits", Condition.TYPE, "number"), 'digits = "5" is not a number'),
        (expect("yes", Condition.TYPE, "number"), "yes = true is not a number"),
        (expect("number", Condition.TYPE, "boolean"), "number = 5 is not a boolean"),
        (expect("list", Condition.TYPE, "object"), 'list = ["a",2] is not a object'),
        (expect("nothing", Condition.TYPE, "object"), "nothing = null is not a object"),
        (expect("object.b", Condition.TYPE, "array"), 'object.b = {"c":"bar"} is not a array'),
        (expect("no", Condition.TYPE, "object"), "no = (missing) is not a object"),
        (expect("text", Condition.TEXT, "bar"), 'text = "foo" is not "bar"'),
        (expect("whole", Condition.TEXT, "1.0"), 'whole = 1 is not "1.0"'),
        (expect("yes", Condition.TEXT, "yes"), 'yes = true is not "yes"'),
        (expect("nothing", Condition.TEXT, "null"), 'nothing = null is not "null"'),
        (expect("no", Condition.TEXT, ""), 'no = (missing) is not ""'),
        (expect("no", Condition.TEXT, "(missing)"), 'no = (missing) is not "(missing)"'),
        (expect("object.a", Condition.TEXT, "[1]"), 'object.a = [1] is not "[1]"'),
        (expect("a.b", Condition.TEXT, "dotted"), 'a.b = (missing) is not "dotted"'),
        (expect("list.-1", Condition.TEXT, 2), 'list.-1 = (missing) is not "2"'),
        (expect("list.length", Condition.TEXT, 2), 'list.length = (missing) is not "2"'),
        (expect("text.0", Condition.TEXT, "f"), 'text.0 = (missing) is not "f"'),
        (expect("number", Condition.CHOICE, "a", 1, True), "number = 5 is not one of [a, 1, true]"),
        (expect("text", Condition.CHOICE, "string"), 'text = "foo" is not one of [string]'),
        (expect("no", Condition.CHOICE, ""), "no = (missing) is not one of []"),
        (expect("text", Condition.PATTERN, "^b"), 'text = "foo" does not match /^b/'),
        (
            expect("text", Condition.PATTERN, "^B", flags="is"),
            'text = "foo" does not match /^B/is',
        ),
        (expect("nothing", Condition.PATTERN, "null"), "nothing = null does not match /null/"),
        (expect("no", Condition.PATTERN, ".*"), "no = (missing) does not match /.*/"),
        (expect("object.a", Condition.PATTERN, "1"), "object.a = [1] does not match /1/"),
        (expect("quoted", Condition.TEXT, "x"), 'quoted = "a\\nb\\"q" is not "x"'),
        (expect("long", Condition.TEXT, "x"), f'long = "{"y" * 76}... is not "x"'),
    ],
)
def test_what_is_not_as_expected(expectation: Expectation, expected: str) -> None:
    assert violation([expectation], INPUTS, matches) == expected


def test_only_the_first_violation_is_told() -> None:
    found = violation(
        [
            expect("text", Condition.TEXT, "foo"),
            expect("z", Condition.TEXT, "a"),
            expect("b", Condition.TEXT, "c"),
        ],
        INPUTS,
        matches,
    )

    assert found == 'z = (missing) is not "a"'
