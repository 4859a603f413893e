"""The word rule of votes."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.judges.reply import reading


@pytest.mark.parametrize(
    "text",
    [
        *("PASS", "pass", "PASS.", "**PASS**", "Verdict: PASS", "not pass", '{"verdict":"PASS"}'),
        *("PASS-ish", "# PASS", "\n\nPASS\n", "PASSED, no: PASS", "éPASSé", "FAILED? PASS"),
    ],
)
def test_reply_with_the_word_pass_alone_is_a_vote_for_it(text: str) -> None:
    assert reading(text) is True


@pytest.mark.parametrize(
    "text", ["FAIL", "fail!", "PASS because it does not FAIL", "PASS\nFAIL", "[Fail]", "éFAIL"]
)
def test_reply_with_the_word_fail_is_a_vote_against(text: str) -> None:
    assert reading(text) is False


@pytest.mark.parametrize(
    "text",
    ["", "Yes", "PASSED", "PASS1", "PASS_", "NOPASS", "FAILED", "FAIL_", "P A S S", "PA\u017fS"],
)
def test_reply_with_neither_word_cannot_be_read(text: str) -> None:
    assert reading(text) is None
