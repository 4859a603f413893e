"""YAML as the reference reads it: which words are numbers, and where things stand."""

from __future__ import annotations

import math

import pytest

from pytest_plugin_eval.cases import yaml12
from pytest_plugin_eval.cases.yaml12 import YamlError, line_numbers, load
from pytest_plugin_eval.cases.yaml_fallback import PythonParser

# fmt: off
STRINGS = (
    "yes", "no", "on", "off", "y", "N", "1:30", "2026-01-02", "2001-12-14t21:59:43.10-05:00",
    "1_000", "1__0", "0b11", "0o8", "0X1F", "0O17", "0xZZ", "1,000", "1.2.3", "nUll", "tRue",
    "=", "e1", ".e1", "1e", "1_0.5", ".", "+.", "nan", "inf", "-inf",
)
# fmt: on
NUMBERS = {
    "0o17": 15,
    "0x1F": 31,
    "+0x1F": 31,
    "-0o17": -15,
    "017": 17,
    "+12": 12,
    "-0": 0,
    "1.": 1,
    ".5": 0.5,
    "+.5": 0.5,
    "1e3": 1000,
    "12e03": 12000,
    "3.0": 3,
    "2.5": 2.5,
    ".inf": math.inf,
    "+.inf": math.inf,
    "-.INF": -math.inf,
    "1e400": math.inf,
    "9" * 400: math.inf,
    "!!float 1": 1,
}
OTHERS = {
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "False": False,
    "!!bool true": True,
}
TEXTS = {
    '""': "",
    "''": "",
    "!!str 12": "12",
    "!foo 12": "12",
    '!!int "3"': "3",
    "!!null x": "x",
    "!!binary aGk=": "aGk=",
    "a#b": "a#b",
    "a # b": "a",
    "a\x85b\u2028c": "a\x85b\u2028c",
    "a\x07b": "a\x07b",
    '"\\x41\\u00e9\\N\\L"': "A\u00e9\x85\u2028",
}


@pytest.mark.parametrize("text", STRINGS)
def test_word_is_a_string(text: str) -> None:
    assert load(f"key: {text}") == {"key": text}


@pytest.mark.parametrize(
    ("text", "value"), [*NUMBERS.items(), *OTHERS.items(), *TEXTS.items()], ids=ascii
)
def test_scalar_has_the_value_it_has_in_yaml_1_2(text: str, value: object) -> None:
    loaded = load(f"key: {text}")

    assert loaded == {"key": value}
    assert isinstance(loaded, dict)
    assert type(loaded["key"]) is type(value)


def test_nan_is_a_number() -> None:
    loaded = load("[.nan, .NaN]")

    assert isinstance(loaded, list)
    assert all(math.isnan(value) for value in loaded)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1\na: 2", {"a": 2}),
        ("x: &x {a: 1}\ny: *x", {"x": {"a": 1}, "y": {"a": 1}}),
        ("<<: {a: 1}\na: 2", {"a": 2}),
        ("a: 2\n<<: {a: 1, b: 3}", {"a": 2, "b": 3}),
        ("<<: [{a: 1}, {a: 2, b: 3}]", {"a": 1, "b": 3}),
        ('"<<": {a: 1}', {"a": 1}),
        ("<<: 3\na: 1", {"a": 1}),
        ("1: a\ntrue: b\nnull: c\n1.5: d", {"1": "a", "true": "b", "null": "c", "1.5": "d"}),
        ("? [a, b]\n: c", {"[object]": "c"}),
        ("--- \na: 1\n...\n", {"a": 1}),
        ("# nothing", None),
        ("", None),
    ],
)
def test_structure(text: str, value: object) -> None:
    assert load(text) == value


def test_value_that_holds_itself_is_read() -> None:
    loaded = load("a: &a [*a]")

    assert isinstance(loaded, dict)
    assert loaded["a"][0] is loaded["a"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: c: d", 2, "a value with a colon and a space in it needs quotes"),
        ("a:\n\t- b", 2, "indent with spaces"),
        ('a: "\\d"', 1, "in single quotes a backslash needs no second one"),
        ("a: 1\nb: *c", 2, "the anchor 'c' is not defined above"),
        ("a: * b", 1, "begins with * or &"),
        ("a: 'it's", 1, "quote"),
        ("a: 1\n---\nb: 2", 2, "a second document begins, expected only one"),
        ("a: 1\nb: x\0y", 2, "is not allowed in YAML"),
        ("a: 1\nb: " + "[" * 250, 2, "nested more than 200 levels deep"),
        ("[" * 5000, 1, "depth"),
        ("- " * 5000, 1, "nested more than 200 levels deep"),
    ],
)
def test_bad_yaml_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(YamlError) as caught:
        load(text)

    assert words in caught.value.text
    assert caught.value.line == line


def test_line_numbers_of_keys_and_items() -> None:
    text = "a: 1\nb:\n  - x\n  - {c: 1,\n     d: 2}\ne: |\n  f: g\nh: 3\n"

    lines = line_numbers(text)

    assert lines == {
        ("a",): 1,
        ("b",): 2,
        ("b", 0): 3,
        ("b", 1): 4,
        ("b", 1, "c"): 4,
        ("b", 1, "d"): 5,
        ("e",): 6,
        ("h",): 8,
    }


def test_parser_without_libyaml_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a: &x [1, 'b', ~]\nc: {<<: {d: yes}, e: *x}\nf: a\x07b\n"
    expected = load(text)

    monkeypatch.setattr(yaml12, "_Parser", PythonParser)

    assert load(text) == expected
