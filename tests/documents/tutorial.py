"""The plugin that the tutorial makes, and a model that answers its prompts."""

from __future__ import annotations

import re
from pathlib import Path

from tests.example.markdown import ROOT, blocks
from tests.support.script import rule, script, tool, turn

TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`((?:(?:evals|skills|\.claude-plugin|\.github)/|pytest\.ini)[^`]*)`:?$")
"""The end of a paragraph that says which file the block below it is."""
_USAGE = {"input": 2500, "output": 100}


def write_tutorial(plugin: Path, until: str = "") -> Path:
    """Write the files that the tutorial shows, and return the plugin's directory."""
    told = TUTORIAL[: TUTORIAL.index(until)] if until else TUTORIAL
    for block in blocks(told):
        if found := NAMED.search(block.above):
            file = plugin / found[1]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
    return plugin


def tutorial_script() -> object:
    """Return what the model answers: with the plugin in the house style, else plainly."""
    call = turn(tool("Skill", skill="greeter:greet"), usage=_USAGE)
    ahoy, welcome, sail = (
        turn(text, usage=_USAGE)
        for text in ("Ahoy, Maria! A fair wind.", "Welcome!", "Shorten sail.")
    )
    return script(
        rule(prompt="Maria starts here", arm="with", turns=[call, ahoy]),
        rule(prompt="Maria starts here", arm="without", turns=[welcome]),
        rule(prompt="wind force", turns=[sail]),
        plugin_text="greeter:greet",
    )
