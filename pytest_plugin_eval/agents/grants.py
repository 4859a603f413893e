"""Which tools a run may use: entries of the case and grants of the operator.

Spec: agent-run, 3 and 5.3 to 5.4.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_plugin_eval.cases.advisories import (
    NEEDS_GRANT,
    NEVER_OFFERED,
    opens_elsewhere,
    opens_nothing,
)
from pytest_plugin_eval.cases.case import Case
from pytest_plugin_eval.cases.tool_names import BUILT_IN_TOOLS, near_tool
from pytest_plugin_eval.text import did_you_mean, shown

__all__ = [
    "READ_ONLY",
    "SHELL",
    "ToolEntry",
    "grant_warnings",
    "listed",
    "not_granted",
    "offered_tools",
    "parse_entry",
    "parse_grants",
    "parse_removals",
    "usable",
]

OFFERED = ("Read", "Glob", "Grep", "Skill", "Agent", "TaskStop", "ToolSearch")
"""Built-in tools that the model always sees."""
READING = frozenset(("Read", "Glob", "Grep"))
WRITING = ("Edit", "Write", "NotebookEdit")
"""Granting one of them offers all three."""
_TASKS = ("TaskCreate", "TaskGet", "TaskList", "TaskUpdate")
_OTHERS = ("Skill", "Agent", "Task", "TaskStop", "KillShell")
_NOT_OFFERED = ("TodoWrite", "AskUserQuestion", "NotebookRead")
READ_ONLY = frozenset((*READING, *_TASKS, *_OTHERS, *_NOT_OFFERED))
"""Tools that a case may list without a grant of the operator."""
REMOVABLE = (*OFFERED, *WRITING, *sorted(READ_ONLY - {*OFFERED}), "WebFetch", "WebSearch")

SHELL = "Bash"
KNOWN = frozenset((*REMOVABLE, *BUILT_IN_TOOLS, *NEEDS_GRANT, *NEVER_OFFERED))
"""Built-in tools of the agent, as far as they are known here."""
SEARCHING = frozenset(("Glob", "Grep"))
"""Tools that the agent leaves out where a shell can search and no rule is about them."""
_NEVER = ("Monitor", "EnterWorktree", "ExitWorktree")
_OTHER_SHELL = "PowerShell"
# The agent offers the task tools to these models unasked, to later ones when they are asked for.
_TASK_MODELS = re.compile(r"claude-(?:sonnet-4|haiku-4|opus-4-[567])\b")
_ENTRY = re.compile(r"([^\s()*,]+(?:\*)?)(?:\((.*)\))?", re.DOTALL)
# A server named in full is the least that a wildcard has to say.
_WILDCARD = re.compile(r"mcp__[^*]+__\*")


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """A tool's name and, optionally, a pattern for its use."""

    tool: str
    pattern: str | None = None

    def __str__(self) -> str:
        return self.tool if self.pattern is None else f"{self.tool}({self.pattern})"


def parse_entry(entry: str) -> ToolEntry | None:
    """Return the parts of ``Tool`` or ``Tool(pattern)``, or ``None`` when it is neither."""
    found = _ENTRY.fullmatch(entry.strip())
    if found is None or ("*" in found[1] and not _WILDCARD.fullmatch(found[1])):
        return None
    return ToolEntry(found[1], found[2] or None)


def parse_grants(entries: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the operator's grants into those that hold and messages about the others."""
    accepted, refused = [], []
    for entry in filter(str.strip, entries):
        if problem := _problem(entry):
            refused.append(f"--eval-allow-tools: {problem}")
        else:
            accepted.append(str(parse_entry(entry)))
    return tuple(dict.fromkeys(accepted)), tuple(refused)


def parse_removals(entries: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the tools that the operator takes away into names and messages about the others."""
    accepted, refused = [], []
    for name in filter(None, map(str.strip, entries)):
        if re.fullmatch(r"[A-Za-z]+", name) and not _meant(name):
            accepted.append(name)
        else:
            hint = did_you_mean(_meant(name) or name, KNOWN)
            refused.append(
                f"--eval-disallow-tools: {shown(name)} cannot be removed,"
                f" expected the bare name of a built-in tool such as 'Agent'{hint}"
            )
    return tuple(dict.fromkeys(accepted)), tuple(refused)


def grant_warnings(grants: Sequence[str], removals: Sequence[str]) -> tuple[str, ...]:
    """Return what is odd about the operator's grants and removals that hold all the same."""
    granted = [entry for text in parse_grants(grants)[0] if (entry := parse_entry(text))]
    texts = [
        f"--eval-allow-tools: {shown(str(entry))} opens nothing in a run's working directory or"
        " temporary folder, expected a pattern below the working directory such as 'out/**'"
        for entry in granted
        if entry.tool in WRITING and opens_nothing(entry.pattern)
    ]
    named = [("--eval-allow-tools", entry.tool) for entry in granted]
    named += [("--eval-disallow-tools", name) for name in parse_removals(removals)[0]]
    texts += [
        f"{option}: {shown(name)} is no tool that is known here{did_you_mean(name, KNOWN)}"
        for option, name in named
        if name not in KNOWN and not name.startswith("mcp__")
    ]
    return tuple(dict.fromkeys(texts))


def not_granted(case: Case, grants: Sequence[str], removals: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the entries of the case that do nothing for lack of a grant, in the case's order.

    A grant that the operator's *removals* take back is none.
    """
    held = tuple(
        entry for text in grants if (entry := parse_entry(text)) and entry.tool not in removals
    )
    return tuple(text for text in case.allowed_tools if not _holds(text, held))


def listed(case: Case, grants: Sequence[str]) -> tuple[ToolEntry, ...]:
    """Return what may be used: the grants, then the entries of the case that need none."""
    granted = [entry for text in grants if (entry := parse_entry(text))]
    own = [
        entry
        for text in case.allowed_tools
        if (entry := parse_entry(text)) and _needs_no_grant(entry)
    ]
    return tuple(dict.fromkeys((*granted, *own)))


def usable(
    case: Case, grants: Sequence[str], removals: Sequence[str] = ()
) -> tuple[ToolEntry, ...]:
    """Return what `listed` does, without what the operator or the case takes away."""
    removed = {*removals, *case.disallowed_tools}
    return tuple(entry for entry in listed(case, grants) if entry.tool not in removed)


def offered_tools(
    entries: Sequence[ToolEntry], model: str | None = None, rules: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the built-in tools that the model is shown, for ``--tools``.

    *model* is the name asked for, ``None`` where the agent chooses one; *rules* are those of
    ``--allowed-tools``.
    """
    names = {entry.tool for entry in entries}
    writing = WRITING if names.intersection(WRITING) else ()
    has_tasks = names.intersection((*_TASKS, "TodoWrite")) or _TASK_MODELS.search(model or "")
    tasks = _TASKS if has_tasks else ()
    others = sorted(
        name
        for name in names - READ_ONLY - {*WRITING, *OFFERED}
        if not name.startswith("mcp__") and name.isalpha()
    )
    searches = SHELL not in names or any(rule.split("(")[0] in SEARCHING for rule in rules)
    always = [name for name in OFFERED if searches or name not in SEARCHING]
    return (*always, *tasks, *writing, *others)


def _problem(entry: str) -> str | None:
    parsed = parse_entry(entry)
    if parsed is None:
        return f"{shown(entry)} is no grant, expected Tool or Tool(pattern), or mcp__server__*"
    if parsed.tool in _NEVER:
        return f"{shown(entry)} is never available in an evaluation"
    if parsed.tool == _OTHER_SHELL:
        return f"{shown(entry)} is refused: no sandbox confines it, expected {SHELL!r}"
    if parsed.tool == "Artifact":
        return f"{shown(entry)} is not available in an evaluation, no grant makes it so"
    if meant := _meant(parsed.tool):
        return f"{shown(entry)} is no tool, did you mean {meant!r}?"
    return None


def _meant(name: str) -> str | None:
    # The agent may have tools that are not known here: only a near miss is refused.
    if name in KNOWN or name.startswith("mcp__"):
        return None
    return near_tool(name, KNOWN)


def _needs_no_grant(entry: ToolEntry) -> bool:
    if entry.tool not in READ_ONLY:
        return False
    return entry.tool not in READING or not opens_elsewhere(entry.pattern)


def _holds(text: str, grants: Sequence[ToolEntry]) -> bool:
    entry = parse_entry(text)
    if entry is None:
        return False
    return _needs_no_grant(entry) or any(_covers(grant, entry) for grant in grants)


def _covers(grant: ToolEntry, entry: ToolEntry) -> bool:
    if grant.tool.startswith("mcp__"):
        return entry.tool == grant.tool or entry.tool.startswith(
            grant.tool.removesuffix("__*") + "__"
        )
    if grant.tool != entry.tool:
        return False
    if grant.pattern is None or entry.pattern == grant.pattern:
        return True
    return entry.pattern is None and not (grant.tool in WRITING and opens_nothing(grant.pattern))
