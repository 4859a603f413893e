"""Mocks without files, and a model that plays servers from a list of answers."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_plugin_eval.cases.mock import (
    MockServer,
    MockTool,
    Place,
    PlacedServer,
    Responder,
)
from pytest_plugin_eval.errors import JudgeError
from pytest_plugin_eval.graders.javascript import Question, ask
from pytest_plugin_eval.mocks.asking import Asked
from pytest_plugin_eval.mocks.responder import RunMocks

NOWHERE = Path("/nowhere/evals")


def matches(pattern: str, flags: str, text: str) -> bool:
    """Say whether a pattern is found, as JavaScript finds it."""
    question = Question(pattern, flags, text)
    return bool(ask([question], 10.0)[question])


def mock_tool(body: str = "", name: str = "t", **options: Any) -> MockTool:
    """Return a tool with a fixed answer unless said otherwise."""
    file = options.pop("file", NOWHERE / "mocks" / "tracker" / f"{name}.md")
    return MockTool(
        **{
            "name": name,
            "responder": Responder.FIXED,
            "body": body,
            "file": file,
            "source": body,
            "border": NOWHERE,
            **options,
        }
    )


def agent_tool(body: str = "It tracks.", name: str = "t", **options: Any) -> MockTool:
    """Return a tool that a model answers."""
    return mock_tool(body, name, responder=Responder.AGENT, **options)


def placed(*tools: MockTool, server: str = "tracker") -> PlacedServer:
    """Return a server in the place of one that the plugin ``demo`` declares."""
    return PlacedServer(
        place=Place.SHADOW,
        key=f"plugin:demo:{server}",
        segment=f"plugin_demo_{server}",
        mock=MockServer(name=server, tools=tools),
    )


def run_mocks(*servers: PlacedServer, **options: Any) -> RunMocks:
    """Return the mocks of a run of ten turns."""
    return RunMocks(**{"servers": servers, "max_turns": 10, "matches": matches, **options})


class Model:
    """Gives the answers of a list, one a question; an exception in it is raised."""

    def __init__(self, *answers: str | JudgeError, cost_usd: float | None = 0.25) -> None:
        self.asked: list[tuple[str, str]] = []
        """System text and user's text of every question."""
        self._answers = list(answers)
        self._cost_usd = cost_usd
        self._lock = threading.Lock()

    def __call__(self, system: str, user: str) -> Asked:
        """Return the next answer."""
        with self._lock:
            self.asked.append((system, user))
            answer = self._answers.pop(0)
        if isinstance(answer, JudgeError):
            raise answer
        return Asked(answer, self._cost_usd)


def trace_lines(*calls: tuple[str, Mapping[str, object], object, bool]) -> list[str]:
    """Return the lines of a trace: name, input, content of the result, whether it is an error."""
    import json

    lines = []
    for number, (name, inputs, content, is_error) in enumerate(calls):
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": inputs}
        result: dict[str, object] = {
            "type": "tool_result",
            "tool_use_id": f"toolu_{number}",
            "content": content,
        }
        if is_error:
            result["is_error"] = True
        lines.append(json.dumps({"type": "assistant", "message": {"content": [use]}}))
        lines.append(json.dumps({"type": "user", "message": {"content": [result]}}))
    return lines
