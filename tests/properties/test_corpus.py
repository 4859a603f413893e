"""Whatever an index file holds, it is read or refused in one line, and its skills looked for."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from pytest_plugin_eval.errors import QualityError
from pytest_plugin_eval.quality.corpus import (
    Index,
    IndexEntry,
    Rank,
    index_text,
    measure_index,
    read_index,
)

KEYS = ("name", "path", "category", "line_count", "elo_rating", "x")
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just(10**400)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=20,
)
near_misses = st.lists(
    st.fixed_dictionaries(
        {"name": scalars, "path": scalars, "category": st.text(max_size=3), "line_count": scalars},
        optional={"elo_rating": scalars},
    ),
    max_size=3,
)
files = st.one_of(
    st.binary(max_size=40),
    st.one_of(values, near_misses).map(lambda value: json.dumps(value).encode()),
)
entries = st.builds(
    IndexEntry,
    name=st.one_of(st.none(), st.integers(), st.text(max_size=5), st.booleans()),
    path=st.text(min_size=1, max_size=8),
    category=st.text(max_size=5),
    line_count=st.integers(min_value=1),
    elo_rating=st.floats(allow_nan=False, allow_infinity=False),
)


def read(file: Path) -> tuple[Index, str | None]:
    """Return an index, or an empty one and why it was refused."""
    try:
        return read_index(file), None
    except QualityError as error:
        return Index(entries=()), str(error)


@given(data=files)
@example(data=b"\xef\xbb\xbf[]")
@example(data=b'[{"path": "\\ud800", "name": null, "category": "", "line_count": 1}]')
def test_any_bytes_are_an_index_or_refused_in_one_line(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "index.json"
        file.write_bytes(data)
        index, refusal = read(file)
        measured = measure_index(index, cwd=Path(scratch))

    assert refusal is None or (refusal.startswith(str(file)) and "\n" not in refusal)
    assert measured.scores == {}
    assert measured.missing == tuple(entry.path for entry in index.entries)
    assert len(measured.problems) == (1 if index.entries else 0)


@given(skills=st.lists(entries, max_size=4))
def test_index_is_read_as_it_was_written(skills: list[IndexEntry]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "index.json"
        file.write_text(index_text(Index(entries=tuple(skills))), encoding="utf-8")

        index = read_index(file)

    assert index.entries == tuple(skills)


@given(lower=st.integers(0, 50), equal=st.integers(0, 50), higher=st.integers(0, 50))
def test_percentile_rank_lies_between_those_below_and_those_above(
    lower: int, equal: int, higher: int
) -> None:
    total = lower + equal + higher

    share = Rank(score=0.0, lower=lower, equal=equal, total=total).share

    if total:
        assert share is not None
        assert lower / total <= share <= 1 - higher / total + 1e-12
    else:
        assert share is None
