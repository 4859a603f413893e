"""Transcripts as the page shows them."""

from __future__ import annotations

import json

import pytest

from pytest_plugin_eval.records.trace import Trace
from pytest_plugin_eval.reports.html_trace import (
    MOST_STEPS,
    STEP_LENGTH,
    Kind,
    Step,
    Transcript,
    first_difference,
    transcript,
)
from tests.support.records import assistant, called, said
from tests.support.report_pages import result_line


def _start(home: str) -> str:
    return json.dumps(
        {
            "type": "system",
            "subtype": "init",
            "cwd": home,
            "model": "m",
            "tools": ["Read", "Write"],
            "mcp_servers": [],
            "plugins": [{"name": "demo"}],
        }
    )


def _shown(*lines: str) -> Transcript:
    return transcript(Trace(lines))


@pytest.mark.parametrize(
    ("line", "kind", "text"),
    [
        (_start("/run"), Kind.START, "model m; 2 tools; 0 MCP servers; plugins: demo"),
        (said("hello"), Kind.TEXT, "hello"),
        (assistant({"type": "thinking", "thinking": "hm"}), Kind.THINKING, "hm"),
        (called("Read", file_path="/a", limit=2), Kind.CALL, "file_path: /a\nlimit: 2"),
        (assistant({"type": "tool_use", "name": "X", "input": [1]}), Kind.CALL, "[1]"),
        (result_line("found"), Kind.RESULT, "found"),
        (result_line("gone", is_error=True), Kind.ERROR, "gone"),
        (
            result_line([{"type": "text", "text": "a"}, {"type": "image"}]),
            Kind.RESULT,
            "a\n(image, not shown)",
        ),
        (result_line(None), Kind.RESULT, ""),
        (
            '{"type": "user", "message": {"content": "skill text"}}',
            Kind.INPUT,
            "skill text",
        ),
        (assistant({"type": "odd"}), Kind.INPUT, "(odd, not shown)"),
        ("not json", Kind.INPUT, "(a line that is no event) not json"),
        (
            '{"type": "result", "subtype": "success", "num_turns": 2, "total_cost_usd": 0.01}',
            Kind.END,
            "success; 2 turns; $0.0100",
        ),
    ],
)
def test_step(line: str, kind: Kind, text: str) -> None:
    (step,) = _shown(line).steps

    assert (step.kind, step.text) == (kind, text)


@pytest.mark.parametrize(
    "line",
    [
        '{"type": "rate_limit_event"}',
        '{"type": "assistant"}',
        '{"type": "assistant", "message": {"content": 3}}',
        '{"type": "assistant", "message": {"content": ["x"]}}',
        '{"type": "system", "subtype": "hook"}',
    ],
)
def test_event_without_content_is_no_step(line: str) -> None:
    assert _shown(line).steps == ()


def test_subagent_is_told_apart() -> None:
    (step,) = _shown(said("mine", "toolu_1")).steps

    assert step.is_subagent


def test_long_step_is_cut_and_says_so() -> None:
    (step,) = _shown(said("x" * (STEP_LENGTH + 5))).steps

    assert step.text.endswith("x… [+5 chars]")


def test_long_transcript_ends_with_a_note() -> None:
    shown = _shown(*[said("x")] * (MOST_STEPS + 3))

    assert len(shown.steps) == MOST_STEPS
    assert shown.note == "3 further steps left out here"


def _calls(*calls: str, home: str = "/run") -> Transcript:
    """Return a transcript with a call a word: ``Read:a`` reads a file of the workspace."""
    lines = [_start(home)]
    for call in calls:
        tool, _, name = call.partition(":")
        lines += [called(tool, path=f"{home}/{name}"), result_line("ok")]
    return _shown(*lines)


@pytest.mark.parametrize(
    ("with_calls", "without_calls", "marked", "text"),
    [
        (["Read:a"], ["Read:a"], (None, None), "Both arms made the same calls: 1 tool call."),
        ([], [], (None, None), "Both arms made the same calls: no tool call."),
        (
            ["Read:a", "Skill:x"],
            ["Read:a", "Glob:x"],
            ("Skill", "Glob"),
            "Tool call 2 is the first that differs: with the plugin Skill, without it Glob.",
        ),
        (
            ["Read:a"],
            ["Read:b"],
            ("Read", "Read"),
            "Tool call 1 is the first that differs: with the plugin Read, without it Read.",
        ),
        (
            ["Read:a", "Skill:x"],
            ["Read:a"],
            ("Skill", None),
            "Tool call 2 is the first that differs: with the plugin Skill, without it no "
            "further one.",
        ),
        (
            [],
            ["Read:a"],
            (None, "Read"),
            "Tool call 1 is the first that differs: with the plugin none at all, without it Read.",
        ),
    ],
)
def test_first_difference(
    with_calls: list[str],
    without_calls: list[str],
    marked: tuple[str | None, str | None],
    text: str,
) -> None:
    arms = _calls(*with_calls, home="/run/1"), _calls(*without_calls, home="/run/2")

    *divided, told = first_difference(*arms)

    assert told == text
    assert tuple(map(_marked, divided)) == marked
    assert [len(one.steps) for one in divided] == [len(one.steps) for one in arms]


def _marked(shown: Transcript) -> str | None:
    first = next(iter(shown.after), Step(kind=Kind.END, text=""))
    assert sum(step.differs for step in shown.steps) == first.differs
    return first.tool or None


def test_arm_without_a_further_call_is_divided_behind_its_last() -> None:
    lines = (_start("/run"), called("Read", path="a"), result_line("ok"))
    with_run = _shown(*lines, called("Skill", skill="x"))
    without_run = _shown(*lines, said("done"))

    first, second, _ = first_difference(with_run, without_run)

    assert len(first.before) == len(second.before) == 3
    assert [step.text for step in second.after] == ["done"]
