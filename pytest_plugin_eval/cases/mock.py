"""Stand-ins for MCP servers, as their files define them. Spec: agent-run, 7."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from pytest_plugin_eval.cases.case import Case, Plugin
from pytest_plugin_eval.cases.manifest import declared_servers

__all__ = [
    "INPUT_PATH",
    "PLACEHOLDER",
    "REPLAY",
    "Condition",
    "Expectation",
    "MockServer",
    "MockTool",
    "Mocks",
    "Place",
    "PlacedServer",
    "Responder",
    "has_own_mocks",
    "mocks_hash",
    "placed_servers",
    "placing_problems",
    "tool_segment",
]

REPLAY = ".replay"
"""Below a `mocks` directory: adopted recordings, in a directory for each server."""
INPUT_PATH = r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*"
"""A field of a call's input."""
PLACEHOLDER = re.compile(
    rf"\{{\{{\s*(?:input\.(?P<input>{INPUT_PATH})"
    rf"|file:\s*(?P<file>(?!\s)(?:[^{{}}]|\{{input\.{INPUT_PATH}\}})+?))\s*\}}\}}"
)
"""What is filled in where a mock answers."""
_OUTSIDE_NAME = re.compile(r"[^A-Za-z0-9_-]")


class Responder(StrEnum):
    """Who answers a mocked tool."""

    FIXED = "fixed"
    AGENT = "agent"


class Condition(StrEnum):
    """What an expectation asks of a value."""

    TYPE = "type"
    PATTERN = "pattern"
    TEXT = "text"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One condition that a call of the model must meet."""

    path: str
    """Dotted; a number is an index of a list."""
    condition: Condition
    values: tuple[str | float, ...]
    """The name of a type, the source of a pattern, or what is allowed, as YAML reads it."""
    flags: str = ""
    """Of a pattern."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MockTool:
    """A mocked tool, and how it is answered."""

    name: str
    responder: Responder
    body: str
    """The answer with placeholders in it, or what the agent is told of the server it plays."""
    file: Path
    """The responsible file; fixtures lie beside it."""
    source: str
    """The whole text of that file."""
    border: Path
    """The eval directory: no fixture may lie outside (deviations, D11)."""
    expect: tuple[Expectation, ...] = ()
    is_error: bool = False
    abort_when: str | None = None
    """The conditions on which the agent that answers ends the run."""
    is_listed: bool = False
    """Whether ``_tools.json`` says what it takes; without that any input is as good."""
    description: str = ""
    input_schema: Mapping[str, object] = field(
        default_factory=lambda: {"type": "object", "additionalProperties": True}
    )

    @property
    def replay_directory(self) -> Path:
        """Where adopted recordings of this tool's server lie."""
        return self.file.parent.parent / REPLAY / self.file.parent.name


@dataclass(frozen=True, slots=True, kw_only=True)
class MockServer:
    """A directory of `mocks`: the tools that stand in for a server's."""

    name: str
    """Of the directory."""
    tools: tuple[MockTool, ...]
    """As ``_server.md`` names them, then by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mocks:
    """All mocked servers of a case."""

    servers: tuple[MockServer, ...] = ()
    """The suite's by name, then the case's own; those without a single tool are left out."""
    warnings: tuple[str, ...] = ()
    """What loads but is probably a mistake, as ``file:line: text``."""


class Place(StrEnum):
    """How a server stands to those that the plugins declare."""

    SHADOW = "shadow"
    """In the place of a declared server."""
    STANDALONE = "standalone"
    """Under its own name: no plugin declares it."""
    WITHHELD = "withheld"
    """Declared by a plugin and without mocks: not started unless real servers are allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedServer:
    """A server as a case's agent meets it."""

    place: Place
    key: str
    """The name of its entry in an MCP configuration."""
    segment: str
    """What stands for it in the names of its tools."""
    mock: MockServer | None = None
    """``None`` when it is withheld."""

    @property
    def name(self) -> str:
        """What reports call it: the mock's directory, or its segment without one."""
        return self.segment if self.mock is None else self.mock.name

    def tool_name(self, tool: str) -> str:
        """Return the name by which the agent calls one of its tools."""
        return f"mcp__{self.segment}__{tool}"


def mocks_hash(servers: Iterable[MockServer]) -> str | None:
    """Return the SHA-256 of all that mocks can say, fixtures included; ``None`` without mocks.

    Where the suite lies makes no difference, nor do recordings.
    """
    total = hashlib.sha256()
    directories: dict[Path, Path] = {}
    for server in servers:
        for tool in server.tools:
            said = [server.name, tool.name, tool.source, tool.description, tool.input_schema]
            total.update(json.dumps(said, sort_keys=True).encode() + b"\0")
            directories[tool.file.parent] = tool.border
    for directory, border in directories.items():
        for path in sorted(path for path in directory.rglob("*") if path.is_file()):
            if path.parent != directory or path.suffix != ".md":
                total.update(os.fsencode(path.relative_to(border)) + b"\0")
                total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest() if directories else None


def tool_segment(name: str) -> str:
    """Return a server's name as it stands in the names of its tools."""
    return _OUTSIDE_NAME.sub("_", name)


def placed_servers(
    mocks: Iterable[MockServer], plugins: Sequence[Plugin]
) -> tuple[PlacedServer, ...]:
    """Return the mocked servers, then the declared ones that have no mock.

    A directory stands for a declared server when it is called as the server is in the names of
    tools, with or without the plugin before it. Without plugins every one is standalone, which is
    the without-arm.
    """
    declared = _declared(plugins)
    placed: list[PlacedServer] = []
    for mock in mocks:
        meant = declared.pop(_meant(mock, declared), None)
        placed.append(
            PlacedServer(place=Place.STANDALONE, key=mock.name, segment=mock.name, mock=mock)
            if meant is None
            else PlacedServer(place=Place.SHADOW, key=meant[0], segment=meant[2], mock=mock)
        )
    placed += [
        PlacedServer(place=Place.WITHHELD, key=key, segment=segment)
        for key, _, segment in declared.values()
    ]
    return tuple(placed)


def has_own_mocks(case: Case) -> bool:
    """Return whether servers are mocked and the case's plugins declare each of them.

    Only the with-arm can then call one. Spec: behaviour-evals, 5.2.
    """
    placed = placed_servers(case.mocks, case.plugins) if case.mocks else ()
    return bool(placed) and all(server.place is not Place.STANDALONE for server in placed)


def placing_problems(
    mocks: Iterable[MockServer], plugins: Sequence[Plugin]
) -> tuple[tuple[str, str], ...]:
    """Return the directories of which it cannot be said what they stand for, and why."""
    declared = _declared(plugins)
    taken: dict[str, str] = {}
    problems: list[tuple[str, str]] = []
    for mock in mocks:
        keys = [key for key, server, _ in declared.values() if server == mock.name]
        if len(keys) > 1:
            names = " or ".join(tool_segment(key) for key in keys)
            problems.append((mock.name, f"several plugins declare this server, expected {names}"))
            continue
        key = _meant(mock, declared)
        if other := taken.get(key):
            problems.append((mock.name, f"stands for the same server as {other}, expected one"))
        elif key:
            taken[key] = mock.name
    return tuple(problems)


def _meant(mock: MockServer, declared: Mapping[str, tuple[str, str, str]]) -> str:
    """Return the key of the declared server that a directory stands for, or an empty text."""
    return next((key for key, names in declared.items() if mock.name in names[1:]), "")


def _declared(plugins: Sequence[Plugin]) -> dict[str, tuple[str, str, str]]:
    """Return each declared server: its key, and the two names that a directory for it may have."""
    keys = {
        f"plugin:{plugin.name}:{server}": server
        for plugin in plugins
        for server in declared_servers(os.fspath(plugin.path))
    }
    return {key: (key, tool_segment(server), tool_segment(key)) for key, server in keys.items()}
