"""What the scripted model says about the quality of a skill in the recorded runs of the example."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from tests.support.script import TurnData, rule, text, tool, turn

SKILL_PATH = "skills/csv-summary/SKILL.md"
SKILL = """\
---
name: csv-summary
description: Summarises a CSV file. Use this skill when checking an export, when comparing two \
tables, or for testing whether a file can be read.
---

# Summary of a CSV file

Input: the path of one CSV file. The output format is a table with a row for each column: its \
name, its type, how many cells are
empty, the smallest and the largest value.

1. Read the first line. Ask if it is no header.
2. Count over all rows, not over a sample of them.
3. Say in one sentence below the table what looks wrong, such as a column that is empty.
"""
PREDICTIONS = (
    ("Is there anything odd in export.csv?", True, True),
    ("Which columns of orders.csv are empty?", True, True),
    ("Compare the two tables in a.csv and b.csv", True, True),
    ("Can this CSV file be read at all?", True, True),
    ("How old is the newest row in log.csv?", True, False),
    ("Convert users.csv to JSON", False, True),
    ("Summarise this PDF", False, False),
    ("Write a CSV file with ten test users", False, False),
    ("Plot the columns of sales.xlsx", False, False),
    ("Why does my SQL query return no rows?", False, False),
)
"""What each prompt should do and would do: 4 of the 5 that would trigger should, and 4 of 5 are."""
REPLIES: Mapping[str, Mapping[str, object]] = {
    "triggering": {
        "predictions": [
            {"prompt": prompt, "should_trigger": should, "would_trigger": would}
            for prompt, should, would in PREDICTIONS
        ],
        "precision": 0.8,
        "recall": 0.8,
        "f1": 0.8,
    },
    "orchestration": {
        "score": 1.0,
        "reasoning": "One job, and it says what goes in and what comes out.",
        "evidence": ["Input: the path of one CSV file."],
    },
    "output_quality": {
        "score": 0.7,
        "simulations": [
            {
                "task": "Check an export before it is sent",
                "expected_output": "A table of its columns and a sentence on the empty one",
                "quality_notes": "Complete; nothing says how dates are told from text",
            },
            {
                "task": "Compare last month's table with this month's",
                "expected_output": "Two tables below each other",
                "quality_notes": "The comparison itself is left to the reader",
            },
            {
                "task": "Find out why a file cannot be read",
                "expected_output": "The question whether the first line is a header",
                "quality_notes": "Encodings and separators are not mentioned",
            },
        ],
    },
    "scope": {
        "score": 0.75,
        "assessment": "One field. Comparing two tables is promised and not described.",
    },
}
JUDGED = json.dumps(REPLIES, indent=2)
_PERCENT = json.dumps({key: {"score": 80} for key in REPLIES}, indent=2)
_GRADES = json.dumps(dict.fromkeys(REPLIES, "B"), indent=2)
_NO_NUMBER = (
    "There is no score: `plugin-eval` may not be run in this session. With "
    "`pip install pytest-plugin-eval` and leave for Bash, `plugin-eval score skills/csv-summary` "
    "gives it."
)
_BARE_REFUSAL = "I could not run the command that gives the score, so I have no number for you."
_MADE_UP = "I would put it at about 78/100: a clear description, but rather short."


def quality_rules() -> list[dict[str, object]]:
    """Return the rules of the cases about scores."""
    return [*_judge_a_skill(), *_no_made_up_score()]


def _call(name: str, /, **inputs: object) -> dict[str, object]:
    return turn(tool(name, **inputs), usage={"input": 3100, "output": 120})


def _say(said: str) -> dict[str, object]:
    return turn(text(said), usage={"input": 3600, "output": 140})


def _delegate(agent: str, prompt: str) -> dict[str, object]:
    return _call(
        "Agent",
        description="Score the skill",
        prompt=prompt,
        subagent_type=f"git-scribe:{agent}",
        run_in_background=False,
    )


def _save() -> dict[str, object]:
    return _call("Write", file_path=f"{{cwd}}/{SKILL_PATH}", content=SKILL)


def _hand_over(content: str) -> dict[str, object]:
    return _call("Write", file_path="{cwd}/judge-replies.json", content=content)


def _runs(prompt: str, arm: str, *runs: Sequence[TurnData]) -> dict[str, object]:
    return rule(prompt=prompt, arm=arm, runs=list(runs))


def _judge_a_skill() -> list[dict[str, object]]:
    prompt, asked = "on the four judge dimensions", f"Judge {SKILL_PATH}"
    done = _say("The four replies are in judge-replies.json.")
    by_judge = [_save(), _delegate("eval-judge", asked), _hand_over(JUDGED), done]
    # Once the agent judges by itself, and writes down what it takes for a score.
    alone = [_save(), _hand_over(_PERCENT), done]
    read = _call("Read", file_path=f"{{cwd}}/{SKILL_PATH}")
    return [
        _runs(prompt, "with", by_judge, alone, by_judge),
        _runs(prompt, "without", [_save(), _hand_over(_GRADES), done], alone, alone),
        rule(kind="subagent", prompt=asked, turns=[read, _say(JUDGED)]),
    ]


def _no_made_up_score() -> list[dict[str, object]]:
    prompt, asked = "What quality score does", f"Score the skill at {SKILL_PATH}"
    refused = [_save(), _delegate("eval-orchestrator", asked), _say(_NO_NUMBER)]
    run = f'plugin-eval score "{SKILL_PATH}" --depth quick --output json --explain'
    return [
        _runs(prompt, "with", refused, refused, [*refused[:2], _say(_BARE_REFUSAL)]),
        _runs(prompt, "without", [_say(_MADE_UP)], [_say(_MADE_UP)], [_say(_NO_NUMBER)]),
        rule(
            kind="subagent",
            prompt=asked,
            turns=[_call("Bash", command=run, description="Score"), _say(_NO_NUMBER)],
        ),
    ]
