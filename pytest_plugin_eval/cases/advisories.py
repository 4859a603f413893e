"""Which graders of a case cannot pass with the tools granted, known before any run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

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

__all__ = [
    "NEEDS_GRANT",
    "NEVER_OFFERED",
    "Advisory",
    "Offer",
    "advisories",
    "helping_grants",
    "offer",
    "opens_elsewhere",
    "opens_nothing",
]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Which tools a run has, as far as grants and lists decide it."""

    granted: frozenset[str]
    refused: frozenset[str]
    """Taken away by the case or the operator."""
    makes_files: bool
    """Whether any tool can make a file in the run's own directories."""

    def lacks(self, tool: str) -> bool:
        """Say whether a tool of the agent is known not to be shown to the model."""
        if tool in self.refused or tool in NEVER_OFFERED:
            return True
        return tool in NEEDS_GRANT and tool not in self.granted


def offer(case: Case, *, grants: Sequence[str], disallowed: Sequence[str]) -> Offer:
    """Return the tools that the operator's *grants* and the removals leave."""
    return _offer((*case.disallowed_tools, *disallowed), tuple(grants))


@lru_cache(maxsize=64)
def _offer(removals: tuple[str, ...], grants: tuple[str, ...]) -> Offer:
    refused = frozenset(map(_tool, removals))
    granted = _offered({_tool(entry) for entry in grants} - refused) - refused
    opened = {_tool(entry) for entry in grants if not opens_nothing(_pattern(entry))} - refused
    makes_files = bool(_offered(opened) & granted & (EDITORS | {"Bash"}))
    makes_files |= "Bash" in granted or any(tool.startswith("mcp__") for tool in granted)
    return Offer(granted=granted, refused=refused, makes_files=makes_files)


def opens_elsewhere(pattern: str | None) -> bool:
    """Say whether a file pattern is about places outside of the run's working directory."""
    if pattern is None:
        return False
    return pattern.startswith(("/", "~")) or ".." in pattern.replace("\\", "/").split("/")


def opens_nothing(pattern: str | None) -> bool:
    """Say whether a grant to write with this pattern lets no file of a run be written.

    A wildcard at the root, or in the home that a run has, is about the run's directories too.
    """
    return opens_elsewhere(pattern) and not (pattern or "").lstrip("/~").startswith("*")


def advisories(
    case: Case, *, grants: Sequence[str], disallowed: Sequence[str], scaffold: bool = False
) -> tuple[Advisory, ...]:
    """Return the graders of *case* that cannot pass, each with the reason, in grader order.

    *grants* are the operator's (``Tool`` or ``Tool(pattern)``), *disallowed* the operator's too;
    the case's own ``disallowed_tools`` are added here. With *scaffold* the case's script may make
    files. Spec: behaviour-evals, 8.4.
    """
    tools = offer(case, grants=grants, disallowed=disallowed)
    scaffolded = scaffold and case.scaffold_script is not None
    found: list[Advisory] = []
    for grader in case.graders:
        if not tools.makes_files and _needs_created_file(grader, scaffolded=scaffolded):
            found.append((grader.name, _no_file(grader.name, tools.refused)))
        for tool in _needed_tools(grader):
            reason = _no_call(tool, tools)
            if reason is not None:
                found.append((grader.name, f"grader {grader.name!r} cannot pass: {reason}"))
    return tuple(found)


def helping_grants(
    case: Case, *, grants: Sequence[str], disallowed: Sequence[str]
) -> Mapping[str, str]:
    """Return the tools whose grant would let a grader pass, by its name.

    Without graders that no grant can help. Arguments are those of `advisories`.
    """
    tools = offer(case, grants=grants, disallowed=disallowed)
    found = {}
    for grader in case.graders:
        lacking = [tool for tool in _needed_tools(grader) if tools.lacks(tool)]
        if not tools.makes_files and _needs_created_file(grader, scaffolded=False):
            lacking.append("Write")
        if lacking and not tools.refused.union(NEVER_OFFERED).intersection(lacking):
            found[grader.name] = " ".join(dict.fromkeys(lacking))
    return found


def folded(told: Iterable[Advisory]) -> Iterator[str]:
    """Yield the texts of advisories, one for all graders of which the same is said."""
    by_reason: dict[str, list[Advisory]] = {}
    for name, text in told:
        reason = text if name is None else text.removeprefix(f"grader {name!r} ")
        by_reason.setdefault(reason, []).append((name, text))
    for reason, alike in by_reason.items():
        names = ", ".join(repr(name) for name, _ in alike)
        several = f"graders {names} {reason.replace(': it ', ': each ', 1)}"
        yield alike[0][1] if len(alike) == 1 else several


def _tool(entry: str) -> str:
    return entry.split("(", 1)[0].strip()


def _pattern(entry: str) -> str | None:
    return entry.partition("(")[2].rstrip(") ") or None


def _offered(granted: Iterable[str]) -> frozenset[str]:
    tools = frozenset(granted)
    return tools | EDITORS if tools & EDITORS else tools


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


def _no_file(name: str, refused: frozenset[str]) -> str:
    text = (
        f"grader {name!r} cannot pass: it looks at a file that the run makes, and no granted "
        "tool can make one; list Write in the case's allowed_tools and grant it with "
        "--eval-allow-tools Write"
    )
    if refused & (EDITORS | {"Bash"}):
        text += ", and take it off disallowed_tools and --eval-disallow-tools"
    return text


def _no_call(tool: str, tools: Offer) -> str | None:
    if tool in tools.refused:
        return (
            f"it needs a call of {tool}, which disallowed_tools or --eval-disallow-tools "
            "takes away; change the list or drop the grader"
        )
    if tool in NEVER_OFFERED:
        return f"it needs a call of {tool}, which no eval run offers; drop the grader"
    if tools.lacks(tool):
        return (
            f"it needs a call of {tool}, which is not granted; grant it with "
            f"--eval-allow-tools {tool} and list it in the case's allowed_tools"
        )
    return None
