"""The score of an agent file of a plugin. Spec: 7."""

from __future__ import annotations

import re

from pytest_plugin_eval.quality.parse import AgentSource
from pytest_plugin_eval.quality.static.parts import Step, SubScore, reached, summed

__all__ = ["BASE", "DESCRIPTION_STEPS", "MODEL", "PROACTIVE", "TOOLS", "agent_score"]

BASE = 0.5
PROACTIVE = 0.2
"""``use proactively`` in the description."""
TOOLS = 0.1
"""A list of tools that is not empty."""
DESCRIPTION_STEPS = (Step(40, 0.1), Step(20, 0.05))
"""Characters of the stripped description."""
MODEL = 0.1

_PROACTIVE = re.compile("use proactively", re.IGNORECASE)


def agent_score(source: AgentSource) -> SubScore:
    """Return an agent's score and its parts."""
    return summed(
        "agent_quality",
        {
            "base": BASE,
            "proactive": PROACTIVE if _PROACTIVE.search(source.description) else 0.0,
            "tools": TOOLS if source.tools else 0.0,
            "description": reached(len(source.description.strip()), DESCRIPTION_STEPS),
            "model": MODEL if source.model else 0.0,
        },
    )
