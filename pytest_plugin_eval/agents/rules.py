"""What the agent may read and write, as permission rules. Spec: agent-run, 4."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pytest_plugin_eval.agents.grants import READING, WRITING, ToolEntry
from pytest_plugin_eval.agents.sandbox import Sandbox
from pytest_plugin_eval.cases.case import Case
from pytest_plugin_eval.cases.manifest import DEFAULT_EVAL_DIR, manifest_of
from pytest_plugin_eval.records.model import Arm

__all__ = ["allow_rules", "deny_rules", "hidden_directories"]

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
        f"Edit({_below(path)})"
        for place in (*plugins, case.directory)
        for path in _spellings(place)
    ]
    for name in _HARNESS_NAMES:
        path = sandbox.workspace / name
        rules += [f"Edit({_at(path)})", f"Edit({_below(path)})"]
    secret = [place / ".git" for place in (*plugins, case.eval_dir, case.directory)]
    for tool in ("Read", "Edit"):
        for place in (*secret, *hidden_directories(case), *hidden):
            for path in _spellings(place):
                rules += [f"{tool}({_at(path)})", f"{tool}({_below(path)})"]
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
    return [f"{tool}({_below(path)})" for path in _spellings(directory) for tool in tools]


def _spellings(path: Path) -> tuple[Path, ...]:
    """Return a path as it is and with its links resolved: the agent may name it either way."""
    return tuple(dict.fromkeys((path, Path(os.path.realpath(path)))))


def _at(path: Path) -> str:
    # Rules are patterns as in an ignore file; a `?` stands for one character that they would read
    # otherwise. Backslashes do not quote there.
    return "/" + _SPECIAL.sub("?", path.as_posix())


def _below(path: Path) -> str:
    return f"{_at(path)}/**"
