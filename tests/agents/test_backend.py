"""The backend: runs at once, stopping, keeping, and sessions that measure something else."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pytest_plugin_eval.agents.claude_cli import ClaudeCli
from pytest_plugin_eval.cases.case import Plugin
from pytest_plugin_eval.cases.model import ToolUsedSpec
from pytest_plugin_eval.errors import AgentError
from pytest_plugin_eval.records.model import Arm, Ending
from tests.agents.conftest import MakeBackend
from tests.agents.test_child import has_ended
from tests.support.agents import make_case, make_request, write_files, write_plugin
from tests.support.reference import agent_binary
from tests.support.script import TurnData, rule, script, tool, turn
from tests.support.scripted_api import ScriptedApi

pytestmark = pytest.mark.agent

TOKEN = "sk-ant-oat01-dummy"
HOOK = "a hook for SessionStart ran that is not the plugin's"


def left_in(backend: ClaudeCli, tmp_path: Path) -> list[str]:
    backend.close()
    return sorted(path.name for path in (tmp_path / "runs").iterdir())


def test_description_names_version_and_origin(backend: MakeBackend, tmp_path: Path) -> None:
    with ScriptedApi(script()) as api:
        found = backend(api)

    assert found.description.startswith(f"Claude Code {found.version}: ")
    assert left_in(found, tmp_path) == []


def test_run_root_that_cannot_be_written_is_told_before_any_run(
    backend: MakeBackend, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()

    with (
        ScriptedApi(script()) as api,
        pytest.raises(AgentError, match="name another place with --eval-run-root"),
    ):
        backend(api, run_root=tmp_path / "file" / "runs")


def test_runs_at_once_do_not_see_each_other(backend: MakeBackend, tmp_path: Path) -> None:
    case = make_case(write_plugin(tmp_path / "demo"), allowed_tools=("Read",))
    turns: list[TurnData] = [
        tool("Write", file_path="shared.txt", content="{cwd}"),
        tool("Glob", pattern="**"),
        "done",
    ]
    with ScriptedApi(script(rule(turns=turns))) as api:
        agent = backend(api)
        requests = [make_request(case, number=n, allow_tools=("Write",)) for n in (1, 2, 3)]
        with ThreadPoolExecutor(3) as pool:
            records = list(pool.map(agent.run, requests))

    assert [record.outcome.ending for record in records] == [Ending.COMPLETED] * 3
    assert [[file.path for file in record.files] for record in records] == [["shared.txt"]] * 3
    assert len({record.files[0].content for record in records}) == 3
    assert left_in(agent, tmp_path) == []


def test_stop_interrupts_runs_in_flight_and_starts_no_more(
    backend: MakeBackend, tmp_path: Path
) -> None:
    case = make_case(write_plugin(tmp_path / "demo"))
    turns: list[TurnData] = [["so far", tool("Glob", pattern="*")], turn("late", delay_s=60)]
    with ScriptedApi(script(rule(turns=turns))) as api:
        agent = backend(api)
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(agent.run, make_request(case))
            api.wait_for_messages(2)
            agent.stop()
            record = running.result(timeout=30)
        later = agent.run(make_request(case, number=2))

    assert (record.outcome.ending, record.outcome.error) == (Ending.INTERRUPTED, "interrupted")
    assert record.trace.last_message == "so far"
    assert record.outcome.cost_usd is not None
    assert (later.outcome.ending, later.outcome.cost_usd) == (Ending.NOT_STARTED, 0.0)
    assert left_in(agent, tmp_path) == []


def test_kept_directory_holds_the_trace_and_no_sign_in(
    backend: MakeBackend, tmp_path: Path
) -> None:
    login = {"accessToken": TOKEN, "expiresAt": 9e15, "scopes": ["user:inference"]}
    file = {".claude/.credentials.json": json.dumps({"claudeAiOauth": login})}
    write_files(tmp_path / "home", file)
    case = make_case(write_plugin(tmp_path / "demo"))
    with ScriptedApi(script(rule(turns=[f"token {TOKEN}"]))) as api:
        agent = backend(api, env={"ANTHROPIC_API_KEY": ""})
        record = agent.run(make_request(case, Arm.WITHOUT, keep=True))
        sent = api.messages[0].headers["authorization"]
        agent.close()

    kept = Path(record.notes[-1].removeprefix("run directory kept: "))
    assert sent == f"Bearer {TOKEN}"
    assert record.trace.last_message == "token [***]"
    trace = (kept / "out" / "trace.jsonl").read_text(encoding="utf-8")
    assert ('"type":"result"' in trace, TOKEN in trace) == (True, False)
    assert not (kept / "config" / ".credentials.json").exists()


def test_secrets_of_credential_files_are_in_no_record(backend: MakeBackend, tmp_path: Path) -> None:
    private = "-----BEGIN PRIVATE KEY-----\nMIIEdummydummy\n-----END PRIVATE KEY-----\n"
    google = json.dumps({"type": "service_account", "private_key": private})
    aws = "[default]\naws_secret_access_key = aws-dummy-secret\n"
    write_files(tmp_path / "home", {"gcp.json": google, ".aws/credentials": aws})
    path = str(tmp_path / "home" / "gcp.json")
    case = make_case(write_plugin(tmp_path / "demo"))
    said = f"{path} has {private} and aws-dummy-secret"
    with ScriptedApi(script(rule(turns=[said]))) as api:
        agent = backend(api, env={"GOOGLE_APPLICATION_CREDENTIALS": path})
        record = agent.run(make_request(case, Arm.WITHOUT))

    assert record.trace.last_message == f"{path} has [***]\n and [***]"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"plugins": (Plugin(name="gone", path=Path("/nonexistent/gone")),)},
            "plugin gone is not loaded from /nonexistent/gone",
        ),
        (
            {
                "graders": (
                    ToolUsedSpec(name="g", type="tool_used", tool="Skill", input_match="empty"),
                )
            },
            "skill demo:empty is not loaded: its SKILL.md is missing, loaded are: demo:greet",
        ),
        (
            {
                "graders": (
                    ToolUsedSpec(
                        name="g", type="tool_used", tool="Skill", input_match='"skill":"demo:hail"'
                    ),
                )
            },
            "skill 'hail' is not loaded, the plugin has: demo:greet",
        ),
    ],
    ids=["plugin", "skill", "renamed"],
)
def test_what_is_not_loaded_ends_the_run(
    backend: MakeBackend, tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    root = write_plugin(tmp_path / "demo", {"skills/empty/notes.md": ""})
    case = make_case(root, **changes)
    with ScriptedApi(script(rule(turns=[turn("late", delay_s=60)]))) as api:
        record = backend(api).run(make_request(case))

    assert record.outcome.ending is Ending.NOT_LOADED
    assert (record.outcome.error or "").startswith(problem)
    assert record.outcome.duration_s < 30


@pytest.mark.skipif(sys.platform == "win32", reason="the wrapper is a shell script")
@pytest.mark.parametrize(
    ("extra", "problem", "is_stopped"),
    [
        ("--plugin-dir {foreign}", "plugin foreign from {foreign} is loaded", False),
        ("--mcp-config {foreign}/servers.json", "MCP server mail is configured", False),
        ("--settings {foreign}/settings.json", HOOK, False),
        ("--settings {foreign}/settings.json", HOOK, True),
    ],
    ids=["plugin", "server", "hook", "hook of a session that was stopped"],
)
def test_foreign_parts_end_the_run_as_contaminated(
    backend: MakeBackend, tmp_path: Path, extra: str, problem: str, is_stopped: bool
) -> None:
    hooks = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "echo x"}]}]}}
    foreign = write_files(
        tmp_path / "foreign",
        {
            ".claude-plugin/plugin.json": '{"name": "foreign"}',
            "servers.json": '{"mcpServers": {"mail": {"command": "true"}}}',
            "settings.json": json.dumps(hooks),
        },
    )
    wrapper = tmp_path / "claude"
    words = extra.format(foreign=foreign)
    wrapper.write_text(f'#!/bin/sh\nexec "{agent_binary()}" "$@" {words}\n', encoding="utf-8")
    wrapper.chmod(0o755)
    case = make_case(write_plugin(tmp_path / "demo"))
    turns = [turn("late", delay_s=60)] if is_stopped else ["done"]
    with ScriptedApi(script(rule(turns=turns))) as api, ThreadPoolExecutor(1) as pool:
        stops: list[Callable[[], None]] = []
        request = make_request(case, Arm.WITHOUT, attach=stops.append)
        running = pool.submit(backend(api, agent_path=wrapper).run, request)
        if is_stopped:
            api.wait_for_messages(1)
            stops[0]()
        record = running.result(timeout=60)

    assert record.outcome.ending is Ending.CONTAMINATED
    assert problem.format(foreign=foreign) in (record.outcome.error or "")


@pytest.mark.skipif(sys.platform != "linux", reason="strays are found by /proc")
def test_daemon_of_a_hook_is_ended(backend: MakeBackend, tmp_path: Path) -> None:
    daemon = "setsid sh -c 'echo $$ > pid; exec sleep 600' > /dev/null 2>&1 & sleep 0.2"
    hooks = {"SessionStart": [{"hooks": [{"type": "command", "command": daemon}]}]}
    files = {"hooks/hooks.json": json.dumps({"hooks": hooks})}
    case = make_case(write_plugin(tmp_path / "demo", files))
    with ScriptedApi(script()) as api:
        record = backend(api).run(make_request(case))

    assert record.outcome.ending is Ending.COMPLETED
    assert record.notes == ("a process outlived the agent and was ended",)
    assert has_ended(int(record.files[0].content or b"0"))


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
def test_long_error_is_cut_after_redaction(backend: MakeBackend, tmp_path: Path) -> None:
    program = tmp_path / "claude"
    echo = "head -c 1985 /dev/zero | tr '\\0' x >&2; echo $ANTHROPIC_API_KEY >&2; exit 1"
    words = f"case $1 in --version) echo 2.1.300;; *) {echo};; esac"
    program.write_text(f"#!/bin/sh\n{words}\n", encoding="utf-8")
    program.chmod(0o755)
    case = make_case(write_plugin(tmp_path / "demo"))
    with ScriptedApi(script()) as api:
        outcome = backend(api, agent_path=program).run(make_request(case)).outcome

    assert outcome.ending is Ending.NO_RESULT
    assert len(outcome.error or "") < 2100
    assert "sk-ant" not in (outcome.error or "")


def test_setup_that_fails_is_a_record(backend: MakeBackend, tmp_path: Path) -> None:
    broken = Plugin(name="demo", path=tmp_path, problem="manifest_invalid")
    with ScriptedApi(script()) as api:
        agent = backend(api)
        manifest = agent.run(make_request(make_case(tmp_path, plugins=(broken,))))
        variable = agent.run(make_request(make_case(tmp_path, env={"PATH": "x"})))

    assert {record.outcome.ending for record in (manifest, variable)} == {Ending.SETUP_FAILED}
    assert "the manifest of plugin demo" in str(manifest.outcome.error)
    assert "env key 'PATH' cannot be set by a case" in str(variable.outcome.error)


def test_threads_do_not_pile_up(backend: MakeBackend, tmp_path: Path) -> None:
    case = make_case(write_plugin(tmp_path / "demo"))
    with ScriptedApi(script()) as api:
        agent = backend(api)
        agent.run(make_request(case, Arm.WITHOUT))

        names = [thread.name for thread in threading.enumerate()]

    assert [name for name in names if "_drain" in name or "_await_exit" in name] == []
