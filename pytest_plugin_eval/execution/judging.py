"""Which back end judges: the Messages API where it can be asked directly, else the agent binary."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_plugin_eval.agents.binary import Binary, find_binary
from pytest_plugin_eval.agents.child import Child, Limits
from pytest_plugin_eval.agents.credentials import credentials_text, operator_secrets
from pytest_plugin_eval.agents.environment import agent_environment
from pytest_plugin_eval.agents.limits import slow_down_until
from pytest_plugin_eval.agents.sandbox import RunRoot, Sandbox
from pytest_plugin_eval.errors import AgentError, JudgeError
from pytest_plugin_eval.judges.agent_binary import VARIABLES, AgentBinary, Session
from pytest_plugin_eval.judges.anthropic_sdk import AnthropicSdk, obstacle
from pytest_plugin_eval.judges.base import JudgeBackend, SlowDown
from pytest_plugin_eval.judges.models import cloud_of, is_alias, resolve_model
from pytest_plugin_eval.records.trace import Trace

__all__ = ["find_judge"]

TIMEOUT_S = 300.0
END_S = 30.0
"""For processes that were told to end."""
RETRIES = "2"
"""Of the binary as a judge, where ``CLAUDE_CODE_MAX_RETRIES`` says nothing.

As many as the SDK makes; the binary's own ten take three minutes for each refused vote.
"""

_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


def find_judge(
    *,
    env: Mapping[str, str],
    agent_path: Path | None,
    run_root: Path | None,
    slow_down: SlowDown = lambda _: None,
    needed_by: str = "llm and baseline graders",
) -> JudgeBackend:
    """Return the back end for this machine, to be closed.

    *slow_down* is told, while a call goes on, until when the service asked for a pause;
    *needed_by* is who has to do without, for the message.
    Raises `JudgeError`, which says what to install or set, when there is none.
    """
    secrets = operator_secrets(env)
    hurdle = obstacle(env) or _nameless(env)
    if hurdle is None:
        try:
            return AnthropicSdk(env, secrets=secrets, slow_down=slow_down)
        except JudgeError as error:
            hurdle = f"mend the settings ({error})"
    try:
        binary = find_binary(agent_path, env)
        program = _Program(binary, env=env, run_root=run_root, slow_down=slow_down)
    except AgentError as error:
        raise JudgeError(
            f"no judge for {needed_by}: {hurdle} to ask the Messages API, or make the"
            f" agent binary usable: {error}"
        ) from error
    return AgentBinary(
        program,
        env=env,
        description=_description(binary, env, hurdle),
        secrets=secrets,
    )


def _nameless(env: Mapping[str, str]) -> str | None:
    """Return what to set where only the agent knows what the default judge is called."""
    if cloud_of(env) is not None and is_alias(resolve_model(None, env)):
        return "set ANTHROPIC_DEFAULT_HAIKU_MODEL"
    return None


def _description(binary: Binary, env: Mapping[str, str], hurdle: str) -> str:
    text = f"agent binary, {binary.description}"
    if cloud_of(env) is not None or any(env.get(name) for name in _KEYS):
        return f"{text}; faster: {hurdle}"
    return text


class _Program:
    """Starts the binary in run directories like those of agent runs."""

    def __init__(
        self,
        binary: Binary,
        *,
        env: Mapping[str, str],
        run_root: Path | None,
        slow_down: SlowDown,
    ) -> None:
        """Raises `AgentError` where no run directories can be made."""
        self._binary = binary
        self._env = dict(env)
        self._root = RunRoot(run_root)
        self._slow_down = slow_down
        self._guard = threading.Condition()
        self._running = 0
        self._children: set[Child] = set()
        self._is_stopped = False
        self._root.open()

    def run(self, arguments: Sequence[str], text: str) -> Session:
        """Give *text* to a process and follow it to its end."""
        with self._guard:
            if self._is_stopped:
                return Session(lines=(), stopped=True)
            self._running += 1
        sandbox = self._root.new()
        try:
            sandbox.make(credentials=credentials_text(self._env))
            return self._follow(arguments, text, sandbox)
        finally:
            self._root.remove(sandbox)
            with self._guard:
                self._running -= 1
                self._guard.notify_all()

    def close(self) -> None:
        """End the processes in flight, start no other, and remove the directories."""
        with self._guard:
            self._is_stopped = True
            for child in self._children:
                child.stop()
            # Directories are given back before their place is given up.
            self._guard.wait_for(lambda: not self._running, END_S)
        self._root.close()

    def _follow(self, arguments: Sequence[str], text: str, sandbox: Sandbox) -> Session:
        env = {**agent_environment(self._env, sandbox, {}), **VARIABLES}
        env["CLAUDE_CODE_MAX_RETRIES"] = env.get("CLAUDE_CODE_MAX_RETRIES") or RETRIES
        child = Child(
            (str(self._binary.path), *arguments),
            cwd=sandbox.workspace,
            env=env,
            limits=Limits(timeout_s=TIMEOUT_S),
        )
        with self._guard:
            self._children.add(child)
            if self._is_stopped:
                child.stop()
        try:
            result = child.run(text, on_refusal=self._on_refusal)
        finally:
            with self._guard:
                self._children.discard(child)
        return Session(
            lines=result.lines,
            stderr=result.stderr,
            timed_out=result.timed_out,
            stopped=result.stopped,
            slow_down_until=slow_down_until(Trace(result.lines), time.time()),
        )

    def _on_refusal(self, line: str) -> None:
        self._slow_down(slow_down_until(Trace([line]), time.time()))
