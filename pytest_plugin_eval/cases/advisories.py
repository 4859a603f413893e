"""Which graders of a case cannot pass with the tools granted, known before any run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytest_plugin_eval.cases.model import (
    Case,
    FileExistsSpec,
    FileTarget,
    GraderSpec,
    LlmSpec,
    RegexSpec,
    ToolOrderSpec,
    ToolUsedSpec,
)

__all__ = ["Advisory", "advisories"]

# Granting one of these offers all three to the agent (observed with Claude Code 2.1.332).
EDITORS = frozenset({"Edit", "NotebookEdit", "Write"})
# Built-in tools that a run offers only when they are granted (observed with Claude Code 2.1.332).
NEEDS_GRANT = EDITORS | {
    "Artifact",
    "Bash",
    "CronCreate",
    "CronDelete",
    "CronList",
    "DesignSync",
    "EnterPlanMode",
    "ExitPlanMode",
    "ListMcpResourcesTool",
    "PowerShell",
    "PushNotification",
    "ReadMcpResourceTool",
    "RemoteTrigger",
    "ReportFindings",
    "ScheduleWakeup",
    "SendMessage",
    "SendUserFile",
    "SendUserMessage",
    "WebFetch",
    "WebSearch",
    "Workflow",
}
NEVER_OFFERED = frozenset({"EnterWorktree", "ExitWorktree", "Monitor"})

Advisory = tuple[str | None, str]


def advisories(
    case: Case, *, grants: Sequence[str], disallowed: Sequence[str], scaffold: bool = False
) -> tuple[Advisory, ...]:
    """Return the graders of *case* that cannot pass, each with the reason, in grader order.

    *grants* are the operator's (``Tool`` or ``Tool(pattern)``), *disallowed* the operator's too;
    the case's own ``disallowed_tools`` are added here. With *scaffold* the case's script may make
    files. Spec: behaviour-evals, 8.4.
    """
    refused = {_tool(entry) for entry in (*case.disallowed_tools, *disallowed)}
    offered = _offered({_tool(entry) for entry in grants} - refused) - refused
    scaffolded = scaffold and case.scaffold_script is not None
    found: list[Advisory] = []
    for grader in case.graders:
        if not _makes_files(offered) and _needs_created_file(grader, scaffolded=scaffolded):
            found.append((grader.name, _no_file(grader.name, refused)))
        for tool in _needed_tools(grader):
            reason = _no_call(tool, offered, refused)
            if reason is not None:
                found.append((grader.name, f"grader {grader.name!r} cannot pass: {reason}"))
    return tuple(found)


def _tool(entry: str) -> str:
    return entry.split("(", 1)[0].strip()


def _offered(granted: Iterable[str]) -> frozenset[str]:
    tools = frozenset(granted)
    return tools | EDITORS if tools & EDITORS else tools


def _makes_files(offered: frozenset[str]) -> bool:
    return bool(offered & (EDITORS | {"Bash"})) or any(t.startswith("mcp__") for t in offered)


def _needs_created_file(grader: GraderSpec, *, scaffolded: bool) -> bool:
    match grader:
        case FileExistsSpec():
            return grader.exists
        case RegexSpec(target=FileTarget()) | LlmSpec(focus=FileTarget()):
            return not scaffolded
        case RegexSpec(target="files"):
            return grader.match == "contains" or _counts_some(grader.match)
        case _:
            return False


def _counts_some(match: str) -> bool:
    word, _, number = match.partition(":")
    return word == "count" and number.strip("0") != ""


def _needed_tools(grader: GraderSpec) -> Iterator[str]:
    match grader:
        case ToolUsedSpec():
            if grader.min is None or grader.min > 0:
                yield grader.tool
        case ToolOrderSpec():
            for side in (grader.before, grader.after):
                yield side if isinstance(side, str) else side.tool
        case _:
            return


def _no_file(name: str, refused: set[str]) -> str:
    text = (
        f"grader {name!r} cannot pass: it looks at a file that the run makes, and no granted "
        "tool can make one; list Write in the case's allowed_tools and grant it with "
        "--eval-allow-tools Write"
    )
    if refused & (EDITORS | {"Bash"}):
        text += ", and take it off disallowed_tools and --eval-disallow-tools"
    return text


def _no_call(tool: str, offered: frozenset[str], refused: set[str]) -> str | None:
    if tool in refused:
        return (
            f"it needs a call of {tool}, which disallowed_tools or --eval-disallow-tools "
            "takes away; change the list or drop the grader"
        )
    if tool in NEVER_OFFERED:
        return f"it needs a call of {tool}, which no eval run offers; drop the grader"
    if tool in NEEDS_GRANT and tool not in offered:
        return (
            f"it needs a call of {tool}, which is not granted; grant it with "
            f"--eval-allow-tools {tool} and list it in the case's allowed_tools"
        )
    return None
