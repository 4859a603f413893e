"""Runs that go on with a recorded conversation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_plugin_eval.records.model import Arm, Ending
from tests.agents.conftest import KEY, MakeBackend
from tests.agents.test_requests import comparable
from tests.support.agents import PROMPT, make_case, make_request, tool_results, write_plugin
from tests.support.histories import SESSION, TURNS, history
from tests.support.reference import run_reference
from tests.support.script import rule, script, tool
from tests.support.scripted_api import ScriptedApi

pytestmark = pytest.mark.agent

YAML = f"""\
schema_version: "1.1"
name: hello
runs: 1
execution: {{prompt: "{PROMPT}"}}
context: {{history_file: h.jsonl}}
"""


def told(body: Mapping[str, object]) -> list[str]:
    """Return the texts of the conversation in a request, what the client adds left out."""
    messages = body["messages"]
    assert isinstance(messages, list)
    texts = []
    for message in messages:
        content = message["content"]
        blocks = [{"text": content}] if isinstance(content, str) else content
        if message["role"] != "system":
            texts += [b["text"] for b in blocks if not b["text"].startswith("<system-reminder>")]
    return texts


def test_both_arms_go_on_where_the_conversation_ended(backend: MakeBackend, tmp_path: Path) -> None:
    root = write_plugin(tmp_path / "demo", {"evals/hello/h.jsonl": history()})
    case = make_case(root, history_file="h.jsonl")

    with ScriptedApi(script(rule(turns=["fine"]))) as api:
        records = [backend(api).run(make_request(case, arm)) for arm in Arm]

    assert [record.outcome.ending for record in records] == [Ending.COMPLETED] * 2
    assert [record.outcome.turns for record in records] == [1, 1]
    assert [record.trace.last_message for record in records] == ["fine"] * 2
    assert [(record.trace.init or {})["session_id"] for record in records] == [SESSION] * 2
    for request in api.messages:
        assert told(request.body) == [*TURNS, PROMPT]
    assert (case.directory / "h.jsonl").read_text() == history()


def test_first_request_equals_the_reference(backend: MakeBackend, tmp_path: Path) -> None:
    root = write_plugin(
        tmp_path / "demo", {"evals/hello/case.yaml": YAML, "evals/hello/h.jsonl": history()}
    )
    (root / "evals/hello/prompt.md").unlink()
    case = make_case(root, history_file="h.jsonl")

    with ScriptedApi(script(rule(turns=["fine"]))) as api:
        run_reference(root, api, "--ablation", "with-without", env={"ANTHROPIC_API_KEY": KEY})
        theirs = [comparable(request.body) for request in api.messages]
        made = backend(api)
        for arm in Arm:
            made.run(make_request(case, arm))
        ours = [comparable(request.body) for request in api.messages[len(theirs) :]]

    assert len(theirs) == 2
    assert ours == theirs


def test_agent_reads_neither_the_conversation_nor_its_copy(
    backend: MakeBackend, tmp_path: Path
) -> None:
    root = write_plugin(tmp_path / "demo", {"evals/hello/h.jsonl": history()})
    case = make_case(root, history_file="h.jsonl", allowed_tools=("Read",))
    reads = [
        tool("Read", file_path=str(case.directory / "h.jsonl")),
        tool("Read", file_path="{cwd}/../../out/history.jsonl"),
        tool("Grep", pattern="Zoe", path="{cwd}/../../out"),
    ]

    with ScriptedApi(script(rule(turns=[reads, "fine"]))) as api:
        record = backend(api).run(make_request(case))

    results = tool_results(record)
    assert len(results) == 3
    assert all(result.startswith("!") for result in results.values())


def test_conversation_that_is_gone_is_not_measured(backend: MakeBackend, tmp_path: Path) -> None:
    case = make_case(write_plugin(tmp_path / "demo"), history_file="h.jsonl")

    with ScriptedApi(script(rule(turns=["fine"]))) as api:
        record = backend(api).run(make_request(case))

    assert record.outcome.ending is Ending.SETUP_FAILED
    assert "h.jsonl" in str(record.outcome.error)
    assert api.messages == ()
