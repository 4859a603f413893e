"""JSON as `JSON.stringify` indents it."""

from __future__ import annotations

import json

import pytest

from pytest_plugin_eval.reports.json_text import json_chunks, json_text

VALUE = {
    "text": 'a "quote", a \\ and\na newline, ü and \U0001f600',
    "numbers": [0, -3, 0.1, 1e-7, 12345678901234567890],
    "words": [True, False, None],
    "empty": [{}, [], ""],
    "nested": {"list": [[1], {"a": {"b": 2}}]},
}


def test_text_is_that_of_the_standard_library() -> None:
    assert json_text(VALUE) == json.dumps(VALUE, ensure_ascii=False, indent=2)


def test_whole_numbers_have_no_fraction() -> None:
    assert json_text([1.0, -0.0, 2.5, 1e20]) == "[\n  1,\n  0,\n  2.5,\n  100000000000000000000\n]"


def test_tuples_and_iterators_are_lists() -> None:
    assert json_text(iter([("a",), ()])) == '[\n  [\n    "a"\n  ],\n  []\n]'


@pytest.mark.parametrize(
    "number",
    [float("nan"), float("inf"), -float("inf"), 10**5000],
    ids=["nan", "inf", "-inf", "beyond-text"],
)
def test_number_that_cannot_be_written_is_null_and_the_rest_stays(number: float) -> None:
    assert json.loads(json_text({"a": [number], "b": 1})) == {"a": [None], "b": 1}
    assert json.loads("".join(json_chunks({"a": iter([number]), "b": 1}))) == {"a": [None], "b": 1}


@pytest.mark.parametrize("number", [10**400, -(10**400), 1e308])
def test_large_number_is_written_in_full(number: float) -> None:
    assert json.loads(json_text([number])) == [number]


def test_other_values_are_refused() -> None:
    with pytest.raises(TypeError, match="is no JSON"):
        json_text({1, 2})


@pytest.mark.parametrize("items", [[], [1], [{"a": [1, {}]}, "b", []]])
def test_chunks_are_the_same_text(items: list[object]) -> None:
    chunks = json_chunks({"first": 1, "items": iter(items), "last": {"a": []}})

    assert "".join(chunks) == json_text({"first": 1, "items": items, "last": {"a": []}})


def test_chunks_of_nothing_are_an_empty_object() -> None:
    assert "".join(json_chunks({})) == "{}"
