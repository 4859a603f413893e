"""The YAML of frontmatter: the safe loader's values, and no text that takes long or much."""

from __future__ import annotations

import datetime as dt

import pytest
import yaml

from pytest_plugin_eval.cases.yaml_fallback import PythonParser
from pytest_plugin_eval.quality import fields
from pytest_plugin_eval.quality.fields import FieldsError, load


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# comment", None),
        ("a", "a"),
        ("a: b", {"a": "b"}),
        ("a: yes\nb: No\nc: on\nd: y", {"a": True, "b": False, "c": True, "d": "y"}),
        ("a: 0o7\nb: 07\nc: 0x1F\nd: 1_000\ne: 1:30", {"a": "0o7", "b": 7, "c": 31, "d": 1000,
                                                     "e": 90}),
        ("a: 1e3\nb: 1.5e+3\nc: .5", {"a": "1e3", "b": 1500.0, "c": 0.5}),
        ("a: 2026-01-31", {"a": dt.date(2026, 1, 31)}),
        ("a: 'yes'\nb: ! yes\nc: !!str 7\nd: !!int '7'", {"a": "yes", "b": True, "c": "7", "d": 7}),
        ("a: [x, {b: c}]\nd:\n- e\n", {"a": ["x", {"b": "c"}], "d": ["e"]}),
        ("1: a\nyes: b\nc: d", {"c": "d"}),
        ("a: 1\na: 2", {"a": 2}),
        ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
        ("b: &x {c: 1, d: 2}\n<<: *x\nd: 3", {"b": {"c": 1, "d": 2}, "c": 1, "d": 3}),
        ("<<: [{a: 1}, {a: 2, b: 3}]", {"a": 1, "b": 3}),
        ("<<: {a: 1}\n<<: {a: 2}", {"a": 2}),
        ("=: a", {"=": "a"}),
        ("'<<': a", {"<<": "a"}),
        ("a: !!binary aGk=", {"a": b"hi"}),
        ("a: " + "9" * 301, {"a": "9" * 301}),
        ("a: |\n  b\n  c\n", {"a": "b\nc\n"}),
        ("a: x # c", {"a": "x"}),
        ("%YAML 1.1\n---\na: b", {"a": "b"}),
    ],
)  # fmt: skip
def test_values_are_those_of_the_safe_loader(text: str, value: object) -> None:
    assert load(text) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "line 2: while parsing a flow node did not find expected node content"),
        ("a: b: c", "line 2: mapping values are not allowed in this context"),
        ("a: x\nb:\tc\t\n", "line 3: while scanning for the next token found character '\\t'"),
        ("a: b\n--- # c\nd: e", "a second document begins, expected only one"),
        ("a: *x", "the anchor 'x' is not defined above"),
        ("a: &x 1\nb: &x 2", "the anchor 'x' is defined twice"),
        ("? [a]\n: b", "a list or a mapping is a key, expected text"),
        ("<<: a", "<< merges what is no mapping"),
        ("<<: [{a: b}, c]", "<< merges what is no mapping"),
        ("a: <<", "the tag 'tag:yaml.org,2002:merge' is unknown here"),
        ("a: =", "the tag 'tag:yaml.org,2002:value' is unknown here"),
        ("a: !b c", "the tag '!b' is unknown here"),
        ("a: !!python/object:os.system {}", "the tag 'tag:yaml.org,2002:python/object:os.system'"),
        ("a: !!seq {}", "the tag 'tag:yaml.org,2002:seq' is unknown here"),
        ("a: 2026-13-45", "month must be in 1..12"),
        ("a: !!int x", "invalid literal for int() with base 10: 'x'"),
        ("a: !!bool x", "'x'"),
        ("a: !!timestamp x", "'NoneType' object has no attribute 'groupdict'"),
        ("a: !!int ''", "string index out of range"),
        ("a: !!int " + "9" * 400, "the tag 'tag:yaml.org,2002:int' is unknown here"),
        ("a: \x07", "unacceptable character #x0007: control characters are not allowed"),
        ("a: \x00", "unacceptable character #x0000: control characters are not allowed"),
    ],
)
def test_text_without_sense_is_refused(text: str, said: str) -> None:
    with pytest.raises(FieldsError) as caught:
        load(text)

    assert str(caught.value).startswith(said)
    assert "\n" not in str(caught.value)


MERGES = "a0: &a0 {k: 1}\n" + "".join(
    f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}], k{i}: 1}}\n" for i in range(1, 2000)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: " + "[" * 401, "nested more than 400 levels deep"),
        ("- " * 100_000, "nested more than 400 levels deep"),
        ("? " * 100_000, "nested more than 400 levels deep"),
        ("a: " + "{a: " * 1000, "nested more than 400 levels deep"),
        ("".join(" " * i + "a:\n" for i in range(500)), "nested more than 400 levels deep"),
        ("a: [" + "b," * 200_000 + "]", "more than 200000 values"),
        (MERGES, "<< merges more than 100000 fields"),
        ("%TAG !a! b\n" * 101, "more than 100 directives"),
        ("# x\n" + "%TAG !a! b\n" * 101, "more than 100 directives"),
    ],
    ids=["flow", "items", "keys", "mappings", "indents", "values", "merges", "tags", "comment"],
)
def test_text_beyond_every_measure_is_refused(text: str, said: str) -> None:
    with pytest.raises(FieldsError) as caught:
        load(text)

    assert str(caught.value) == said


def test_nesting_as_the_safe_loader_still_reads_it_is_read() -> None:
    text = "a: " + "[" * 399 + "]" * 399

    assert load(text) is not None


def test_value_that_holds_itself_is_read() -> None:
    value = load("a: &a [*a, {b: *a}]")

    assert isinstance(value, dict)
    assert value["a"][0] is value["a"]
    assert value["a"][1]["b"] is value["a"]


def test_mapping_that_merges_itself_is_read() -> None:
    assert load("a: &a {<<: *a, b: 1}") == {"a": {"b": 1}}


def test_aliases_of_aliases_are_shared() -> None:
    text = "a0: &a0 [x]\n" + "".join(
        f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}, *a{i - 1}]\n" for i in range(1, 100)
    )

    value = load(text)

    assert isinstance(value, dict)
    assert value["a99"][0] is value["a99"][2] is value["a98"]


@pytest.mark.parametrize("text", ["a: b\nc: [1, x]\nd: &e f\ng: *e", "a: [", "a: \x07"])
def test_parser_in_python_says_the_same(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    def outcome() -> object:
        try:
            return load(text)
        except FieldsError:
            return FieldsError

    expected = outcome()
    monkeypatch.setattr(fields, "CParser", PythonParser)

    assert outcome() == expected


def test_lone_surrogates_of_the_parser_in_python_are_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fields, "CParser", PythonParser)

    assert load('a: "\\ud800"') == {"a": "\ufffd"}


def test_tab_after_a_value_is_refused_as_by_the_safe_loader() -> None:
    text = "a: b\t# c"

    with pytest.raises(yaml.YAMLError):
        yaml.safe_load(text)
    with pytest.raises(FieldsError):
        load(text)
