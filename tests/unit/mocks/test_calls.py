"""The text ``mock_calls`` and what else is read from a trace. Spec: agent-run, 7.7."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_plugin_eval.cases.mock import Place, PlacedServer, Responder
from pytest_plugin_eval.mocks.calls import (
    MockCall,
    altered_result,
    mock_calls_text,
    unmocked_calls,
)
from pytest_plugin_eval.records.trace import Trace
from tests.support.mocks import mock_tool, placed, trace_lines

T = "mcp__plugin_demo_tracker__t"
HINT = "\n\nThe schema was not loaded."


def call(output: str = "v", **options: Any) -> MockCall:
    return MockCall(
        **{
            "server": "tracker",
            "tool": "t",
            "name": T,
            "responder": Responder.FIXED,
            "inputs": {},
            "output": output,
            **options,
        }
    )


def texts(*contents: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": content} for content in contents]


def test_a_line_has_name_input_output_and_verdict() -> None:
    trace = Trace(trace_lines((T, {"q": "x", "n": 1}, texts("answer"), False)))

    text = mock_calls_text(trace, [call("answer", inputs={"q": "x", "n": 1})])

    assert text == f'{{"tool":"{T}","input":{{"q":"x","n":1}},"output":"answer","verdict":"ok"}}'


def test_an_error_says_so_twice() -> None:
    trace = Trace(trace_lines((T, {}, "nope", True)))

    text = mock_calls_text(trace, [call("nope", is_error=True)])

    assert text == (
        f'{{"tool":"{T}","input":{{}},"output":"nope","isError":true,"verdict":"tool_error"}}'
    )


def test_input_is_written_as_javascript_writes_it() -> None:
    inputs = {"b": 1.0, "10": "é\u2028<", "2": 1, "a": 1e21}
    trace = Trace(trace_lines((T, inputs, texts("v"), False)))

    text = mock_calls_text(trace, [call(inputs=inputs)])

    assert '"input":{"2":1,"10":"é\u2028<","b":1,"a":1e+21}' in text


def test_output_is_what_the_model_saw() -> None:
    trace = Trace(
        trace_lines((T, {"k": 1}, f"({T} gave nothing)", False), (T, {}, f"no{HINT}", True))
    )

    text = mock_calls_text(trace, [call("", inputs={"k": 1}), call("no", is_error=True)])

    assert [line.split('"output":')[1] for line in text.splitlines()] == [
        f'"({T} gave nothing)","verdict":"ok"}}',
        '"no\\n\\nThe schema was not loaded.","isError":true,"verdict":"tool_error"}',
    ]


def test_calls_stand_in_the_order_of_the_trace() -> None:
    other = "mcp__solo__w"
    trace = Trace(
        trace_lines(
            (T, {"n": 1}, texts("a"), False),
            (other, {}, texts("b"), False),
            (T, {"n": 1}, texts("c"), False),
        )
    )
    calls = [
        call("b", name=other),
        call("a", inputs={"n": 1}),
        call("c", inputs={"n": 1.0}),
    ]

    lines = mock_calls_text(trace, calls).splitlines()

    assert [line.split('"output":')[1][:3] for line in lines] == ['"a"', '"b"', '"c"']


def test_calls_that_never_came_are_left_out() -> None:
    trace = Trace(
        trace_lines(
            (T, {"n": 1}, "refused by a hook", True),
            ("Read", {"file_path": "x"}, texts("v"), False),
            ("mcp__plugin_demo_tracker__zz", {}, "No such tool", True),
            (T, {"n": 2}, texts("v"), False),
        )
    )

    text = mock_calls_text(trace, [call(inputs={"n": 2})])

    assert text.count("\n") == 0
    assert '"input":{"n":2}' in text


def test_no_calls_are_an_empty_text() -> None:
    assert mock_calls_text(Trace(trace_lines(("Read", {}, texts("v"), False))), []) == ""


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        (call("v"), (T, {}, texts("v"), False)),
        (call(""), (T, {}, "(nothing)", False)),
        (call("no", is_error=True), (T, {}, f"no{HINT}", True)),
        (call("", is_error=True), (T, {}, "Failed", True)),
        (
            call("x" * 200_000),
            (T, {}, "Too long, see /run/tool-results/mcp-plugin_demo_tracker-t-1.txt", False),
        ),
    ],
)
def test_what_the_client_does_to_results_is_no_alteration(
    given: MockCall, seen: tuple[str, dict[str, object], object, bool]
) -> None:
    assert altered_result(Trace(trace_lines(seen)), [given]) is None


@pytest.mark.parametrize(
    ("given", "content"),
    [(call("v"), "w"), (call("v"), "v2"), (call("no", is_error=True), "yes"), (call("v"), "")],
)
def test_an_altered_result_is_found(given: MockCall, content: str) -> None:
    trace = Trace(trace_lines((T, {}, texts(content), given.is_error)))

    assert altered_result(trace, [given]) is given


def test_a_call_that_got_no_result_is_not_altered() -> None:
    lines = trace_lines((T, {}, texts("v"), False))[:1]

    assert altered_result(Trace(lines), [call("v")]) is None


def test_unmocked_calls_are_counted_by_server_and_tool() -> None:
    withheld = PlacedServer(
        place=Place.WITHHELD, key="plugin:demo:mail", segment="plugin_demo_mail"
    )
    trace = Trace(
        trace_lines(
            (T, {}, texts("v"), False),
            ("mcp__plugin_demo_tracker__zz", {}, "no", True),
            ("mcp__plugin_demo_tracker__zz", {}, "no", True),
            ("mcp__plugin_demo_mail__send", {}, "no", True),
            ("mcp__elsewhere__x", {}, "no", True),
        )
    )

    counts = unmocked_calls(trace, [placed(mock_tool()), withheld])

    assert counts == {"tracker/zz": 2, "plugin_demo_mail/send": 1}
