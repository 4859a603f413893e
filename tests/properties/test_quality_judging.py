"""Replies and quotations of the judge layer, whatever they hold."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_plugin_eval.quality.judge_prompts import CHECKS, Check, question
from pytest_plugin_eval.quality.judge_replies import Reading, Unreadable, read_reply
from pytest_plugin_eval.quality.parse import SkillSource, read_skill
from tests.support.skills import write_skill

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)
SCORES = st.floats(0, 1) | st.sampled_from([0, 1])
NEAR_JSON = st.lists(
    st.sampled_from(["```", "json", "\n", "{", "}", '"score"', ":", "0.5", "NaN", ",", "[", '"']),
    max_size=20,
).map("".join)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SkillSource:
    """Return some skill."""
    return read_skill(write_skill(tmp_path_factory.mktemp("skills") / "w1"))


@given(text=ANY_TEXT | NEAR_JSON | JSON_VALUES.map(json.dumps))
def test_reply_is_a_score_in_range_or_a_reason(text: str) -> None:
    reading = read_reply(text, "score")

    if isinstance(reading, Unreadable):
        assert reading.error
        reading.raw.encode()
    else:
        assert 0 <= reading.score <= 1
        json.dumps(dict(reading.reply), allow_nan=False, ensure_ascii=False).encode()


@given(
    score=SCORES,
    others=st.dictionaries(ANY_TEXT.filter(lambda key: key != "score"), JSON_VALUES, max_size=3),
    fence=st.sampled_from(
        ["{}", "```json\n{}\n```", "```\n{}\n```", "So:\n```json\n{}\n```\nEnd."]
    ),
)
def test_score_is_read_whatever_stands_beside_it(
    score: float, others: dict[str, object], fence: str
) -> None:
    # Three backticks in a string would end the block, as in the reference.
    text = json.dumps({**others, "score": score}).replace("`", "'")

    reading = read_reply(fence.replace("{}", text), "score")

    assert isinstance(reading, Reading)
    assert reading.score == score


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.key)
@given(text=ANY_TEXT)
def test_quotation_ends_where_the_text_does(text: str, check: Check, source: SkillSource) -> None:
    asked = question(check, replace(source, content=text, description=text), None).text

    mark = asked.split("\nBEGIN ", 1)[1].split("\n", 1)[0]
    before, inside, after = asked.split(mark)
    assert before.endswith("BEGIN ")
    assert inside.endswith("\nEND ")
    assert after.startswith("\n\nAnswer with JSON only")
    asked.encode()
