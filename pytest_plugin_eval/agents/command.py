"""The argument list of the agent process. Spec: agent-run, 2 and 9.1."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_plugin_eval.agents.base import AgentRequest
from pytest_plugin_eval.agents.grants import offered_tools, usable
from pytest_plugin_eval.agents.history import history_path
from pytest_plugin_eval.agents.rules import allow_rules, deny_rules
from pytest_plugin_eval.agents.sandbox import Sandbox
from pytest_plugin_eval.records.model import Arm

__all__ = ["agent_command", "mcp_config_path"]


def agent_command(
    binary: Path, request: AgentRequest, sandbox: Sandbox, *, default_model: str | None = None
) -> tuple[str, ...]:
    """Return the command of a run; the prompt goes to its standard input.

    *default_model* is what the environment asks for where neither option nor case does.
    """
    model = request.model or request.case.model
    tools = _tools(request, sandbox, model or default_model)
    session = _session(request, model, history_path(request.case, sandbox))
    return (str(binary), *session, *tools)


def mcp_config_path(sandbox: Sandbox) -> Path:
    """Return where the addresses of a run's stand-ins are written; the agent cannot read it."""
    return sandbox.out / "mocks.json"


def _session(request: AgentRequest, model: str | None, history: Path | None) -> Iterator[str]:
    yield from ("-p", "--output-format", "stream-json", "--verbose")
    yield from ("--max-turns", str(request.case.max_turns))
    yield from ("--permission-mode", "dontAsk", "--setting-sources", "user")
    if not request.real_servers:
        # Servers of the plugin do not start; stand-ins do, in their place.
        yield "--strict-mcp-config"
    if history is None:
        # The reference never asks for it, and a conversation that goes on may have to be kept.
        yield "--no-session-persistence"
    if model:
        yield f"--model={model}"
    if request.key.arm is Arm.WITH:
        for plugin in request.case.plugins:
            yield from ("--plugin-dir", str(plugin.path))
    if request.case.append_system_prompt:
        yield f"--append-system-prompt={request.case.append_system_prompt}"
    if history is not None:
        yield from ("--resume", str(history))


def _tools(request: AgentRequest, sandbox: Sandbox, model: str | None) -> Iterator[str]:
    case = request.case
    removed = dict.fromkeys((*request.disallow_tools, *case.disallowed_tools))
    entries = usable(case, request.allow_tools, request.disallow_tools)
    allowed = allow_rules(case, request.key.arm, sandbox, entries, request.hidden)
    denied = deny_rules(case, sandbox, request.hidden)
    yield from ("--tools", ",".join(offered_tools(entries, model, allowed)))
    if request.stand_ins is not None:
        allowed = (*allowed, *request.stand_ins.tools)
        yield f"--mcp-config={mcp_config_path(sandbox)}"
    if allowed:
        yield f"--allowed-tools={','.join(allowed)}"
    yield f"--disallowed-tools={','.join((*denied, *removed))}"
