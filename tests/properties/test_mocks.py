"""Mock files of arbitrary bytes, and what holds for every input of a call."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pytest_plugin_eval.cases.mock import Condition, Expectation
from pytest_plugin_eval.cases.mock_files import load_mocks
from pytest_plugin_eval.errors import CaseError
from pytest_plugin_eval.mocks.calls import MockCall, mock_calls_text
from pytest_plugin_eval.mocks.expect import violation
from pytest_plugin_eval.mocks.prompt import question, read_reply
from pytest_plugin_eval.mocks.recordings import Earlier, recording_key
from pytest_plugin_eval.mocks.responder import RunResponder
from pytest_plugin_eval.mocks.substitution import MockToolError, substituted
from pytest_plugin_eval.records.trace import Trace
from tests.support.mocks import agent_tool, mock_tool, placed, run_mocks, trace_lines

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    # JSON has no negative zero once JavaScript has written it.
    | st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0)
    | st.text(max_size=8)
)
KEYS = st.text("ab.0-é", max_size=3)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
INPUTS = st.dictionaries(KEYS, VALUES, max_size=4)
WORDS = st.sampled_from(
    [
        "---\n",
        "type: agent\n",
        "type: fixed\n",
        "expect:\n",
        "  x: /a/\n",
        "  x: [1, a]\n",
        "error: true\n",
        "tools: [t]\n",
        "abort_when: x\n",
        "{{file:a}}",
        "{{input.x}}",
        '{"tools": [{"name": "t"}]}',
        "\ufeff",
        "\n",
    ]
)
CONTENTS = st.binary(max_size=60) | st.lists(WORDS | st.text(max_size=5), max_size=8).map(
    lambda parts: "".join(parts).encode("utf-8", "surrogatepass")
)
NAMES = st.sampled_from(["t.md", "u.md", "_server.md", "_tools.json", "a b.md", "x.txt"])
PROBLEM = re.compile(r".+?/mocks/[^:]*(?::(\d+))?: \S.*")


def is_compiled(patterns: object) -> list[None]:
    return [None for _ in patterns] if isinstance(patterns, list) else []


def is_found(pattern: str, flags: str, text: str) -> bool:
    return pattern in text


@given(st.dictionaries(NAMES, CONTENTS, max_size=4))
def test_files_of_any_bytes_load_or_are_told_with_their_lines(files: dict[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        evals = Path(directory, "evals")
        server = evals / "mocks" / "tracker"
        server.mkdir(parents=True)
        for name, content in files.items():
            (server / name).write_bytes(content)

        try:
            found = load_mocks(evals, evals, check_patterns=is_compiled).warnings
        except CaseError as error:
            found = error.problems
        lines = {str(server / name): content.count(b"\n") + 1 for name, content in files.items()}

        for problem in found:
            match = PROBLEM.fullmatch(problem)
            assert match is not None, problem
            file = problem.split(".md:")[0] + ".md" if ".md:" in problem else None
            if match[1] and file in lines:
                # A carriage return may end a line, too.
                extra = files[Path(file).name].count(b"\r") + problem.count("YAML")
                assert 1 <= int(match[1]) <= lines[file] + extra, problem


@given(INPUTS, st.randoms(use_true_random=False))
def test_keys_of_recordings_ignore_the_order_of_fields(
    inputs: dict[str, object], random: object
) -> None:
    shuffled = _shuffled(inputs, random)
    earlier = [Earlier(tool="t", inputs=inputs, output="o", is_error=False)]
    earlier_shuffled = [Earlier(tool="t", inputs=shuffled, output="o", is_error=False)]

    first = recording_key("s", agent_tool(), inputs, earlier, body="")
    second = recording_key("s", agent_tool(), shuffled, earlier_shuffled, body="")

    assert first == second


@given(INPUTS, INPUTS)
def test_keys_of_recordings_differ_with_the_input(
    first: dict[str, object], second: dict[str, object]
) -> None:
    keys = [recording_key("s", agent_tool(), each, [], body="") for each in (first, second)]

    assert (keys[0] == keys[1]) == (_plain(first) == _plain(second))


@given(st.text("{}input.file:ab /é0-\n", max_size=40), INPUTS)
def test_placeholders_are_filled_or_refused(body: str, inputs: dict[str, object]) -> None:
    try:
        text = substituted(mock_tool(body), inputs)
    except MockToolError as error:
        text = str(error)
        assert "\n" not in text or "\n" in body
    assert "{{" in body or text == body


@given(
    st.text("ab.01-", max_size=5),
    st.sampled_from(list(Condition)),
    st.lists(st.text(max_size=4) | st.integers() | st.booleans(), min_size=1, max_size=2),
    INPUTS,
)
def test_any_expectation_of_any_input_has_an_answer(
    path: str, condition: Condition, values: list[str | int | bool], inputs: dict[str, object]
) -> None:
    expectation = Expectation(path=path, condition=condition, values=tuple(values))

    found = violation([expectation], inputs, is_found)

    assert found is None or found.startswith(f"{path} = ")


@given(INPUTS, st.text(max_size=30), st.booleans())
def test_every_call_has_one_line_of_json(
    inputs: dict[str, object], output: str, is_error: bool
) -> None:
    server = placed(mock_tool(output))
    responder = RunResponder(run_mocks(server))
    responder.answer(server, "t", inputs)
    call = MockCall(
        server="tracker",
        tool="t",
        name="mcp__plugin_demo_tracker__t",
        responder=server.mock.tools[0].responder if server.mock else mock_tool().responder,
        inputs=inputs,
        output=output,
    )
    trace = Trace(trace_lines((call.name, inputs, output, is_error)))

    text = mock_calls_text(trace, [call])

    line = json.loads(text)
    assert "\n" not in text
    assert (line["output"], line["verdict"]) == (output, "tool_error" if is_error else "ok")
    assert _plain(line["input"]) == _plain(inputs)


@given(st.text(max_size=20), st.booleans())
def test_any_answer_of_a_model_is_understood(text: str, may_abort: bool) -> None:
    reply = read_reply(text, may_abort=may_abort)

    assert reply.text == reply.text.strip()
    assert not (reply.is_abort and not may_abort)
    assert question("t", {"x": reply.text}, []).startswith("Call to answer: t\n")


def _plain(value: object) -> str:
    return json.dumps(_floats(value), sort_keys=True)


def _floats(value: object) -> object:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, list):
        return [_floats(item) for item in value]
    if isinstance(value, dict):
        return {key: _floats(item) for key, item in value.items()}
    return value


def _shuffled(value: object, random: object) -> dict[str, object]:
    assert isinstance(value, dict)
    items = list(value.items())
    random.shuffle(items)  # type: ignore[attr-defined]  # a Random of Hypothesis
    return {key: _shuffled(item, random) if isinstance(item, dict) else item for key, item in items}
