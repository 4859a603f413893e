"""Whether a skill works in other harnesses than Claude Code. Spec: 4."""

from __future__ import annotations

import re

from pytest_plugin_eval.quality.static.parts import SubScore, summed

__all__ = [
    "MOST_BYTES",
    "MOST_TOOL_REFERENCES",
    "OVER_CAP",
    "TOOL_NAMES",
    "TOOL_PROSE",
    "TOOL_PROSE_PATTERN",
    "TOOL_REFERENCE",
    "TOOL_REFERENCE_PATTERN",
    "harness_portability",
    "size_bytes",
    "tools_referenced",
]

MOST_BYTES = 8192
"""Of ``SKILL.md`` without ``references``: where Codex cuts it off."""
OVER_CAP = -0.15
TOOL_REFERENCE = -0.02
"""Each tool named in backticks."""
MOST_TOOL_REFERENCES = -0.10
TOOL_PROSE = -0.05
TOOL_NAMES = (
    "Read", "Edit", "Write", "Bash", "Grep", "Glob", "Agent", "Task", "TodoWrite", "WebFetch",
    "WebSearch", "LS", "LSP",
)  # fmt: skip

_NAMES = "|".join(sorted(TOOL_NAMES, key=len, reverse=True))
TOOL_REFERENCE_PATTERN = re.compile(
    rf"\b(?:the|use|using|call|calling|invoke|invoking|via)\s+`({_NAMES})`|`({_NAMES})`\s+tool\b",
    re.IGNORECASE,
)
TOOL_PROSE_PATTERN = re.compile(rf"[Tt][Hh][Ee](?<!\w[Tt][Hh][Ee])\s+`?(?:{_NAMES})`?\s+tool\b")
_TICKED = re.compile(f"`(?:{_NAMES})`", re.IGNORECASE)


def harness_portability(content: str, *, has_references: bool) -> SubScore:
    """Return the sub-score of a text; each part below 0 is a finding, no anti-pattern."""
    is_over = not has_references and size_bytes(content) > MOST_BYTES
    names = len(tools_referenced(content))
    return summed(
        "harness_portability",
        {
            "base": 1.0,
            "SKILL_OVER_CODEX_CAP": OVER_CAP if is_over else 0.0,
            "CLAUDE_TOOL_REFS": max(MOST_TOOL_REFERENCES, TOOL_REFERENCE * names),
            "CLAUDE_TOOL_PROSE": TOOL_PROSE if TOOL_PROSE_PATTERN.search(content) else 0.0,
        },
    )


def size_bytes(content: str) -> int:
    """Return how long a text is in UTF-8."""
    return len(content) if content.isascii() else len(content.encode())


def tools_referenced(content: str) -> frozenset[str]:
    """Return the tools named in backticks, as they are spelt."""
    # Most texts have none, and the whole pattern is tried at every character.
    if not _TICKED.search(content):
        return frozenset()
    return frozenset(found[1] or found[2] for found in TOOL_REFERENCE_PATTERN.finditer(content))
