"""How cases are shared out."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_plugin_eval.scoring.shards import shards_of

CASES = st.sets(st.text("abcdef/", min_size=1, max_size=6), max_size=40)


def test_equal_cases_are_dealt_out_in_order() -> None:
    assert shards_of(["c", "a", "d", "b", "e"], 2) == {"a": 1, "b": 2, "c": 1, "d": 2, "e": 1}


def test_long_cases_are_set_apart() -> None:
    durations = {"long": 100.0, "a": 30.0, "b": 30.0, "c": 30.0}

    found = shards_of(durations, 2, durations)

    assert found == {"long": 1, "a": 2, "b": 2, "c": 2}


def test_case_of_unknown_length_counts_as_the_mean() -> None:
    found = shards_of(["long", "new", "short"], 2, {"long": 10.0, "short": 2.0})

    assert found["new"] != found["long"]


@pytest.mark.parametrize("durations", [{"a": 0.0, "b": 0.0, "c": 0.0}, {"a": 0.0}])
def test_cases_without_any_length_are_dealt_out_all_the_same(durations: dict[str, float]) -> None:
    assert set(shards_of("abc", 3, durations).values()) == {1, 2, 3}


@given(cases=CASES, count=st.integers(1, 8))
def test_every_case_is_in_one_shard_and_none_has_two_more_than_another(
    cases: set[str], count: int
) -> None:
    found = shards_of(cases, count)

    assert found.keys() == cases
    sizes = sorted(list(found.values()).count(shard) for shard in range(1, count + 1))
    assert all(after - before <= 1 for before, after in pairwise(sizes))
    assert sizes[-1] - sizes[0] <= 1


@given(
    durations=st.dictionaries(st.text("abcdef", min_size=1), st.floats(0, 1e6), max_size=30),
    more=CASES,
    count=st.integers(1, 8),
)
def test_division_depends_on_nothing_but_its_arguments(
    durations: dict[str, float], more: set[str], count: int
) -> None:
    cases = [*durations, *more]

    assert shards_of(cases, count, durations) == shards_of(
        reversed(cases), count, dict(reversed(durations.items()))
    )


@given(durations=st.dictionaries(st.text(min_size=1), st.floats(0.1, 1e4), min_size=1, max_size=30))
def test_no_shard_does_much_more_than_it_must(durations: dict[str, float]) -> None:
    count = 4
    found = shards_of(durations, count, durations)

    loads = [
        sum(durations[case] for case in found if found[case] == shard)
        for shard in range(1, count + 1)
    ]
    least = max(sum(durations.values()) / count, *durations.values())
    assert max(loads) <= 2 * least + 1e-6
