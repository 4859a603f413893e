"""The views of a trace. Expected values were seen with the reference command."""

from __future__ import annotations

import json

import pytest

from pytest_plugin_eval.records.trace import ToolCall, Trace
from tests.support.records import assistant, called, said

TEXT_AND_CALL = assistant(
    {"type": "text", "text": "seen"},
    {"type": "tool_use", "id": "t", "name": "Glob", "input": {"pattern": "*"}},
)
THINKING = assistant({"type": "thinking", "thinking": '"text"'})
USER_TEXT = json.dumps({"type": "user", "message": {"content": [{"type": "text", "text": "no"}]}})


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param((), "", id="nothing"),
        pytest.param((said("A"), said("B")), "B", id="last of several"),
        pytest.param(
            (assistant({"type": "text", "text": "A"}, {"type": "text", "text": "B"}),),
            "B",
            id="last block of one line",
        ),
        pytest.param((said("\n a \n"),), "\n a \n", id="white space stays"),
        pytest.param((said("seen"), called("Glob")), "seen", id="text, then a call"),
        pytest.param((TEXT_AND_CALL,), "seen", id="both in one line"),
        pytest.param((said("one"), THINKING), "one", id="thinking is no text"),
        pytest.param((said("P"), said("S", "toolu_1")), "S", id="a subagent's text counts"),
        pytest.param((said("A"), USER_TEXT), "A", id="a user's text does not"),
        pytest.param((said("A"), '{"type":"assistant","text"'), "A", id="cut line"),
        pytest.param((said("A"), '{"type":"result","result":"R"}'), "A", id="not the result"),
        pytest.param((said("A"), '{"type":"assistant","message":"text"}'), "A", id="no blocks"),
        pytest.param((said("A"), assistant("text", {"type": "text"})), "A", id="odd blocks"),
    ],
)
def test_last_message(lines: tuple[str, ...], expected: str) -> None:
    assert Trace(lines).last_message == expected


def test_tool_calls_are_those_of_all_agents_in_order() -> None:
    trace = Trace(
        (
            said("x"),
            called("Read", file_path="é.txt", limit=1.0),
            "{broken tool_use assistant",
            TEXT_AND_CALL,
            called("Skill", "toolu_1", skill="p:s"),
            assistant({"type": "tool_use", "name": 1, "input": {}}),
            assistant({"type": "tool_use", "name": "Odd"}),
        )
    )

    assert trace.tool_calls == (
        ToolCall(tool="Read", input_json='{"file_path":"é.txt","limit":1}'),
        ToolCall(tool="Glob", input_json='{"pattern":"*"}'),
        ToolCall(tool="Skill", input_json='{"skill":"p:s"}'),
        ToolCall(tool="Odd", input_json="null"),
    )


def test_init_and_result_are_found_among_other_lines() -> None:
    trace = Trace(
        (
            '{"type":"system","subtype":"hook_started","note":"init"}',
            '{"type":"system","subtype":"init","model":"m"}',
            '{"type":"user","text":"\\"result\\""}',
            '{"type":"result","num_turns":2}',
            '{"type":"system","subtype":"init","model":"late"}',
        )
    )

    assert trace.init is not None
    assert trace.init["model"] == "m"
    assert trace.result == {"type": "result", "num_turns": 2}
    assert len(trace.events) == 5
    assert trace.text.count("\n") == 4


def test_traces_with_equal_lines_are_equal() -> None:
    assert Trace(["a"]) == Trace(("a",))
    assert hash(Trace(["a"])) == hash(Trace(("a",)))
    assert Trace(["a"]) != Trace(["b"])
    assert repr(Trace(["a"])) == "<Trace of 1 lines>"


def test_absent_events_are_none() -> None:
    assert Trace(['"init"', '["result"]', "{}"]).init is None
    assert Trace(['"init"', '{"result":1}', "{}"]).result is None
