"""The agent binary and the reference command understand the scripted Messages API."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.reference import agent_binary, run_agent, run_reference
from tests.support.script import TurnData, drop, error, judge, rule, script, text, tool, turn
from tests.support.scripted_api import ScriptedApi

pytestmark = [
    pytest.mark.agent,
    pytest.mark.skipif(
        agent_binary() is None,
        reason="no agent binary: install the extra 'claude' or put claude on PATH",
    ),
]


def _api(*rules: Mapping[str, object], **options: object) -> ScriptedApi:
    return ScriptedApi(script(*rules, **options))


def _tool_results(messages: object) -> Iterator[Mapping[str, object]]:
    assert isinstance(messages, list)
    for message in messages:
        if isinstance(message["content"], list):
            yield from (item for item in message["content"] if item["type"] == "tool_result")


def test_one_turn_session_ends_with_the_scripted_text(tmp_path: Path) -> None:
    answer = turn("Good morning", usage={"input": 1000, "output": 20, "cache_read": 5})

    with _api(rule(prompt="greet me", turns=[answer])) as api:
        done = run_agent("Please greet me", api, workspace=tmp_path)

    assert done.exit_code == 0, done.stderr
    assert done.result["result"] == "Good morning"
    assert done.result["num_turns"] == 1
    usage = done.result["usage"]
    assert isinstance(usage, dict)
    assert (usage["input_tokens"], usage["output_tokens"]) == (1000, 20)
    assert usage["cache_read_input_tokens"] == 5
    assert len(api.messages) == 1


def test_tool_calls_name_files_in_the_workspace(tmp_path: Path) -> None:
    turns: list[TurnData] = [
        tool("Write", file_path="{cwd}/note.txt", content="one\n"),
        [text("Now I look."), tool("Read", file_path="{cwd}/note.txt")],
        "Written.",
    ]

    with _api(rule(prompt="note", turns=turns)) as api:
        done = run_agent("Write a note", api, "--allowed-tools=Write,Read", workspace=tmp_path)

    assert done.result["result"] == "Written."
    assert (tmp_path / "note.txt").read_text(encoding="utf-8") == "one\n"
    assert len(api.messages) == 3
    results = list(_tool_results(api.messages[-1].body["messages"]))
    assert [result.get("is_error", False) for result in results] == [False, False]


def test_api_error_ends_the_session_with_its_message(tmp_path: Path) -> None:
    with _api(rule(turns=[error(400, "no such thing")])) as api:
        done = run_agent("anything", api, workspace=tmp_path)

    assert done.exit_code == 1
    assert done.result["is_error"] is True
    assert "no such thing" in str(done.result["result"])


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(error(529, headers={"retry-after": "0"}), id="overloaded"),
        pytest.param(drop(), id="dropped before the first byte"),
    ],
)
def test_disturbed_first_attempt_is_retried_by_the_client(
    tmp_path: Path, fault: Mapping[str, object]
) -> None:
    with _api(rule(turns=[turn("At last", faults=[fault])])) as api:
        done = run_agent("anything", api, workspace=tmp_path)

    assert done.result["result"] == "At last"
    assert [request.choice.attempt for request in api.messages if request.choice] == [0, 1]


def test_subagent_has_its_own_rule(tmp_path: Path) -> None:
    call = tool(
        "Agent", description="count", prompt="count the words", subagent_type="general-purpose"
    )

    with _api(
        rule(name="main", prompt="delegate", turns=[call, "Waiting.", "Reported."]),
        rule(name="helper", kind="subagent", prompt="count the words", turns=["Seven words"]),
    ) as api:
        done = run_agent("delegate the counting", api, "--allowed-tools=Agent", workspace=tmp_path)

    rules = [request.choice.rule for request in api.messages if request.choice]
    assert rules.count("helper") == 1
    assert done.exit_code == 0
    assert "Seven words" in str(api.messages[-1].body["messages"])


def _plugin(root: Path) -> Path:
    files = {
        ".claude-plugin/plugin.json": '{"name": "demo", "version": "1.0.0", "description": "Demo"}',
        "skills/greet/SKILL.md": "---\nname: greet\ndescription: Greets.\n---\nSay bonjour.\n",
        "evals/greets/prompt.md": "---\nallowed_tools: [Read, Skill]\n---\nGreet the team\n",
        "evals/greets/graders/says.md": "---\ntype: regex\npattern: bonjour\n---\n",
        "evals/greets/graders/nice.md": "---\ntype: llm\n---\nIs it nice?\n",
    }
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return root


def test_reference_command_sees_the_difference_between_the_arms(tmp_path: Path) -> None:
    plugin = _plugin(tmp_path / "demo")

    with _api(
        rule(
            prompt="Greet the team",
            arm="with",
            turns=[tool("Skill", skill="demo:greet"), "bonjour à tous"],
        ),
        rule(prompt="Greet the team", arm="without", runs=[["hello all"], ["bonjour"]]),
        judge("PASS", contains="Is it nice?"),
        plugin_text="demo:greet",
    ) as api:
        done = run_reference(plugin, api, "--runs", "2")

    assert done.document is not None, done.stderr
    aggregates = done.document["cases"][0]["aggregates"]
    assert aggregates["score"] == 1.0
    assert aggregates["scoreWithout"] == pytest.approx(0.75)
    assert aggregates["delta"] == pytest.approx(0.25)
    assert done.exit_code == 0


def test_reference_command_out_of_time_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = _plugin(tmp_path / "demo")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))

    with (
        _api(rule(turns=[turn("late", delay_s=600)])) as api,
        pytest.raises(subprocess.TimeoutExpired),
    ):
        run_reference(plugin, api, "--runs", "1", timeout_s=3)

    assert list(scratch.iterdir()) == []
