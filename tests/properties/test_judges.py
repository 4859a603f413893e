"""Votes: none is lost or doubled, whatever fails; what is judged never leaves its fence."""

from __future__ import annotations

import re
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.graders.evidence import MOST_CHARACTERS, cut_events, cut_text
from pytest_plugin_eval.judges.poll import Poll
from pytest_plugin_eval.judges.prompt import baseline_poll, text_poll
from pytest_plugin_eval.judges.reply import reading
from pytest_plugin_eval.judges.tally import tallied
from pytest_plugin_eval.records.model import Vote
from tests.support.judges import FakeBackend, judge_of
from tests.support.records import vote

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
FENCE_LIKE = st.lists(
    st.sampled_from(["BEGIN ", "END ", "\n", "0123456789abcdef", "PASS", "Criterion:\n"]) | TEXT
).map("".join)
JUDGINGS = st.dictionaries(
    st.tuples(st.sampled_from(["g", "h"]), st.integers(1, 4)),
    st.tuples(
        st.sampled_from(["q", "other"]),
        st.sampled_from(["judge-1", "old"]),
        st.dictionaries(st.integers(1, 5), st.booleans(), min_size=1),
    ),
)
VOTES = JUDGINGS.map(
    lambda judgings: [
        vote(question, passed, grader=grader, judging=judging, number=number, model=model)
        for (grader, judging), (question, model, votes) in judgings.items()
        for number, passed in votes.items()
    ]
)
POLL = Poll("g", "q", "", ("text",))


@settings(deadline=None)
@given(VOTES, st.lists(st.booleans(), min_size=1, max_size=12), st.sampled_from([1, 3, 5]))
def test_a_set_is_completed_by_its_missing_votes_and_nothing_is_paid_twice(
    recorded: list[Vote], fails: list[bool], size: int
) -> None:
    backend = FakeBackend(*(JudgeError("lost") if fail else "PASS" for fail in fails), "FAIL")
    judge = judge_of(backend, votes=size)
    missing = judge.missing(recorded, POLL)
    paid: list[Vote] = []

    (result,) = judge.poll([(recorded, POLL)])
    paid += result.fresh
    while result.trouble is not None:
        (result,) = judge.poll([((*recorded, *paid), POLL)])
        paid += result.fresh

    judge.close()
    assert [one.number for one in result.votes] == list(range(1, size + 1))
    assert len(set(result.votes)) == size
    # A judging that another model began is left as it is, and a whole one is asked for.
    assert len(paid) in {missing, size}
    places = [(one.grader, one.judging, one.number) for one in (*recorded, *paid)]
    assert len(places) == len(set(places))


@given(VOTES, st.integers(1, 5), st.randoms())
def test_order_of_recorded_votes_does_not_matter(
    recorded: list[Vote], size: int, random: Random
) -> None:
    shuffled = list(recorded)
    random.shuffle(shuffled)

    first = tallied(recorded, grader="g", question="q", size=size)
    second = tallied(shuffled, grader="g", question="q", size=size)

    assert first == second
    assert len(first.kept) + len(first.missing) == size


@given(FENCE_LIKE)
def test_any_text_stands_whole_between_its_fences(text: str) -> None:
    (asked,) = text_poll("g", "criteria", "last_message", text).parts
    assert isinstance(asked, str)
    mark = asked.rpartition("\nEND ")[2].partition("\n")[0]

    assert re.split(rf"\nBEGIN {mark}\n|\nEND {mark}\n", asked)[1:-1] == [text]


@given(FENCE_LIKE, FENCE_LIKE)
def test_any_two_traces_stand_whole_between_their_fences(old: str, new: str) -> None:
    (asked,) = baseline_poll("g", "criteria", old, new).parts
    assert isinstance(asked, str)
    mark = asked.rpartition("\nEND ")[2].partition("\n")[0]

    assert re.split(rf"\nBEGIN {mark}\n|\nEND {mark}\n", asked)[1::2] == [old, new]


@given(st.text())
def test_every_reply_is_read_the_same_in_any_case(text: str) -> None:
    ascii_only = text.encode("ascii", "replace").decode()

    assert reading(ascii_only.upper()) is reading(ascii_only.lower())


@given(st.text(), st.integers(0, 3))
def test_text_is_never_longer_than_what_may_be_shown(text: str, factor: int) -> None:
    long = text + "x" * (factor * 60_000)

    cut = cut_text(long)

    assert len(cut) <= MOST_CHARACTERS + len(f"\n[…{len(long)} chars elided…]\n")
    cut.encode("utf-8")


@given(st.lists(st.text(st.characters(exclude_characters="\n")), max_size=60))
def test_trace_is_never_longer_than_twenty_four_events_and_a_mark(events: list[str]) -> None:
    lines = cut_events(events).split("\n")

    assert len(lines) == (min(len(events), 25) or 1)
