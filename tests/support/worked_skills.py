"""Skills, agents and a plugin whose scores were worked out by hand. Spec: quality-score, 15."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_plugin_eval.quality.model import Dimension, Layer, LayerResult

LOG_READER = """\
---
name: log-reader
description: "Use this skill when reading a service log, when finding the first error, or when writing a short summary."
---

# Log reader

## Input

Accepts one log file.

## Output

The output format is a table:

| line | level | text |
|------|-------|------|

## Example

```bash
grep -n ERROR app.log
```

## Troubleshooting

If the file is empty, say so.
"""  # noqa: E501 -- one line of YAML
"""No flag, silver."""

TANGLE = """\
---
name: tangled
description: "Does things."
---

# Tangle

This skill will coordinate the others and dispatch work.
See skills/ghost, skills/ghost again, and skill/log.
Details are in [the guide](references/guide.md) and [the list](references/list.md).

You MUST read. You MUST write. You MUST stop. NEVER guess. ALWAYS ask.
You MUST read. You MUST write. You MUST stop. NEVER guess. ALWAYS ask.
You MUST read. You MUST write. You MUST stop. NEVER guess. ALWAYS ask.
You MUST end.

Use the `Bash` tool, call `Read`, and use the Grep tool.
"""
"""Six flags where a skill ``log`` stands beside it."""

_LIMITS = """\
---
name: service-limits
description: "Sets service limits. Use this skill when tuning a queue, when sizing a pool, when testing a quota, or for debugging a stall. Use proactively; always use it to trigger a review."
---

# Limits

Returns JSON. The output format is one object. Parameters: none.

## When to use it

A companion to skills/pools.

## Example

```python
print(1)
```

```json
{}
```

```bash
true
```

## Usage

Run it.

## Troubleshooting

Read the log.

### FAQ

None.

## Rows

| a | b | c |

"""  # noqa: E501 -- one line of YAML
LIMITS = _LIMITS + "".join(
    f"Limit {i}: keep value {7 * i % 101} below {13 * i % 997}.\n" for i in range(1, 221)
)
"""Platinum."""

PLAIN_AGENT = "---\ndescription: Twenty-four characters..\n---\nHello.\n"
READER_AGENT = """\
---
name: reader
description: "Use PROACTIVELY whenever a log file is to be read."
tools: Read, Grep
model: inherit
---
Hello.
"""

SKILLS: Mapping[str, Mapping[str, str]] = {
    "log-reader": {"log-reader/SKILL.md": LOG_READER},
    "tangle": {
        "tangle/SKILL.md": TANGLE,
        "tangle/references/guide.md": "",
        "log/SKILL.md": "",
    },
    "limits": {
        "limits/SKILL.md": LIMITS,
        "limits/references/table.md": "",
        "limits/assets/t.txt": "",
        "pools/SKILL.md": "",
    },
}
"""The files of each example, by the name of its directory."""

PLUGIN: Mapping[str, str] = {
    ".claude-plugin/plugin.json": '{"name": "demo-kit"}',
    "skills/log-reader/SKILL.md": LOG_READER,
    "skills/tangle/SKILL.md": TANGLE,
    "skills/tangle/references/guide.md": "",
    "agents/plain.md": PLAIN_AGENT,
    "agents/reader.md": READER_AGENT,
}

JUDGE = LayerResult(
    layer=Layer.JUDGE,
    score=0.6875,
    sub_scores={},
    dimensions={
        Dimension.TRIGGERING_ACCURACY: 0.9,
        Dimension.ORCHESTRATION_FITNESS: 0.75,
        Dimension.OUTPUT_QUALITY: 0.6,
        Dimension.SCOPE_CALIBRATION: 0.5,
    },
)
"""Of the skill `w1`, as its Monte Carlo layer below."""
RUNS = LayerResult(
    layer=Layer.MONTE_CARLO,
    score=0.7373651218931194,
    sub_scores={},
    dimensions={
        Dimension.TRIGGERING_ACCURACY: 0.8,
        Dimension.OUTPUT_QUALITY: 0.6875,
        Dimension.ROBUSTNESS: 0.9,
        Dimension.TOKEN_EFFICIENCY: 0.811625,
    },
)
