"""What the model behind an agent mock is told, and how its answer is understood."""

from __future__ import annotations

import pytest

from pytest_plugin_eval.mocks.prompt import Reply, question, read_reply, system_text
from pytest_plugin_eval.mocks.recordings import Earlier


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("answer", Reply("answer")),
        ("  padded \n", Reply("padded")),
        ("```json\n{}\n```", Reply("```json\n{}\n```")),
        ("ERROR: gone", Reply("gone", is_error=True)),
        ("ERROR:gone", Reply("gone", is_error=True)),
        ("\n  ERROR: gone", Reply("gone", is_error=True)),
        ("ERROR: two\nlines", Reply("two\nlines", is_error=True)),
        ("ERROR:", Reply("error", is_error=True)),
        ("error: lower", Reply("error: lower")),
        ("ERRORS: x", Reply("ERRORS: x")),
        ("text\nERROR: below", Reply("text\nERROR: below")),
        ("ABORT: why", Reply("why", is_error=True)),
        ("", Reply("")),
    ],
)
def test_reply_of_a_mock_that_may_not_abort(text: str, expected: Reply) -> None:
    assert read_reply(text, may_abort=False) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ABORT: why", Reply("why", is_abort=True)),
        ("\n ABORT:why", Reply("why", is_abort=True)),
        ("ABORT:", Reply("a condition of abort_when was met", is_abort=True)),
        ("abort: why", Reply("abort: why")),
        ("text\nABORT: why", Reply("text\nABORT: why")),
        ("ERROR: gone", Reply("gone", is_error=True)),
    ],
)
def test_reply_of_a_mock_that_may_abort(text: str, expected: Reply) -> None:
    assert read_reply(text, may_abort=True) == expected


def test_system_text_has_server_author_and_the_ways_to_answer() -> None:
    text = system_text("tracker", "It has {curly} issues.", None)

    assert '"tracker"' in text
    assert text.endswith("\n\nIt has {curly} issues.")
    assert "one line: ERROR:" in text
    assert "Never begin an answer with ABORT:" in text


def test_system_text_has_the_conditions_of_an_abort_as_written() -> None:
    text = system_text("tracker", "body", "it deletes {{input.x}}\n")

    assert "<conditions>\nit deletes {{input.x}}\n</conditions>" in text
    assert "one line: ABORT:" in text
    assert "Never begin" not in text


def test_question_without_history() -> None:
    text = question("t", {"b": 1.0, "a": "é"}, [])

    assert text == 'Call to answer: t\nIts input:\n{\n  "b": 1,\n  "a": "é"\n}'


def test_question_lists_earlier_calls_in_order() -> None:
    earlier = [
        Earlier(tool="t", inputs={"q": 1.0}, output="one\ntwo", is_error=False),
        Earlier(tool="u", inputs={}, output="gone", is_error=True),
    ]

    text = question("t", {}, earlier)

    assert text == (
        'Answered before in this run:\n- t({"q":1}) → one\ntwo\n- u({}) → ERROR: gone\n\n'
        "Call to answer: t\nIts input:\n{}"
    )
