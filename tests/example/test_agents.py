"""The agents of the example that score skills: in step with the command, and installable."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from pytest_plugin_eval.quality.given_replies import given_layer, read_given
from pytest_plugin_eval.quality.judge_prompts import CHECKS, Check
from pytest_plugin_eval.records.codec import decode
from pytest_plugin_eval.records.layout import record_path
from pytest_plugin_eval.records.model import Arm, RunKey
from tests.example.markdown import ROOT, blocks
from tests.example.quality_script import JUDGED, REPLIES, SKILL
from tests.example.workplace import EXAMPLE, copy_example, run_line
from tests.support.installs import Installs
from tests.support.reference import run_agent
from tests.support.script import rule, script, tool, turn
from tests.support.scripted_api import ScriptedApi

JUDGE = (EXAMPLE / "agents" / "eval-judge.md").read_text(encoding="utf-8")
ORCHESTRATOR = (EXAMPLE / "agents" / "eval-orchestrator.md").read_text(encoding="utf-8")
CASE = EXAMPLE / "evals" / "judge-a-skill" / "prompt.md"
COMMANDS = [line.strip() for line in re.findall(r"^ +plugin-eval .*$", ORCHESTRATOR, re.M)]
ALL = sorted(check.dimension.value for check in CHECKS)


def one_line(text: str) -> str:
    return " ".join(text.split())


def fields(form: str) -> set[str]:
    """Return the keys of a reply's form."""
    return set(re.findall(r'"(\w+)":', form))


def example_answer() -> dict[str, dict[str, object]]:
    [block] = blocks(JUDGE, "json")
    answer: dict[str, dict[str, object]] = json.loads(block.text)
    return answer


def handed_over(number: int) -> str:
    """Return the file that the agent handed on in a recorded run with the plugin."""
    key = RunKey(case="evals/judge-a-skill", arm=Arm.WITH, number=number)
    path = record_path(EXAMPLE / "evals" / "recordings", key)
    [entry] = [
        file for file in decode(path.read_bytes(), str(path)).files if "replies" in file.path
    ]
    assert entry.content is not None
    return entry.content.decode("utf-8")


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.key)
def test_judge_has_the_question_of_the_layer_in_its_own_words(check: Check) -> None:
    # Steps, anchors, and what ends a task that is written in one paragraph.
    steps = [line for line in check.task.splitlines() if line[0:1].isdigit()]
    asked = steps or [check.task.rpartition(": ")[2]]

    told = one_line(JUDGE)

    assert f"## {check.key} " in told
    assert [step for step in asked if one_line(step) not in told] == []


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.key)
def test_answer_of_the_judge_has_the_form_the_layer_asks_for(check: Check) -> None:
    answer = example_answer()

    assert list(answer) == [one.key for one in CHECKS]
    assert fields(json.dumps(answer[check.key])) == fields(check.reply)


def test_answer_of_the_judge_is_read_by_the_command() -> None:
    layer = given_layer(read_given(json.dumps(example_answer()), "eval-judge.md"))

    assert (sorted(layer.sub_scores), layer.metadata["unmeasured"]) == (ALL, [])


def test_judge_can_read_and_nothing_else() -> None:
    tools = re.search(r"^tools: (.*)$", JUDGE, re.M)

    assert tools
    assert set(tools[1].split(", ")) <= {"Read", "Grep", "Glob"}


def test_commands_of_the_orchestrator_merge_what_the_judge_answers(tmp_path: Path) -> None:
    copy_example(tmp_path)
    shutil.copytree(EXAMPLE / "skills" / "changelog", tmp_path / "changelog")
    (tmp_path / "judge-replies.json").write_text(JUDGED, encoding="utf-8")

    quick, merge = (
        run_line(f"{line.replace('SKILL', 'changelog')}", tmp_path) for line in COMMANDS
    )

    static = json.loads(quick.stdout)
    merged = json.loads(merge.stdout[merge.stdout.index("{") :])
    assert static["composite"]["confidence_label"] == "Estimated"
    assert static["findings"]
    assert merged["composite"]["confidence_label"] == "Assessed"
    assert merged["layers"][1]["sub_scores"]["output_quality"] == REPLIES["output_quality"]["score"]


def test_plugin_is_told_apart_as_the_orchestrator_does(tmp_path: Path) -> None:
    copy_example(tmp_path)

    done = run_line(COMMANDS[0].replace("SKILL", "example_plugin"), tmp_path)

    assert "skill_scores" in json.loads(done.stdout)["layers"][0]["sub_scores"]
    assert "`skill_scores`" in ORCHESTRATOR


def test_script_saves_the_skill_that_the_case_shows() -> None:
    [shown] = blocks(CASE.read_text(encoding="utf-8"), "markdown")

    assert shown.text == SKILL


@pytest.mark.parametrize(("number", "unmeasured"), [(1, []), (2, ALL), (3, [])])
def test_recorded_hand_over_is_read_as_the_case_says(number: int, unmeasured: list[str]) -> None:
    layer = given_layer(read_given(handed_over(number), "judge-replies.json"))

    assert layer.metadata["unmeasured"] == unmeasured


def test_marketplace_lists_the_example_as_its_manifest_names_it() -> None:
    catalog = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text("utf-8"))
    [entry] = catalog["plugins"]
    manifest = json.loads(
        (ROOT / entry["source"] / ".claude-plugin/plugin.json").read_text("utf-8")
    )

    assert entry["name"] == manifest["name"]
    assert f"install {entry['name']}@{catalog['name']}" in (EXAMPLE / "README.md").read_text(
        "utf-8"
    )


@pytest.mark.agent
def test_marketplace_installs_the_agents(tmp_path: Path) -> None:
    shop = tmp_path / "checkout"
    copy_example(shop)
    shutil.copytree(ROOT / ".claude-plugin", shop / ".claude-plugin")
    installs = Installs(tmp_path)

    verdict = installs.agent("plugin", "validate", str(shop))
    installs.agent("plugin", "marketplace", "add", str(shop))
    installs.install("git-scribe@pytest-plugin-eval")
    details = installs.agent("plugin", "details", "git-scribe@pytest-plugin-eval")

    assert "warning" not in verdict
    assert {"eval-judge", "eval-orchestrator"} <= set(re.findall(r"[\w-]+", details))
    assert "failed" not in installs.agent("plugin", "list")


@pytest.mark.agent
def test_orchestrator_merges_by_the_command_in_a_session(tmp_path: Path) -> None:
    plugin = copy_example(tmp_path)
    (workspace := tmp_path / "work").mkdir()
    shutil.copytree(EXAMPLE / "skills" / "changelog", workspace / "changelog")
    quick, merge = (line.replace("SKILL", "changelog") for line in COMMANDS)

    with ScriptedApi(script(*orchestrated(quick, merge))) as api:
        done = run_agent(
            "Score changelog",
            api,
            *("--plugin-dir", str(plugin), "--allowedTools", "Agent", "Bash", "Write"),
            workspace=workspace,
            env={"PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))},
        )
        told = [json.dumps(message.body) for message in api.messages]

    assert done.exit_code == 0, done.stdout
    assert (workspace / "judge-replies.json").read_text(encoding="utf-8") == JUDGED
    assert any("Estimated" in text for text in told)
    assert any("Assessed" in text and "replies_from" in text for text in told)


def orchestrated(quick: str, merge: str) -> list[dict[str, object]]:
    """Return rules by which the agents do what their instructions say."""
    return [
        rule(prompt="Score changelog", turns=[ask("eval-orchestrator", "ORCHESTRATE"), "Done."]),
        rule(
            kind="subagent",
            prompt="ORCHESTRATE",
            turns=[
                turn(tool("Bash", command=quick, description="Static layer")),
                ask("eval-judge", "JUDGE changelog"),
                turn(tool("Write", file_path="{cwd}/judge-replies.json", content=JUDGED)),
                turn(tool("Bash", command=merge, description="Merge")),
                "Reported.",
            ],
        ),
        rule(
            kind="subagent",
            prompt="JUDGE changelog",
            turns=[turn(tool("Read", file_path="{cwd}/changelog/SKILL.md")), JUDGED],
        ),
    ]


def ask(agent: str, prompt: str) -> dict[str, object]:
    return turn(
        tool(
            "Agent",
            description="Score",
            prompt=prompt,
            subagent_type=f"git-scribe:{agent}",
            run_in_background=False,
        )
    )
