"""What the `init` record proves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_plugin_eval.agents.proof import (
    contamination,
    forget_plugins,
    not_loaded,
    shell_failure,
)
from pytest_plugin_eval.cases.model import ToolUsedSpec
from pytest_plugin_eval.records.model import Arm
from pytest_plugin_eval.records.trace import Trace
from tests.support.agents import make_case, write_plugin

RUN = Path("/runs/eval-1")
BUILT_IN = {"name": "built", "path": "builtin", "source": "built@builtin"}
SILENT = "---\nname: quiet\nuser-invocable: false\n---\n"


def init_of(root: Path, **fields: Any) -> dict[str, Any]:
    return {
        "type": "system",
        "subtype": "init",
        "plugins": [{"name": "demo", "path": str(root), "source": "demo@inline"}, BUILT_IN],
        "skills": ["demo:greet", "verify"],
        "mcp_servers": [],
        "memory_paths": {"auto": f"{RUN}/config/projects/x/memory/"},
        **fields,
    }


def grader(pattern: str | None, **options: Any) -> ToolUsedSpec:
    return ToolUsedSpec(name="used", type="tool_used", tool="Skill", input_match=pattern, **options)


def hook(event: str) -> dict[str, str]:
    return {"type": "system", "subtype": "hook_started", "hook_event": event}


def trace(*events: dict[str, Any]) -> Trace:
    return Trace(json.dumps(event) for event in events)


def test_loaded_plugin_and_skill_are_no_problem(tmp_path: Path) -> None:
    case = make_case(write_plugin(tmp_path), graders=(grader("demo:greet"),))

    assert not_loaded(init_of(tmp_path), case) is None


def test_plugin_from_another_place_is_not_loaded(tmp_path: Path) -> None:
    case = make_case(write_plugin(tmp_path))

    problem = not_loaded(init_of(Path("/elsewhere")), case)

    assert problem == (f"plugin demo is not loaded from {tmp_path}, loaded are: demo (/elsewhere)")


@pytest.mark.parametrize(
    ("pattern", "options", "skills", "problem"),
    [
        ("demo:greet", {}, [], "skill demo:greet is not loaded although its SKILL.md is there"),
        ('"skill":"greet"', {}, [], "skill demo:greet is not loaded"),
        ("demo:empty", {}, ["demo:greet"], "demo:empty is not loaded: its SKILL.md is missing"),
        ("renamed", {}, ["demo:greet"], "skill demo:other is not loaded"),
        ("renamed", {}, ["demo:other"], None),
        ("demo:quiet", {}, [], None),
        ("demo:greet", {"max": 0}, [], None),
        (None, {}, [], None),
        ("someone:else", {}, [], None),
        ("demo:(greet|empty)", {}, ["demo:greet"], None),
        ("(?<name>greet)", {}, [], None),
    ],
)
def test_skill_that_a_grader_names(
    tmp_path: Path,
    pattern: str | None,
    options: dict[str, Any],
    skills: list[str],
    problem: str | None,
) -> None:
    root = write_plugin(
        tmp_path,
        {
            "skills/empty/notes.md": "",
            "skills/other/SKILL.md": "---\nname: renamed\n---\n",
            "skills/quiet/SKILL.md": SILENT,
        },
    )
    case = make_case(root, graders=(grader(pattern, **options),))

    found = not_loaded(init_of(root, skills=skills), case)

    assert (found is None) == (problem is None)
    assert (problem or "") in (found or "")


def test_message_lists_what_is_loaded_and_who_asks(tmp_path: Path) -> None:
    root = write_plugin(tmp_path, {"skills/empty/notes.md": ""})

    problem = not_loaded(init_of(root), make_case(root, graders=(grader("demo:empty"),)))

    assert problem == (
        "skill demo:empty is not loaded: its SKILL.md is missing, loaded are: demo:greet;"
        " grader 'used' looks for it"
    )


def test_skill_folder_is_a_plugin_with_one_skill(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text("---\nname: lone\ndescription: d\n---\n", encoding="utf-8")
    case = make_case(tmp_path, graders=(grader("lone"),))

    assert not_loaded(init_of(tmp_path, skills=["demo:lone"]), case) is None
    assert not_loaded(init_of(tmp_path, skills=[]), case) is not None


@pytest.mark.parametrize(
    ("pattern", "init", "problem"),
    [
        ('"skill":"demo:hail"', {}, "skill 'hail' is not loaded, the plugin has: demo:greet"),
        (r'"skill"\s*:\s*"(?:[\w-]+:)?hail"', {}, "skill 'hail' is not loaded"),
        ('"skill":"(?:demo:)?(hail|hey)"', {}, "skill 'hail' or 'hey' is not loaded"),
        ('"skill":"demo:hail","args":"loud"', {}, "skill 'hail' is not loaded"),
        ('"skill":"demo:greet","args":"loud"', {}, None),
        ('"skill":"(?:demo:)?(hail|greet)"', {}, None),
        ('"skill":"(?:demo:)?greet"', {"skills": ["verify"]}, "look at its frontmatter"),
        ('"skill":"verify"', {}, None),
        ('"skill":"demo:quiet","args":"a"', {}, None),
        ('"skill":"review"', {"slash_commands": ["review"]}, None),
        ('"skill":"(?:demo:)?inner"', {}, None),
        ('"skill":"(hail|gr.*)"', {}, None),
        ('"skill":"[h]ail"', {}, None),
        ("hail", {}, None),
    ],
)
def test_skill_that_is_not_there_any_more(
    tmp_path: Path, pattern: str, init: dict[str, Any], problem: str | None
) -> None:
    files = {"skills/quiet/SKILL.md": SILENT, "skills/set/inner/SKILL.md": SILENT}
    root = write_plugin(tmp_path, files)
    case = make_case(root, graders=(grader(pattern),))

    found = not_loaded(init_of(root, **init), case)

    assert (found is None) == (problem is None)
    assert (problem or "") in (found or "")


@pytest.mark.parametrize(
    ("files", "options"),
    [
        ({}, {"max": 0}),
        ({".claude-plugin/plugin.json": '{"name": "demo", "skills": ["./more"]}'}, {}),
    ],
    ids=["must-not-be-called", "skills-elsewhere"],
)
def test_unknown_skill_is_no_problem_where_it_may_be(
    tmp_path: Path, files: dict[str, str], options: dict[str, Any]
) -> None:
    root = write_plugin(tmp_path, files)
    case = make_case(root, graders=(grader('"skill":"hail"', **options),))

    assert not_loaded(init_of(root), case) is None


def test_plugin_changed_between_two_sessions_is_read_anew(tmp_path: Path) -> None:
    case = make_case(write_plugin(tmp_path), graders=(grader('"skill":"demo:hail"'),))
    events = trace(hook("PreToolUse"), init_of(tmp_path))
    before = (not_loaded(init_of(tmp_path), case), contamination(events, case, Arm.WITH, RUN))
    write_plugin(
        tmp_path,
        {
            "skills/hail/SKILL.md": "---\nname: hail\n---\n",
            "hooks/hooks.json": '{"hooks": {"PreToolUse": []}}',
        },
    )

    forget_plugins()

    assert None not in before
    assert not_loaded(init_of(tmp_path, skills=["demo:hail"]), case) is None
    assert contamination(events, case, Arm.WITH, RUN) is None


@pytest.mark.parametrize("arm", list(Arm))
@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (
            {"plugins": [{"name": "mine", "path": "/mine", "source": "mine@market"}]},
            "plugin mine from /mine is loaded",
        ),
        (
            {"plugins": [], "mcp_servers": [{"name": "mail"}]},
            "MCP server mail is configured",
        ),
        (
            {"plugins": [], "memory_paths": {"auto": "/home/me/memory/"}},
            "memory is read from /home/me/memory/",
        ),
        (
            {"plugins": [], "tools": ["Bash"], "sandbox_enabled": False},
            "the shell runs outside of the sandbox, such as by a machine policy",
        ),
        ({"plugins": [], "tools": ["Bash"], "sandbox_enabled": True}, None),
        ({"plugins": [], "tools": ["Read"], "sandbox_enabled": False}, None),
        ({"plugins": [BUILT_IN]}, None),
    ],
)
def test_foreign_parts_are_contamination(
    tmp_path: Path, arm: Arm, fields: dict[str, Any], problem: str | None
) -> None:
    case = make_case(write_plugin(tmp_path))

    found = contamination(trace(init_of(tmp_path, **fields)), case, arm, RUN)

    assert found == (problem and f"the session is not isolated: {problem}")


@pytest.mark.parametrize("arm", Arm)
def test_servers_of_the_run_are_none(tmp_path: Path, arm: Arm) -> None:
    case = make_case(write_plugin(tmp_path))
    events = trace(init_of(tmp_path, plugins=[], mcp_servers=[{"name": "solo"}]))

    assert contamination(events, case, arm, RUN, servers=("solo",)) is None
    assert "MCP server solo" in str(contamination(events, case, arm, RUN, servers=("mail",)))


def test_plugin_in_the_without_arm_is_contamination(tmp_path: Path) -> None:
    case = make_case(write_plugin(tmp_path))

    assert contamination(trace(init_of(tmp_path)), case, Arm.WITH, RUN) is None
    assert "plugin demo" in str(contamination(trace(init_of(tmp_path)), case, Arm.WITHOUT, RUN))


@pytest.mark.parametrize(
    ("arm", "event", "is_foreign"),
    [
        (Arm.WITH, "SessionStart", False),
        (Arm.WITH, "PreToolUse", True),
        (Arm.WITHOUT, "SessionStart", True),
    ],
)
def test_hook_that_is_not_the_plugins(
    tmp_path: Path, arm: Arm, event: str, is_foreign: bool
) -> None:
    case = make_case(write_plugin(tmp_path))
    plugins = init_of(tmp_path)["plugins"] if arm is Arm.WITH else []

    found = contamination(trace(hook(event), init_of(tmp_path, plugins=plugins)), case, arm, RUN)

    assert (found is not None) is is_foreign


@pytest.mark.parametrize(
    "files",
    [
        {"skills/greet/SKILL.md": "---\nname: greet\nhooks:\n  PreToolUse: []\n---\n"},
        {".claude-plugin/plugin.json": '{"name": "demo", "hooks": "./more.json"}'},
        {"hooks/hooks.json": "{"},
    ],
    ids=["skill", "named-file", "broken"],
)
def test_hooks_that_cannot_be_told_are_not_held_against_the_plugin(
    tmp_path: Path, files: dict[str, str]
) -> None:
    case = make_case(write_plugin(tmp_path, files))

    assert contamination(trace(hook("PreToolUse"), init_of(tmp_path)), case, Arm.WITH, RUN) is None


def answer(text: object, *, is_error: bool = True) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": "t", "content": text, "is_error": is_error}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


NO_SANDBOX = "Sandbox is required but failed to initialize: no sockets"


def test_command_that_cannot_be_confined_is_no_measurement() -> None:
    found = shell_failure(trace(answer("fine", is_error=False), answer(NO_SANDBOX)))

    assert found == f"the shell's sandbox does not start: {NO_SANDBOX}"


@pytest.mark.parametrize(
    "event",
    [
        answer(f"Exit code 1\n{NO_SANDBOX}"),
        answer(NO_SANDBOX, is_error=False),
        answer([{"type": "text", "text": NO_SANDBOX}]),
        {"type": "assistant", "message": {"content": [{"type": "text", "text": NO_SANDBOX}]}},
        {"type": "user", "message": NO_SANDBOX},
        {"type": "user", "message": {"content": NO_SANDBOX}},
    ],
    ids=["printed", "no-error", "blocks", "said", "text", "content"],
)
def test_words_of_a_command_are_no_failure_of_the_sandbox(event: dict[str, Any]) -> None:
    assert shell_failure(trace(event)) is None
