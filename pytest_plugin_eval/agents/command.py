"""The argument list of the agent process. Spec: agent-run, 2 and 9.1."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_plugin_eval.agents.base import AgentRequest
from pytest_plugin_eval.agents.grants import listed, offered_tools
from pytest_plugin_eval.agents.rules import allow_rules, deny_rules
from pytest_plugin_eval.agents.sandbox import Sandbox
from pytest_plugin_eval.records.model import Arm

__all__ = ["agent_command"]


def agent_command(
    binary: Path, request: AgentRequest, sandbox: Sandbox, *, default_model: str | None = None
) -> tuple[str, ...]:
    """Return the command of a run; the prompt goes to its standard input.

    *default_model* is what the environment asks for where neither option nor case does.
    """
    model = request.model or request.case.model
    tools = _tools(request, sandbox, model or default_model)
    return (str(binary), *_session(request, model), *tools)


def _session(request: AgentRequest, model: str | None) -> Iterator[str]:
    yield from ("-p", "--output-format", "stream-json", "--verbose")
    yield from ("--max-turns", str(request.case.max_turns))
    yield from ("--permission-mode", "dontAsk", "--setting-sources", "user")
    yield from ("--strict-mcp-config", "--no-session-persistence")
    if model:
        yield f"--model={model}"
    if request.key.arm is Arm.WITH:
        for plugin in request.case.plugins:
            yield from ("--plugin-dir", str(plugin.path))
    if request.case.append_system_prompt:
        yield f"--append-system-prompt={request.case.append_system_prompt}"


def _tools(request: AgentRequest, sandbox: Sandbox, model: str | None) -> Iterator[str]:
    case = request.case
    removed = dict.fromkeys((*request.disallow_tools, *case.disallowed_tools))
    entries = tuple(
        entry for entry in listed(case, request.allow_tools) if entry.tool not in removed
    )
    allowed = allow_rules(case, request.key.arm, sandbox, entries, request.hidden)
    denied = deny_rules(case, sandbox, request.hidden)
    yield from ("--tools", ",".join(offered_tools(entries, model)))
    if allowed:
        yield f"--allowed-tools={','.join(allowed)}"
    yield f"--disallowed-tools={','.join((*denied, *removed))}"
