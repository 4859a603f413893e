"""Noise is a share of pairs, whatever order verdicts and votes come in."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from pytest_plugin_eval.records.model import Vote
from pytest_plugin_eval.results.noise import disagreement, judge_noise, split_votes

VOTES = st.builds(
    Vote,
    question=st.sampled_from("qr"),
    grader=st.sampled_from("ab"),
    judging=st.integers(1, 3),
    number=st.integers(1, 3),
    passed=st.booleans(),
    asked_model=st.sampled_from("mn"),
    model=st.just("m"),
    cost_usd=st.none(),
    asked_at=st.just(""),
)


@given(st.lists(st.booleans(), max_size=12))
def test_disagreement_is_that_of_every_pair(verdicts: list[bool]) -> None:
    pairs = [(one, two) for i, one in enumerate(verdicts) for two in verdicts[i + 1 :]]

    rate = disagreement(verdicts)

    assert (rate.count, rate.of) == (sum(one != two for one, two in pairs), len(pairs))
    assert rate.share is None or 0 <= rate.share <= 1


@given(
    st.lists(
        VOTES,
        max_size=30,
        unique_by=lambda v: (v.question, v.grader, v.asked_model, v.judging, v.number),
    ).flatmap(lambda votes: st.tuples(st.just(votes), st.permutations(votes)))
)
def test_order_of_votes_does_not_matter(both: tuple[Sequence[Vote], Sequence[Vote]]) -> None:
    votes, shuffled = both

    assert judge_noise([votes], needed=3) == judge_noise([shuffled], needed=3)
    assert split_votes([votes], needed=3) == split_votes([shuffled], needed=3)


@given(st.lists(st.lists(VOTES, max_size=12), max_size=4))
def test_records_add_up(records: list[list[Vote]]) -> None:
    rates = [judge_noise([votes], needed=1) for votes in records]

    whole = judge_noise(records, needed=1)

    assert (whole.count, whole.of) == (sum(r.count for r in rates), sum(r.of for r in rates))
    assert 0 <= whole.count <= whole.of
