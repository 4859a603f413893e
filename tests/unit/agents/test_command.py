"""The argument list of a run."""

from __future__ import annotations

from pathlib import Path

from pytest_plugin_eval.agents.command import agent_command
from pytest_plugin_eval.agents.sandbox import Sandbox
from pytest_plugin_eval.records.model import Arm
from tests.support.agents import make_case, make_request, write_plugin

RUN = Sandbox(Path("/runs/eval-1"))
BINARY = Path("/bin/claude")


def test_command_of_a_with_run(tmp_path: Path) -> None:
    root = write_plugin(tmp_path)
    case = make_case(
        root, max_turns=4, model="opus", append_system_prompt="-x", allowed_tools=("Skill",)
    )

    command = agent_command(BINARY, make_request(case), RUN)

    assert command[:-2] == (
        "/bin/claude",
        *("-p", "--output-format", "stream-json", "--verbose", "--max-turns", "4"),
        *("--permission-mode", "dontAsk", "--setting-sources", "user"),
        *("--strict-mcp-config", "--no-session-persistence"),
        "--model=opus",
        *("--plugin-dir", str(root)),
        "--append-system-prompt=-x",
        *("--tools", "Read,Glob,Grep,Skill,Agent,TaskStop,ToolSearch"),
    )
    assert command[-2] == "--allowed-tools=Skill"
    assert command[-1].startswith("--disallowed-tools=Read(//runs/eval-1/config/**),")


def test_without_run_lacks_the_plugin_and_nothing_else(tmp_path: Path) -> None:
    case = make_case(write_plugin(tmp_path))

    with_arm = agent_command(BINARY, make_request(case), RUN)
    without = agent_command(BINARY, make_request(case, Arm.WITHOUT), RUN)

    assert [word for word in with_arm if word not in without] == ["--plugin-dir", str(tmp_path)]
    assert [word for word in without if word not in with_arm] == []


def test_model_of_the_option_goes_before_that_of_the_case(tmp_path: Path) -> None:
    case = make_case(tmp_path, model="opus")

    assert "--model=haiku" in agent_command(BINARY, make_request(case, model="haiku"), RUN)


def test_prompt_is_not_on_the_command_line(tmp_path: Path) -> None:
    case = make_case(tmp_path, prompt="a secret of the prompt")

    assert not any("secret" in word for word in agent_command(BINARY, make_request(case), RUN))


def test_removed_tools_lose_their_grant(tmp_path: Path) -> None:
    case = make_case(tmp_path, allowed_tools=("Read",), disallowed_tools=("Skill",))
    request = make_request(case, allow_tools=("Write",), disallow_tools=("Agent", "Write"))

    command = agent_command(BINARY, request, RUN)

    assert command[-1].endswith(",Read(//proc/**),Agent,Write,Skill")
    assert not any("Write(" in word for word in command)


def test_conversation_is_resumed_from_its_copy_and_may_be_kept(tmp_path: Path) -> None:
    case = make_case(tmp_path, history_file="h.jsonl")

    for arm in Arm:
        command = agent_command(BINARY, make_request(case, arm), RUN)
        assert command[command.index("--resume") + 1] == "/runs/eval-1/out/history.jsonl"
        assert "--no-session-persistence" not in command
