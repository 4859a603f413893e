"""What the agent's ``init`` record proves: the plugin was there, and nothing else was.

Spec: deviations, D8 and D9; decisions, 10.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pytest_plugin_eval.agents.skill_pattern import plain_skills
from pytest_plugin_eval.cases.case import Case, Plugin
from pytest_plugin_eval.cases.model import ToolUsedSpec
from pytest_plugin_eval.records.model import Arm
from pytest_plugin_eval.records.trace import Trace
from pytest_plugin_eval.text import cut, one_line

__all__ = ["contamination", "forget_plugins", "not_loaded", "shell_failure"]

_BUILT_IN = "@builtin"
# What a command answers that could not be confined (Claude Code 2.1.332). A command that ran and
# failed answers with its exit code first.
_NO_SANDBOX = "Sandbox is required but failed to initialize"
_FRONTMATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"^name:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_HIDDEN = re.compile(r"^user-invocable:[ \t]*(?:false|no|off)\b", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Skill:
    """A skill directory of the plugin, as its files have it."""

    names: tuple[str, ...]
    """What ``init`` and calls may name it, full names first."""
    problem: str | None = None
    """Why its file cannot be read."""
    is_listed: bool = True
    """Whether ``init`` would list it."""


def not_loaded(init: Mapping[str, object], case: Case) -> str | None:
    """Return what of the plugin is missing in a with-arm, listing what is there, or ``None``."""
    there = {_real(plugin.get("path")) for plugin in _objects(init, "plugins")}
    for plugin in case.plugins:
        if os.path.realpath(plugin.path) not in there:
            return (
                f"plugin {plugin.name} is not loaded from {plugin.path},"
                f" loaded are: {_plugin_names(init)}"
            )
    for grader in case.graders:
        if isinstance(grader, ToolUsedSpec) and (problem := _missing_skill(init, case, grader)):
            return f"{problem}; grader {grader.name!r} looks for it"
    return None


def contamination(
    trace: Trace, case: Case, arm: Arm, run: Path, *, servers: Collection[str] = ()
) -> str | None:
    """Return what is in the session that should not be, or ``None``.

    *servers* are the names of stand-ins for MCP servers, which belong to the run.
    """
    init = trace.init or {}
    ours = [plugin.path for plugin in case.plugins] if arm is Arm.WITH else []
    for problem in (
        _foreign_plugin(init, ours),
        _foreign_server(init, ours, servers),
        _foreign_memory(init, run),
        _open_shell(init),
        _foreign_hook(trace, ours),
    ):
        if problem:
            return f"the session is not isolated: {problem}"
    return None


def shell_failure(trace: Trace) -> str | None:
    """Return why the commands of the session did not run, or ``None``.

    The model is told so and may finish all the same, with a result that measures nothing.
    """
    for line in trace.lines:
        if _NO_SANDBOX not in line:
            continue
        for event in Trace([line]).events:
            message = event.get("message")
            for block in _objects(message if isinstance(message, dict) else {}, "content"):
                text = block.get("content")
                if block.get("is_error") and str(text).startswith(_NO_SANDBOX):
                    return f"the shell's sandbox does not start: {cut(one_line(str(text)), 300)}"
    return None


def forget_plugins() -> None:
    """Have plugins read anew: another session in this process may meet changed files."""
    _hook_events.cache_clear()
    _skills.cache_clear()


def _foreign_plugin(init: Mapping[str, object], ours: Sequence[Path]) -> str | None:
    allowed = {os.path.realpath(path) for path in ours}
    for plugin in _objects(init, "plugins"):
        if str(plugin.get("source", "")).endswith(_BUILT_IN):
            continue
        if _real(plugin.get("path")) not in allowed:
            return f"plugin {plugin.get('name')} from {plugin.get('path')} is loaded"
    return None


def _foreign_server(
    init: Mapping[str, object], ours: Sequence[Path], stand_ins: Collection[str]
) -> str | None:
    for server in _objects(init, "mcp_servers"):
        name = str(server.get("name"))
        if name not in stand_ins and not (ours and name.startswith("plugin:")):
            return f"MCP server {name} is configured"
    return None


def _foreign_memory(init: Mapping[str, object], run: Path) -> str | None:
    paths = init.get("memory_paths")
    inside = os.path.realpath(run) + os.sep
    for path in paths.values() if isinstance(paths, dict) else ():
        if isinstance(path, str) and not os.path.realpath(path).startswith(inside):
            return f"memory is read from {path}"
    return None


def _open_shell(init: Mapping[str, object]) -> str | None:
    if "Bash" in _list(init, "tools") and init.get("sandbox_enabled") is False:
        return "the shell runs outside of the sandbox, such as by a machine policy"
    return None


def _foreign_hook(trace: Trace, ours: Sequence[Path]) -> str | None:
    lines = [line for line in trace.lines if '"hook_started"' in line or '"hook_response"' in line]
    if not lines:
        return None
    own: set[str] | None = set()
    for path in ours:
        events = _hook_events(path)
        own = None if events is None or own is None else own | events
    for event in Trace(lines).events:
        name = event.get("hook_event")
        if event.get("type") == "system" and own is not None and name not in own:
            return (
                f"a hook for {name} ran that is not the plugin's, such as one of a machine policy"
            )
    return None


@cache
def _hook_events(root: Path) -> frozenset[str] | None:
    """Return the events that the plugin has hooks for; ``None`` when that cannot be told."""
    events: set[str] = set()
    for file in (root / "hooks" / "hooks.json", root / ".claude-plugin" / "plugin.json"):
        try:
            data = json.loads(file.read_bytes())
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            return None
        hooks = data.get("hooks") if isinstance(data, dict) else None
        if isinstance(hooks, dict):
            events |= {str(name) for name in hooks}
        elif hooks is not None:
            # Names further files; they may say anything.
            return None
    return None if _component_hooks(root) else frozenset(events)


def _component_hooks(root: Path) -> bool:
    files = [
        *root.glob("skills/*/SKILL.md"),
        *root.glob("agents/*.md"),
        *root.glob("commands/*.md"),
    ]
    return any("\nhooks:" in _text(file) for file in files)


def _missing_skill(init: Mapping[str, object], case: Case, grader: ToolUsedSpec) -> str | None:
    if grader.tool != "Skill" or grader.input_match is None or grader.max == 0:
        return None
    named = [skill for skill in _skills_of(case.plugins) if _is_named(skill, grader.input_match)]
    loaded = {str(name) for name in _list(init, "skills")}
    if not named:
        return _unknown_skill(init, loaded, case, grader.input_match)
    problems = [problem for skill in named if (problem := _skill_problem(skill, loaded))]
    if len(problems) < len(named):
        return None
    return f"{problems[0]}, loaded are: {_shown_skills(loaded, case)}"


def _unknown_skill(
    init: Mapping[str, object], loaded: set[str], case: Case, pattern: str
) -> str | None:
    """Return what is wrong with a pattern that names skills nobody has, such as renamed ones."""
    names = plain_skills(pattern)
    if not names or any(_names_skills(plugin.path) for plugin in case.plugins):
        return None
    own = tuple(_skills_of(case.plugins))
    there = {name for skill in own for name in skill.names} | loaded
    there |= {str(name) for name in _list(init, "slash_commands")}
    there |= {
        file.parent.name
        for plugin in case.plugins
        for file in (plugin.path / "skills").rglob("SKILL.md")
    }
    if {name.rpartition(":")[2] for name in there}.intersection(names):
        return None
    unlisted = (skill for skill in own if not skill.problem and not loaded & {*skill.names})
    has = {skill.names[0] for skill in unlisted} | _of_plugins(loaded, case)
    return (
        f"skill {' or '.join(map(repr, names))} is not loaded,"
        f" the plugin has: {', '.join(sorted(has)) or 'no skills'}"
    )


def _names_skills(root: Path) -> bool:
    """Tell whether the manifest names places of skills: not all of them are known here."""
    try:
        data = json.loads((root / ".claude-plugin" / "plugin.json").read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(data, dict) and "skills" in data


def _skill_problem(skill: _Skill, loaded: set[str]) -> str | None:
    name = skill.names[0]
    if skill.problem:
        return f"skill {name} is not loaded: {skill.problem}"
    if skill.is_listed and not loaded.intersection(skill.names):
        return f"skill {name} is not loaded although its SKILL.md is there, look at its frontmatter"
    return None


def _is_named(skill: _Skill, pattern: str) -> bool:
    """Tell whether the input of a call of the skill would match.

    Patterns are JavaScript's; one that Python does not read makes the check say less.
    """
    try:
        wanted = re.compile(pattern)
    except re.error:
        return False
    inputs = (
        json.dumps({"skill": name, **more}, ensure_ascii=False, separators=(",", ":"))
        for name in skill.names
        for more in ({}, {"args": ""})
    )
    return any(wanted.search(text) for text in inputs)


def _skills_of(plugins: Sequence[Plugin]) -> Iterator[_Skill]:
    for plugin in plugins:
        yield from _skills(plugin.name, plugin.path)


@cache
def _skills(plugin: str, root: Path) -> tuple[_Skill, ...]:
    if not (root / "skills").is_dir():
        # A skill folder that is a plugin by itself: its skill goes by the name in the file.
        return (_skill(plugin, root),) if (root / "SKILL.md").is_file() else ()
    folders = sorted(path for path in (root / "skills").iterdir() if path.is_dir())
    return tuple(_skill(plugin, folder) for folder in folders if not folder.name.startswith("."))


def _skill(plugin: str, folder: Path) -> _Skill:
    names = [folder.name]
    file = folder / "SKILL.md"
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return _Skill(_full_names(plugin, names), "its SKILL.md is missing")
    except (OSError, UnicodeDecodeError) as error:
        return _Skill(_full_names(plugin, names), f"its SKILL.md cannot be read: {error}")
    found = _FRONTMATTER.match(text)
    front = found[1] if found else ""
    own_name = _NAME.search(front)
    if own_name:
        names.append(own_name[1].strip("'\""))
    return _Skill(_full_names(plugin, names), is_listed=not _HIDDEN.search(front))


def _full_names(plugin: str, names: Sequence[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(names))
    return (*(f"{plugin}:{name}" for name in names), *names)


def _shown_skills(loaded: set[str], case: Case) -> str:
    return ", ".join(sorted(_of_plugins(loaded, case))) or "none of the plugin"


def _of_plugins(loaded: set[str], case: Case) -> set[str]:
    own = tuple(f"{plugin.name}:" for plugin in case.plugins)
    return {name for name in loaded if name.startswith(own)}


def _plugin_names(init: Mapping[str, object]) -> str:
    names = [
        f"{plugin.get('name')} ({plugin.get('path')})"
        for plugin in _objects(init, "plugins")
        if not str(plugin.get("source", "")).endswith(_BUILT_IN)
    ]
    return ", ".join(names) or "no plugins"


def _real(path: object) -> str:
    return os.path.realpath(path) if isinstance(path, str) else ""


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _list(table: Mapping[str, object], key: str) -> Sequence[object]:
    value = table.get(key)
    return value if isinstance(value, list) else ()


def _objects(table: Mapping[str, object], key: str) -> Iterator[Mapping[str, object]]:
    return (item for item in _list(table, key) if isinstance(item, dict))
