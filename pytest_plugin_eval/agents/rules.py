"""What the agent may read and write, as permission rules. Spec: agent-run, 4."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pytest_plugin_eval.agents.add_dirs import Closed, closed_around, open_directories
from pytest_plugin_eval.agents.grants import READING, WRITING, ToolEntry
from pytest_plugin_eval.agents.sandbox import Sandbox
from pytest_plugin_eval.cases.case import Case
from pytest_plugin_eval.cases.manifest import DEFAULT_EVAL_DIR, manifest_of
from pytest_plugin_eval.records.model import Arm

__all__ = ["allow_rules", "closed_places", "deny_rules", "hidden_directories", "spellings"]

_READ_TOOLS = ("Read", "Glob", "Grep")
_SPECIAL = re.compile(r"[\[\]\\*]")
_HARNESS_NAMES = (".git", "HEAD", "objects", "refs", "commondir", ".eval-artifacts")


def allow_rules(
    case: Case,
    arm: Arm,
    sandbox: Sandbox,
    entries: Sequence[ToolEntry],
    hidden: Sequence[Path] = (),
) -> tuple[str, ...]:
    """Return the rules of ``--allowed-tools``; *entries* is what `grants.listed` gave."""
    rules = [rule for entry in entries if (rule := _entry_rule(entry, sandbox))]
    if any(entry.tool in READING and entry.pattern is None for entry in entries):
        rules += _reading(sandbox.home, _READ_TOOLS) + _reading(sandbox.tmp, _READ_TOOLS)
        if arm is Arm.WITH:
            rules += _plugin_rules(case, hidden)
    for path in _opened(case):
        rules += [f"{tool}({_below(path)})" for tool in _READ_TOOLS]
    granted = [tool for tool in ("Write", "NotebookEdit") if ToolEntry(tool) in entries]
    if granted or ToolEntry("Edit") in entries:
        writing = ("Edit", *granted)
        rules += _reading(sandbox.workspace, writing) + _reading(sandbox.tmp, writing)
    return tuple(dict.fromkeys(rules))


def deny_rules(case: Case, sandbox: Sandbox, hidden: Sequence[Path] = ()) -> tuple[str, ...]:
    """Return the path rules of ``--disallowed-tools``, the same in both arms."""
    rules = [
        f"{tool}({_below(place)})"
        for place in (sandbox.config, sandbox.out)
        for tool in ("Read", "Edit")
    ]
    plugins = [plugin.path for plugin in case.plugins]
    rules += [
        f"Edit({_below(path)})" for place in (*plugins, case.directory) for path in spellings(place)
    ]
    for name in _HARNESS_NAMES:
        path = sandbox.workspace / name
        rules += [f"Edit({_at(path)})", f"Edit({_below(path)})"]
    places = [path for place in (*closed_places(case), *hidden) for path in spellings(place)]
    rules += _closing("Read", closed_around(places, _opened(case)))
    rules += _closing("Edit", map(Closed, places))
    rules.append("Read(//proc/**)")
    return tuple(dict.fromkeys(rules))


def hidden_directories(case: Case) -> tuple[Path, ...]:
    """Return the eval directories that the agent must not see: the case's and its plugins'."""
    places = [case.eval_dir]
    for root in (case.root, *(plugin.path for plugin in case.plugins)):
        places.append(root / DEFAULT_EVAL_DIR)
        named = manifest_of(str(root)).eval_dir
        if named is not None:
            places.append(root.joinpath(*named.split("/")))
    return tuple(dict.fromkeys(places))


def closed_places(case: Case) -> tuple[Path, ...]:
    """Return what tells how the case is graded: eval directories, repositories with them."""
    plugins = [plugin.path for plugin in case.plugins]
    places = (*plugins, case.eval_dir, case.directory)
    own = [place / ".git" for place in places]
    around = [path for place in (case.root, *places) for path in _repositories(place)]
    return tuple(dict.fromkeys((*own, *around, *hidden_directories(case))))


def _repositories(place: Path) -> Iterator[Path]:
    """Yield the git directories around a place; that of a worktree or submodule lies elsewhere."""
    around = (each for path in spellings(place) for each in (path, *path.parents))
    for directory in dict.fromkeys(around):
        git = directory / ".git"
        if git.is_dir():
            yield git
        elif git.is_file():
            yield git
            yield from _linked_repository(git)


def _linked_repository(file: Path) -> Iterator[Path]:
    named = _first_line(file).removeprefix("gitdir:").strip()
    if not named:
        return
    linked = Path(os.path.normpath(file.parent / named))
    yield linked
    if common := _first_line(linked / "commondir"):
        yield Path(os.path.normpath(linked / common))


def _first_line(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            return lines.readline().strip()
    except OSError:
        return ""


def _opened(case: Case) -> tuple[Path, ...]:
    return tuple(path for directory in open_directories(case) for path in spellings(directory))


def _closing(tool: str, places: Iterable[Closed]) -> Iterator[str]:
    for place in places:
        path = _at(place.path) + ("*" if place.is_prefix else "")
        yield from (f"{tool}({path})", f"{tool}({path}/**)")


def _entry_rule(entry: ToolEntry, sandbox: Sandbox) -> str | None:
    if entry.tool not in (*READING, *WRITING):
        return str(entry)
    if entry.pattern is None:
        # Rules for the run's directories stand for the bare name, which would reach everywhere.
        return None
    if entry.pattern.startswith(("/", "~")):
        return str(entry)
    pattern = entry.pattern.removeprefix("./")
    # As in an ignore file: a name without a slash is found at any depth.
    pattern = pattern if "/" in pattern else f"**/{pattern}"
    return f"{entry.tool}({_at(sandbox.workspace)}/{pattern})"


def _plugin_rules(case: Case, hidden: Sequence[Path]) -> list[str]:
    closed = {os.path.realpath(path) for path in (*hidden_directories(case), *hidden)}
    rules = []
    for plugin in case.plugins:
        for path in _open_entries(plugin.path, closed):
            if path.is_dir():
                rules += _reading(path, _READ_TOOLS)
            else:
                rules.append(f"Read({_at(path)})")
    return rules


def _open_entries(directory: Path, closed: set[str]) -> Iterator[Path]:
    """Yield what may be read: entries, and those within them where something is closed."""
    try:
        entries = sorted(directory.iterdir())
    except OSError:
        return
    for path in entries:
        real = os.path.realpath(path)
        if path.name == ".git" or real in closed:
            continue
        if any(place.startswith(real + os.sep) for place in closed):
            yield from _open_entries(path, closed)
        else:
            yield path


def _reading(directory: Path, tools: Iterable[str]) -> list[str]:
    return [f"{tool}({_below(path)})" for path in spellings(directory) for tool in tools]


def spellings(path: Path) -> tuple[Path, ...]:
    """Return a path as it is and with its links resolved: the agent may name it either way."""
    return tuple(dict.fromkeys((path, Path(os.path.realpath(path)))))


def _at(path: Path) -> str:
    # Rules are patterns as in an ignore file; a `?` stands for one character that they would read
    # otherwise. Backslashes do not quote there.
    return "/" + _SPECIAL.sub("?", path.as_posix())


def _below(path: Path) -> str:
    return f"{_at(path)}/**"
