"""Names of the agent's built-in tools, to recognise misspelt ones."""

from __future__ import annotations

__all__ = ["BUILT_IN_TOOLS"]

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
