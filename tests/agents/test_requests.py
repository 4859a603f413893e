"""The first request of a run is that of the reference's child."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_plugin_eval.records.model import Arm
from tests.agents.conftest import KEY, make_backend
from tests.support.agents import PROMPT, make_case, make_request, write_plugin
from tests.support.reference import run_reference
from tests.support.script import rule, script
from tests.support.scripted_api import ScriptedApi

pytestmark = pytest.mark.agent

RUN = re.compile(r"/[^\" ]*?/(?:claude-eval-\w{6}|eval-[0-9a-f]{8}-\d+)")
MEMORY = re.compile(r"projects/[^/]*/memory")
# Names the session and the device.
OF_THE_SESSION = ("metadata",)
MCP = '{"mcpServers": {"mail": {"command": "false", "args": ["mail"]}}}'


def comparable(body: Mapping[str, object]) -> Mapping[str, object]:
    kept = {name: value for name, value in body.items() if name not in OF_THE_SESSION}
    text = MEMORY.sub("projects/RUN/memory", RUN.sub("<RUN>", json.dumps(kept)))
    found = json.loads(text)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("allowed", "granted", "removed", "model"),
    [
        (("Read", "Skill"), (), (), None),
        (("TaskCreate", "Agent"), ("Write", "WebFetch(domain:x.com)"), ("TaskStop",), None),
        ((), ("Edit",), (), "claude-haiku-4-5"),
    ],
    ids=["reading", "granted", "older-model"],
)
def test_first_request_equals_the_reference(
    tmp_path: Path,
    allowed: tuple[str, ...],
    granted: tuple[str, ...],
    removed: tuple[str, ...],
    model: str | None,
) -> None:
    fields = {"runs": 1, "allowed_tools": list(allowed), "append_system_prompt": "Be brief."}
    prompt = (
        f"---\n{json.dumps({**fields, **({'model': model} if model else {})})}\n---\n{PROMPT}\n"
    )
    root = write_plugin(tmp_path / "demo", {"evals/hello/prompt.md": prompt, ".mcp.json": MCP})
    case = make_case(root, allowed_tools=allowed, append_system_prompt="Be brief.", model=model)
    options = [word for tool in granted for word in ("--allow-tools", tool)]
    options += [word for tool in removed for word in ("--disallow-tools", tool)]

    with ScriptedApi(script(rule(turns=["GRADER-PATTERN"]))) as api:
        run_reference(root, api, *options, env={"ANTHROPIC_API_KEY": KEY})
        theirs = [comparable(request.body) for request in api.messages]
        backend = make_backend(api, tmp_path)
        for arm in Arm:
            backend.run(make_request(case, arm, allow_tools=granted, disallow_tools=removed))
        ours = [comparable(request.body) for request in api.messages[len(theirs) :]]

    assert len(theirs) == 2
    assert ours == theirs
