"""Names of the agent's built-in tools, to recognise misspelt ones."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["BUILT_IN_TOOLS", "near_tool"]

SHORTEST = 4
"""Letters of a name from which a slip is told from another tool, such as LS from LSP."""
SWAPPED = 2

# Those that Claude Code 2.1.332 lets a case disallow. Later versions know others, so that a name
# that is not here is a warning and never an error.
# fmt: off
BUILT_IN_TOOLS = frozenset(
    (
        "Agent", "Artifact", "AskUserQuestion", "Bash", "CronCreate", "CronDelete",
        "CronList", "Edit", "EnterPlanMode", "EnterWorktree", "ExitPlanMode",
        "ExitWorktree", "Glob", "Grep", "KillBash", "KillShell", "LSP", "ListMcpResources",
        "ListMcpResourcesTool", "Monitor", "NotebookEdit", "NotebookRead", "PowerShell",
        "PushNotification", "Read", "ReadMcpResource", "ReadMcpResourceTool",
        "RemoteTrigger", "ScheduleWakeup", "SendMessage", "Skill", "Task", "TaskCreate",
        "TaskGet", "TaskList", "TaskStop", "TaskUpdate", "TodoWrite", "ToolSearch",
        "WebFetch", "WebSearch", "Workflow", "Write",
    )
)
# fmt: on


def near_tool(name: str, known: Iterable[str] = BUILT_IN_TOOLS) -> str | None:
    """Return the known tool that *name* is at most one slip of the keys away from, case aside.

    Nearer than what a warning suggests: what is refused for it cannot be had otherwise.
    """
    word = name.casefold()
    words = {tool: tool.casefold() for tool in sorted(known)}
    same = (tool for tool, other in words.items() if other == word)
    if len(word) < SHORTEST:
        return next(same, None)
    slips = (tool for tool, other in words.items() if _is_one_slip(word, other))
    return next(same, None) or next(slips, None)


def _shared(one: str, other: str) -> int:
    """Return how many first letters two words have in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _is_one_slip(word: str, other: str) -> bool:
    """Say whether a letter is missing, wrong or too many, or two are swapped."""
    start = _shared(word, other)
    left, right = word[start:][::-1], other[start:][::-1]
    end = _shared(left, right)
    left, right = left[end:], right[end:]
    return max(len(left), len(right)) <= 1 or (len(left) == SWAPPED and left == right[::-1])
