"""Cases as a model proposes them, and a plugin to propose them for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Fields = dict[str, Any]

SKILL = "---\nname: greet\ndescription: Greets people in French\n---\n\nSay bonjour to them.\n"
MARK = "You write evaluation cases"
"""In the request for proposals, and in no other."""
GREETS = "Maria starts here on Monday. Write her one line of greeting for the door."
KILLED_NEW = ".plugin-eval-new-1-4294967295"
"""The list of a process that cannot be running."""
WEATHER = "What is a nice way to say that it rains?"


def grader(kind: str = "regex", name: str = "says-bonjour", **fields: object) -> Fields:
    """Return a grader, a regex unless said otherwise."""
    if kind == "regex":
        fields = {"pattern": "[Bb]onjour", **fields}
    return {"type": kind, "name": name, **fields}


def positive(**fields: object) -> Fields:
    """Return a case that should trigger the skill."""
    return {
        "name": "greets-maria",
        "skill": "greet",
        "should_trigger": True,
        "prompt": GREETS,
        "why": "the plain form of the request",
        "graders": [grader()],
        **fields,
    }


def negative(**fields: object) -> Fields:
    """Return a case that should not trigger it."""
    return {
        "name": "talks-of-rain",
        "skill": "greet",
        "should_trigger": False,
        "prompt": WEATHER,
        "why": "polite words, and nobody to greet",
        "graders": [],
        **fields,
    }


def reply(*cases: object) -> str:
    """Return the reply that proposes these cases."""
    return json.dumps({"cases": list(cases)})


def plugin_files(name: str = "demo") -> Mapping[str, str]:
    """Return a plugin with one skill, one agent and one MCP server."""
    return {
        ".claude-plugin/plugin.json": json.dumps({"name": name, "version": "1.0.0"}),
        "skills/greet/SKILL.md": SKILL,
        "agents/host.md": "---\nname: host\ndescription: Welcomes guests\n---\n\nBe kind.\n",
        ".mcp.json": json.dumps({"mcpServers": {"door": {"command": "true"}}}),
    }


def killed_new(*cases: str) -> Mapping[str, str]:
    """Return what says that a killed process left these cases in an eval directory."""
    return {f"evals/{KILLED_NEW}": json.dumps(cases)}
