"""One run of each arm: what the model is told, and what the record holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_plugin_eval.records.model import Arm, Ending, FileKind, RunRecord
from tests.agents.conftest import KEY, make_backend
from tests.support.agents import make_case, make_request, tool_results, write_plugin
from tests.support.script import TurnData, rule, script, tool, turn
from tests.support.scripted_api import ScriptedApi

pytestmark = pytest.mark.agent

TURNS: list[TurnData] = [
    [
        tool("Skill", skill="demo:greet"),
        tool("Agent", description="d", prompt="Help.", subagent_type="demo:helper"),
    ],
    [
        tool("Write", file_path="out/hello.txt", content=f"key {KEY}"),
        tool("Write", file_path=".hidden", content="x"),
    ],
    turn(f"bonjour {KEY}", usage={"input": 100, "output": 10}),
]


@dataclass(frozen=True)
class Both:
    records: Mapping[Arm, RunRecord]
    first_requests: Mapping[Arm, str]
    left: list[str]
    plugin_files: set[str]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    base = tmp_path_factory.mktemp("arms")
    case = make_case(write_plugin(base / "plugin"), allowed_tools=("Skill", "Agent", "Read"))
    answers = script(rule(turns=TURNS), rule(kind="subagent", turns=["helped"]))
    records, requests = {}, {}
    with ScriptedApi(answers) as api:
        backend = make_backend(api, base)
        for arm in Arm:
            seen = len(api.messages)
            records[arm] = backend.run(make_request(case, arm, allow_tools=("Write",)))
            requests[arm] = json.dumps(api.messages[seen].body)
        backend.close()
    return Both(
        records=records,
        first_requests=requests,
        left=[path.name for path in (base / "runs").iterdir()],
        plugin_files={p.relative_to(base).as_posix() for p in (base / "plugin").rglob("*")},
    )


@pytest.mark.parametrize("arm", list(Arm))
def test_run_completes(both: Both, arm: Arm) -> None:
    outcome = both.records[arm].outcome

    assert (outcome.ending, outcome.error, outcome.is_measured) == (Ending.COMPLETED, None, True)
    assert outcome.turns >= 3
    assert outcome.cost_usd is not None
    assert outcome.cost_usd > 0
    assert outcome.started_at.endswith("Z")
    assert 0 < outcome.duration_s < 120


@pytest.mark.parametrize("arm", list(Arm))
def test_written_files_are_in_the_record(both: Both, arm: Arm) -> None:
    files = both.records[arm].files

    assert [(file.path, file.kind, file.created) for file in files] == [
        (".hidden", FileKind.FILE, True),
        ("out", FileKind.DIRECTORY, False),
        ("out/hello.txt", FileKind.FILE, True),
    ]


@pytest.mark.parametrize("arm", list(Arm))
def test_key_is_nowhere_in_the_record(both: Both, arm: Arm) -> None:
    record = both.records[arm]

    assert KEY not in repr((record.trace.lines, record.files, record.notes, record.outcome))
    assert record.trace.last_message == "bonjour [***]"
    assert record.files[-1].content == b"key [***]"


def test_plugin_is_offered_in_the_with_arm_alone(both: Both) -> None:
    with_arm, without = (both.first_requests[arm] for arm in Arm)

    for text in ("demo:greet", "demo:helper", "HOOKED"):
        assert text in with_arm
    assert "demo:" not in without
    assert "HOOKED" not in without


def test_instructions_of_the_plugin_directory_are_not_read(both: Both) -> None:
    assert not any("PLUGIN-INSTRUCTIONS" in text for text in both.first_requests.values())


def test_plugin_works_in_the_with_arm_alone(both: Both) -> None:
    with_arm, without = (tool_results(both.records[arm]) for arm in Arm)

    assert with_arm["Skill demo:greet"] == "Launching skill: demo:greet"
    assert without["Skill demo:greet"].startswith("!")
    assert without["Agent d"].startswith("!")


def test_tool_calls_are_in_the_trace(both: Both) -> None:
    calls = [call.tool for call in both.records[Arm.WITH].trace.tool_calls]

    assert calls == ["Skill", "Agent", "Write", "Write"]


def test_provenance_tells_what_was_run(both: Both) -> None:
    with_arm, without = (both.records[arm].provenance for arm in Arm)

    assert set(with_arm) == {
        *("claude_version", "model", "recorded_at", "prompt", "settings", "plugin")
    }
    assert with_arm["model"].startswith("claude-")
    assert "plugin" not in without
    assert with_arm["prompt"] == without["prompt"]


def test_nothing_is_left_behind(both: Both) -> None:
    assert both.left == []
    assert both.plugin_files == {
        p.as_posix()
        for file in _PLUGIN
        for p in (Path("plugin", file), *Path("plugin", file).parents)
    } - {".", "plugin"}


_PLUGIN = (
    *(
        ".claude-plugin/plugin.json",
        "skills/greet/SKILL.md",
        "agents/helper.md",
        "hooks/hooks.json",
    ),
    *("CLAUDE.md", "notes.txt", "evals/hello/prompt.md", "evals/hello/graders/says.md"),
)
