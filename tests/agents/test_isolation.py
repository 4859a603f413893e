"""Nothing of the operator reaches a run: neither secrets nor personal configuration."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_plugin_eval.records.model import Arm, Ending, RunRecord
from tests.agents.conftest import make_backend
from tests.support.agents import make_case, make_request, tool_results, write_files, write_plugin
from tests.support.script import rule, script, tool
from tests.support.scripted_api import ScriptedApi

pytestmark = pytest.mark.agent

MARK = "PERSONAL"
HOOK = {"hooks": [{"type": "command", "command": "echo PERSONAL-HOOK; touch {home}/PERSONAL-RAN"}]}
SKILL = "---\nname: personal-skill\ndescription: PERSONAL-SKILL\n---\nPERSONAL-BODY\n"
AGENT = "---\nname: personal-agent\ndescription: PERSONAL-AGENT\n---\nPERSONAL-BODY\n"
SERVER = {"mcpServers": {"PERSONAL-SERVER": {"command": "touch", "args": ["{home}/PERSONAL-RAN"]}}}
SETTINGS = {
    "env": {"EVAL_PERSONAL": "PERSONAL-VARIABLE"},
    "permissions": {"allow": ["Bash", "Read"]},
    "hooks": {event: [HOOK] for event in ("SessionStart", "UserPromptSubmit", "Stop")},
    "outputStyle": "personal",
}
PERSONAL = {
    "settings.json": json.dumps(SETTINGS),
    "settings.local.json": json.dumps(SETTINGS),
    "CLAUDE.md": "PERSONAL-INSTRUCTIONS\n",
    "skills/personal-skill/SKILL.md": SKILL,
    "agents/personal-agent.md": AGENT,
    "commands/personal.md": "---\ndescription: PERSONAL-COMMAND\n---\nPERSONAL-BODY\n",
    "output-styles/personal.md": "---\nname: personal\n---\nPERSONAL-STYLE\n",
    "rules/personal.md": "PERSONAL-RULE\n",
}
HOME = {
    **{f".claude/{name}": text for name, text in PERSONAL.items()},
    **{f"elsewhere/{name}": text for name, text in PERSONAL.items()},
    ".claude.json": json.dumps({"hasCompletedOnboarding": True, **SERVER}),
    ".mcp.json": json.dumps(SERVER),
    "CLAUDE.md": "PERSONAL-INSTRUCTIONS\n",
    "AGENTS.md": "PERSONAL-INSTRUCTIONS\n",
    ".gitconfig": "[user]\n\tname = PERSONAL-NAME\n\temail = PERSONAL@example.invalid\n",
}
SECRETS = {
    name: f"PERSONAL-{name}-VALUE"
    for name in (
        "GITHUB_TOKEN",
        "OPENAI_API_KEY",
        "MY_SECRET",
        "NPM_TOKEN",
        "SSH_AUTH_SOCK",
        "EDITOR",
    )
}
DUMP = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "env > env.txt"}]}]}}


@dataclass(frozen=True)
class Runs:
    home: Path
    records: Mapping[Arm, RunRecord]
    requests: tuple[str, ...]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """One run of each arm, below the home of an operator who has everything, signed in by a key."""
    base = tmp_path_factory.mktemp("isolation")
    home = base / "home"
    write_files(home, {name: text.replace("{home}", str(home)) for name, text in HOME.items()})
    root = write_plugin(base / "demo", {"hooks/hooks.json": json.dumps(DUMP)})
    case = make_case(root, allowed_tools=("Skill", "Agent", "Read", "Glob"))
    turns = [
        [
            tool("Skill", skill="personal-skill"),
            tool("Agent", description="p", prompt="Go.", subagent_type="personal-agent"),
            tool("Bash", command="echo hi"),
            tool("Read", file_path=f"{home}/CLAUDE.md"),
            tool("Read", file_path=f"{home}/.claude/settings.json"),
            tool("Read", file_path="{cwd}/../../config/.claude.json"),
            tool("Glob", pattern=f"{home}/**/*.md"),
        ],
        "done",
    ]
    env = {**SECRETS, "CLAUDE_CONFIG_DIR": str(home / "elsewhere"), "CLAUDECODE": "1"}
    with ScriptedApi(script(rule(turns=turns))) as api:
        backend = make_backend(api, base, env=env, run_root=home / ".cache" / "runs")
        records = {arm: backend.run(make_request(case, arm)) for arm in Arm}
        backend.close()
        requests = tuple(json.dumps(request.body) for request in api.messages)
    return Runs(home=home, records=records, requests=requests)


@pytest.mark.parametrize("arm", list(Arm))
def test_run_is_found_clean(runs: Runs, arm: Arm) -> None:
    outcome = runs.records[arm].outcome

    assert (outcome.ending, outcome.error) == (Ending.COMPLETED, None)


def test_model_is_told_nothing_personal(runs: Runs) -> None:
    told = [request.replace(str(runs.home), "HOME") for request in runs.requests]

    assert len(told) == 4
    assert [request for request in told if MARK in request] == []


def test_personal_hooks_and_servers_do_not_run(runs: Runs) -> None:
    assert not (runs.home / "PERSONAL-RAN").exists()


def test_plugin_code_sees_no_secret(runs: Runs) -> None:
    files = {file.path: file.content for file in runs.records[Arm.WITH].files}

    environment = (files["env.txt"] or b"").decode()
    assert "ANTHROPIC_API_KEY=[***]" in environment.splitlines()
    assert MARK not in environment
    assert str(runs.home / "elsewhere") not in environment


@pytest.mark.parametrize("arm", list(Arm))
def test_init_record_names_nothing_personal(runs: Runs, arm: Arm) -> None:
    init = runs.records[arm].trace.init or {}

    assert "personal" not in json.dumps(init).replace(str(runs.home), "HOME").lower()
    assert init["mcp_servers"] == []


@pytest.mark.parametrize("arm", list(Arm))
def test_personal_tools_and_files_are_refused(runs: Runs, arm: Arm) -> None:
    results = tool_results(runs.records[arm])

    assert len(results) == 7
    assert [call for call, result in results.items() if not result.startswith("!")] == []
