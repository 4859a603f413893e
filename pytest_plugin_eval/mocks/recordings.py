"""Answers of agent mocks, written down so that they can be given again. Spec: agent-run, 7.8.

The reference's own names of recordings could not be derived, so ours have a derivation of their
own. A recording of the reference is found by server, tool and input where only one fits.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_plugin_eval.cases.mock import MockTool
from pytest_plugin_eval.mocks.values import json_numbers
from pytest_plugin_eval.storage.atomic_write import write_text

__all__ = [
    "ADOPT",
    "DIRECTORY",
    "Earlier",
    "Recorded",
    "Recording",
    "find_recording",
    "pinned_recordings",
    "recording_key",
    "write_adoption_list",
    "write_recordings",
]

ADOPT = "ADOPT.txt"
DIRECTORY = "mock-recordings"
FORMAT = "pytest-plugin-eval/1"
_FILE = re.compile(r"([A-Za-z0-9_-]+)-([0-9a-f]{64})\.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A call that an agent mock answered before in the same run."""

    tool: str
    inputs: Mapping[str, object]
    output: str
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What an adopted recording answers."""

    output: str
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """An answer of a model, to be written beside the results."""

    server: str
    tool: str
    key: str
    inputs: Mapping[str, object]
    output: str
    is_error: bool
    recorded_at: str
    """UTC, ISO 8601 with milliseconds and ``Z``."""
    model: str | None
    """The model asked for; ``None`` for the default."""
    destination: str
    """The directory that it is adopted into."""


def recording_key(
    server: str,
    tool: MockTool,
    inputs: Mapping[str, object],
    earlier: Sequence[Earlier],
    *,
    body: str,
) -> str:
    """Return the SHA-256 of all that an answer depends on besides the model.

    That is: server, tool, input, the responsible file, its text with placeholders filled (and so
    the fixtures that were used), and the earlier answers that the model is told of. The order of
    keys and the spelling of numbers (``1.0``) make no difference.
    """
    parts = {
        "format": FORMAT,
        "server": server,
        "tool": tool.name,
        "input": json_numbers(inputs),
        "file": tool.source,
        "body": body,
        "earlier": [
            [call.tool, json_numbers(call.inputs), call.output, call.is_error] for call in earlier
        ],
    }
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def find_recording(tool: MockTool, key: str, inputs: Mapping[str, object]) -> Recorded | None:
    """Return the adopted answer to a call, ``None`` where there is none or it cannot be read."""
    directory = tool.replay_directory
    own = _read(directory / f"{tool.name}-{key}.json")
    if own is not None:
        return _recorded(own)
    wanted = json_numbers(inputs)
    others = [
        data
        for path in _files(directory, tool.name)
        # One of ours under another key belongs to another state of mock, input or conversation.
        if (data := _read(path)) is not None
        and "format" not in data
        and json_numbers(data.get("input")) == wanted
    ]
    return _recorded(others[0]) if len(others) == 1 else None


def pinned_recordings(tools: Iterable[MockTool]) -> int:
    """Return how many recordings lie beside the mocks in use."""
    return sum(len(_files(tool.replay_directory, tool.name)) for tool in tools)


def write_recordings(results_dir: Path, recordings: Iterable[Recording]) -> tuple[Path, ...]:
    """Write recordings below a results directory and return their files.

    Several processes may do so at once: equal keys are equal answers, or as good as.
    """
    written = []
    for each in recordings:
        path = results_dir / DIRECTORY / each.server / f"{each.tool}-{each.key}.json"
        fields = {
            "format": FORMAT,
            "input": each.inputs,
            "output": each.output,
            "verdict": "tool_error" if each.is_error else "ok",
            "recordedAt": each.recorded_at,
            "model": each.model,
            "adoptInto": each.destination,
        }
        write_text(path, json.dumps(fields, ensure_ascii=False, indent=2) + "\n")
        written.append(path)
    return tuple(written)


def write_adoption_list(results_dir: Path) -> Path | None:
    """Write which recordings there are and where they go; ``None`` without any.

    Called once, by the process that finishes the results.
    """
    root = results_dir / DIRECTORY
    lines: list[str] = []
    for path in sorted(root.glob("*/*.json")):
        data = _read(path)
        destination = data.get("adoptInto") if data else None
        if not isinstance(destination, str):
            continue
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        lines += [f"{path.relative_to(root).as_posix()}  sha256={digest}", f"  -> {destination}"]
    if not lines:
        return None
    head = [
        "Answers that a model gave in the place of MCP servers. Read one before you trust it;",
        "copied into the directory named below it, it answers the same call without a model.",
        "",
    ]
    target = root / ADOPT
    write_text(target, "\n".join((*head, *lines)) + "\n")
    return target


def _recorded(data: Mapping[str, object]) -> Recorded | None:
    output = data.get("output")
    if not isinstance(output, str):
        return None
    return Recorded(output=output, is_error=data.get("verdict") == "tool_error")


def _files(directory: Path, tool: str) -> list[Path]:
    try:
        found = sorted(directory.iterdir())
    except OSError:
        return []
    return [path for path in found if (name := _FILE.fullmatch(path.name)) and name[1] == tool]


def _read(path: Path) -> dict[str, object] | None:
    try:
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None
