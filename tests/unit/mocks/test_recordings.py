"""Recordings: what their keys depend on, how they are found, and how they are written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_plugin_eval.mocks.recordings import (
    Earlier,
    Recorded,
    Recording,
    find_recording,
    pinned_recordings,
    recording_key,
    write_adoption_list,
    write_recordings,
)
from tests.support.mocks import agent_tool
from tests.support.suites import write_tree

TOOL = agent_tool("It tracks.")
EARLIER = Earlier(tool="t", inputs={"q": 1}, output="one", is_error=False)
RECORDING = Recording(
    server="tracker",
    tool="t",
    key="a" * 64,
    inputs={"q": "é"},
    output="one",
    is_error=False,
    recorded_at="2026-01-02T03:04:05.678Z",
    model=None,
    destination="evals/mocks/.replay/tracker/",
)


def key_of(**changes: Any) -> str:
    parts = {"server": "tracker", "tool": TOOL, "inputs": {"q": 1}, "earlier": [], "body": "b"}
    return recording_key(**{**parts, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"server": "other"},
        {"tool": replace(TOOL, name="u")},
        {"tool": replace(TOOL, source="It tracks. # comment")},
        {"inputs": {"q": 2}},
        {"inputs": {"q": "1"}},
        {"inputs": {"q": True}},
        {"inputs": {"q": 1, "r": None}},
        {"earlier": [EARLIER]},
        {"earlier": [EARLIER, EARLIER]},
        {"earlier": [replace(EARLIER, output="two")]},
        {"earlier": [replace(EARLIER, is_error=True)]},
        {"body": "another fixture"},
    ],
)
def test_a_key_changes_with_all_that_the_answer_depends_on(changes: Mapping[str, Any]) -> None:
    assert key_of(**changes) != key_of()


@pytest.mark.parametrize(
    "changes",
    [
        {"inputs": {"q": 1.0}},
        {"tool": replace(TOOL, file=Path("/elsewhere/mocks/tracker/t.md"))},
        {"tool": replace(TOOL, description="Finds.", input_schema={"type": "object"})},
    ],
)
def test_a_key_does_not_change_with_anything_else(changes: Mapping[str, Any]) -> None:
    assert key_of(**changes) == key_of()


def test_a_key_ignores_the_order_of_fields_at_any_depth() -> None:
    first = {"a": [{"x": 1, "y": 2}], "b": 3}
    second = {"b": 3, "a": [{"y": 2, "x": 1}]}

    assert key_of(inputs=first) == key_of(inputs=second)


@pytest.fixture
def found(tmp_path: Path) -> Callable[..., Recorded | None]:
    """Return a function that writes adopted files and looks for the answer to ``{"q": 1}``."""

    def find(files: Mapping[str, object], *, server: str = "tracker") -> Recorded | None:
        texts = {
            name: content if isinstance(content, str) else json.dumps(content)
            for name, content in files.items()
        }
        write_tree(tmp_path / "mocks" / ".replay" / server, texts)
        tool = replace(TOOL, file=tmp_path / "mocks" / "tracker" / "t.md")
        return find_recording(tool, "a" * 64, {"q": 1})

    return find


A, B, C = (f"t-{letter * 64}.json" for letter in "abc")
REFERENCE = {"input": {"q": 1}, "output": "one", "verdict": "ok", "recordedAt": "", "model": None}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({A: {"output": "one"}}, Recorded(output="one", is_error=False)),
        ({A: {"output": "one", "verdict": "ok"}}, Recorded(output="one", is_error=False)),
        ({A: {"output": "no", "verdict": "tool_error"}}, Recorded(output="no", is_error=True)),
        ({A: {**REFERENCE, "format": "x", "input": {}}}, Recorded(output="one", is_error=False)),
        ({B: REFERENCE}, Recorded(output="one", is_error=False)),
        ({B: {**REFERENCE, "input": {"q": 1.0}}}, Recorded(output="one", is_error=False)),
        ({B: {"input": {"q": 1}, "output": "one"}}, Recorded(output="one", is_error=False)),
        ({B: REFERENCE, C: {**REFERENCE, "input": {}}}, Recorded(output="one", is_error=False)),
        ({A: {"output": "own"}, B: REFERENCE}, Recorded(output="own", is_error=False)),
        ({B: REFERENCE, C: REFERENCE}, None),
        ({B: {**REFERENCE, "format": "pytest-plugin-eval/1"}}, None),
        ({B: {**REFERENCE, "input": {"q": 2}}}, None),
        ({f"u-{'b' * 64}.json": REFERENCE}, None),
        ({"t-b.json": REFERENCE}, None),
        ({A: "{"}, None),
        ({A: "[]"}, None),
        ({A: {"output": 3}}, None),
        ({A: {"input": {"q": 1}}}, None),
        ({}, None),
    ],
)
def test_which_recording_answers(
    found: Callable[..., Recorded | None],
    files: Mapping[str, object],
    expected: Recorded | None,
) -> None:
    assert found(files) == expected


def test_recordings_of_another_server_do_not_answer(
    found: Callable[..., Recorded | None],
) -> None:
    assert found({A: REFERENCE, B: REFERENCE}, server="other") is None


def test_pinned_recordings_are_counted_by_tool(tmp_path: Path) -> None:
    write_tree(tmp_path / "mocks" / ".replay" / "tracker", {A: "", B: "", "x-1.json": ""})
    file = tmp_path / "mocks" / "tracker" / "t.md"

    assert pinned_recordings([replace(TOOL, file=file), replace(TOOL, name="u", file=file)]) == 2


def test_written_recordings_say_where_they_belong(tmp_path: Path) -> None:
    other = replace(RECORDING, server="solo", tool="w", model="m", is_error=True, destination="x/")

    first, second = write_recordings(tmp_path, [RECORDING, other])
    listed = write_adoption_list(tmp_path)

    assert first == tmp_path / "mock-recordings" / "tracker" / f"t-{'a' * 64}.json"
    assert json.loads(first.read_text(encoding="utf-8")) == {
        "format": "pytest-plugin-eval/1",
        "input": {"q": "é"},
        "output": "one",
        "verdict": "ok",
        "recordedAt": "2026-01-02T03:04:05.678Z",
        "model": None,
        "adoptInto": "evals/mocks/.replay/tracker/",
    }
    assert listed == tmp_path / "mock-recordings" / "ADOPT.txt"
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (second, first)]
    assert listed.read_text(encoding="utf-8").splitlines()[3:] == [
        f"solo/w-{'a' * 64}.json  sha256={digests[0]}",
        "  -> x/",
        f"tracker/t-{'a' * 64}.json  sha256={digests[1]}",
        "  -> evals/mocks/.replay/tracker/",
    ]


def test_without_recordings_nothing_is_listed(tmp_path: Path) -> None:
    assert write_recordings(tmp_path, []) == ()
    assert write_adoption_list(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_a_written_recording_answers_once_it_is_adopted(tmp_path: Path) -> None:
    tool = replace(TOOL, file=tmp_path / "mocks" / "tracker" / "t.md")
    key = recording_key("tracker", tool, {"q": 1}, [], body="b")
    (written,) = write_recordings(tmp_path, [replace(RECORDING, key=key, inputs={"q": 1})])

    tool.replay_directory.mkdir(parents=True)
    written.rename(tool.replay_directory / written.name)

    assert find_recording(tool, key, {"q": 1}) == Recorded(output="one", is_error=False)
