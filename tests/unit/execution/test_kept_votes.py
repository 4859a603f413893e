"""Votes that were paid for get into the files of their run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_plugin_eval.execution.keeper import RUNS, Keeper
from pytest_plugin_eval.records.codec import read_record
from pytest_plugin_eval.records.layout import record_path
from pytest_plugin_eval.records.model import Vote
from pytest_plugin_eval.settings import Mode
from pytest_plugin_eval.storage.record_files import write_record
from tests.support.records import record, said, vote

FIRST, SECOND, THIRD = (vote(number=number) for number in (1, 2, 3))
RUN = replace(record(said("a")), votes=(FIRST,))


def kept(tmp_path: Path, mode: Mode, *handed: tuple[Vote, ...]) -> list[tuple[Vote, ...]]:
    """Return the votes in the record and in the recording after some were handed over."""
    results, recordings = tmp_path / "results", tmp_path / "recordings"
    for base in (results / RUNS, recordings):
        write_record(base, RUN)
    keeper = Keeper(mode, results={tmp_path: results}, recordings={tmp_path: recordings})
    for votes in handed:
        keeper.add_votes(tmp_path, RUN.key, votes)
    places = (record_path(base, RUN.key) for base in (results / RUNS, recordings))
    return [read_record(place).votes for place in places]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (Mode.LIVE, [(FIRST, SECOND, THIRD), (FIRST,)]),
        (Mode.RECORD, [(FIRST, SECOND, THIRD), (FIRST, SECOND, THIRD)]),
        (Mode.REPLAY, [(FIRST,), (FIRST, SECOND, THIRD)]),
    ],
)
def test_votes_come_behind_those_that_are_there(
    tmp_path: Path, mode: Mode, expected: list[tuple[Vote, ...]]
) -> None:
    assert kept(tmp_path, mode, (SECOND,), (THIRD,)) == expected


def test_vote_that_is_handed_over_twice_is_kept_once(tmp_path: Path) -> None:
    votes, _ = kept(tmp_path, Mode.LIVE, (SECOND, THIRD), (SECOND, THIRD))

    assert votes == (FIRST, SECOND, THIRD)
