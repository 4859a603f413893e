"""Graders of a case that say nothing, since they cannot fail, cannot pass, or look elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pytest_plugin_eval.cases.advisories import NEVER_OFFERED, Offer
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
from pytest_plugin_eval.cases.pattern_text import matches_anything, wants_space_in_json
from pytest_plugin_eval.text import shown

__all__ = [
    "Calls",
    "contradictions",
    "hardly_fails",
    "is_unpassable",
    "named",
    "never_fails",
    "never_passes",
    "tool_calls",
]

_BRACES = re.compile(r"\{[^{}]*,[^{}]*\}")
_MANY = float("inf")


class Calls(NamedTuple):
    """The calls of one tool that a grader counts, and how many it wants."""

    tool: str
    input_match: str | None
    least: float
    most: float


def tool_calls(grader: GraderSpec) -> Iterator[Calls]:
    """Yield what a grader wants of tool calls, nothing for one that looks at other things."""
    match grader:
        case ToolUsedSpec():
            least = 1 if grader.min is None else grader.min
            most = _MANY if grader.max is None else grader.max
            yield Calls(grader.tool, grader.input_match or None, least, most)
        case ToolOrderSpec():
            for side in (grader.before, grader.after):
                if isinstance(side, str):
                    yield Calls(side, None, 1, _MANY)
                else:
                    yield Calls(side.tool, side.input_match or None, 1, _MANY)
        case _:
            return


def is_unpassable(grader: GraderSpec) -> bool:
    """Say whether a count is one that no number meets; loading the case tells of it."""
    if not isinstance(grader, ToolUsedSpec) or grader.max is None:
        return False
    return (1 if grader.min is None else grader.min) > grader.max


def named(names: Sequence[str]) -> str:
    """Return ``grader 'a'``, or ``graders 'a', 'b' and 'c'``."""
    quoted = [shown(name) for name in names]
    if len(quoted) == 1:
        return f"grader {quoted[0]}"
    return f"graders {', '.join(quoted[:-1])} and {quoted[-1]}"


def never_fails(grader: GraderSpec) -> str | None:
    """Return why a grader passes whatever the agent does, or ``None``."""
    match grader:
        case ToolUsedSpec(min=0, max=None):
            return "any number of calls is right for min: 0 without max; give max, or min: 1"
        case ToolUsedSpec(min=0, input_match=str(pattern)) if wants_space_in_json(pattern):
            return _space(pattern)
        case FileExistsSpec(exists=False):
            return _no_such_path(grader.path)
        case RegexSpec(match="contains", target=str()) if _is_found_anywhere(grader):
            return f"the pattern {shown(grader.pattern)} is found in every text, an empty one too"
        case _:
            return None


def hardly_fails(grader: GraderSpec, offer: Offer) -> str | None:
    """Return why the tools granted leave next to no way to fail, or ``None``.

    Next to none: a call of a tool that is not there is refused, and counted.
    """
    match grader:
        case ToolUsedSpec(min=0):
            return _nothing_to_call(grader.tool, offer)
        case FileExistsSpec(exists=False):
            return _nothing_made(offer)
        case RegexSpec(target="files"):
            absent = grader.match == "not_contains" or _wants_none(grader.match)
            return _nothing_made(offer) if absent and not _is_found_anywhere(grader) else None
        case _:
            return None


def never_passes(grader: GraderSpec, case: Case) -> str | None:
    """Return why a grader fails whatever the agent does, or ``None``.

    What depends on the tools granted is told by `advisories`.
    """
    target = _target(grader)
    if target == "mock_calls" and not case.mocks:
        return (
            "it looks at calls of mocked tools, and nothing is mocked: no mocks/ directory applies"
            " to this case, or mocks are off"
        )
    if isinstance(target, FileTarget) and (reason := _no_such_file(target.path)):
        return reason
    match grader:
        case FileExistsSpec(exists=True):
            return _no_such_path(grader.path)
        case RegexSpec(match="not_contains"):
            if _is_found_anywhere(grader):
                return f"the pattern {shown(grader.pattern)} is found in every text"
        case ToolOrderSpec():
            before, after = tool_calls(grader)
            if before == after:
                return "before and after are the same call, which cannot come before itself"
    return _unmatched_input(grader)


def contradictions(graders: Sequence[GraderSpec]) -> Iterator[tuple[str, str, str]]:
    """Yield pairs of graders that cannot both pass, and what they want different things of."""
    if not any(map(_sets_a_limit, graders)):
        return
    wants: dict[tuple[object, ...], list[tuple[str, float, float]]] = {}
    for grader in graders:
        if is_unpassable(grader):
            continue
        for key, least, most in _wants(grader):
            wants.setdefault(key, []).append((grader.name, least, most))
    places = {grader.name: place for place, grader in enumerate(graders)}
    for key, each in wants.items():
        most_name, _, most = min(each, key=lambda want: want[2])
        rivals = each + _narrower(key, wants)
        least_name, least, _ = max(rivals, key=lambda want: want[1])
        if least > most and least_name != most_name:
            one, other = sorted((least_name, most_name), key=places.__getitem__)
            yield one, other, _what(key)


def _sets_a_limit(grader: GraderSpec) -> bool:
    """Say whether a grader fails when there is too much of something."""
    match grader:
        case RegexSpec():
            return grader.match != "contains"
        case ToolUsedSpec():
            return grader.max is not None
        case FileExistsSpec():
            return not grader.exists
        case _:
            return False


def _wants(grader: GraderSpec) -> Iterator[tuple[tuple[object, ...], float, float]]:
    match grader:
        case RegexSpec():
            target = grader.target if isinstance(grader.target, str) else grader.target.path
            is_file = isinstance(grader.target, FileTarget)
            flags = "".join(sorted(set(grader.flags) - {"d", "g"}))
            least, most = _counts(grader.match)
            yield ("pattern", grader.pattern, flags, target, is_file), least, most
        case FileExistsSpec():
            yield ("file", grader.path), *((1, _MANY) if grader.exists else (0, 0))
        case _:
            for calls in tool_calls(grader):
                yield ("calls", calls.tool, calls.input_match), calls.least, calls.most


def _narrower(
    key: tuple[object, ...], wants: Mapping[tuple[object, ...], list[tuple[str, float, float]]]
) -> list[tuple[str, float, float]]:
    """Return what is wanted of some of the calls where *key* is all calls of a tool."""
    if key[0] != "calls" or key[2] is not None:
        return []
    return [
        want
        for other, each in wants.items()
        if other[:2] == key[:2] and other != key
        for want in each
    ]


def _what(key: tuple[object, ...]) -> str:
    match key[0]:
        case "pattern":
            place = f"file {key[3]}" if key[4] else key[3]
            return f"the pattern {shown(key[1])} in {place}"
        case "file":
            return f"the file {shown(key[1])}"
        case _:
            return f"calls of {key[1]}"


def _counts(match: str) -> tuple[float, float]:
    if match == "contains":
        return 1, _MANY
    if match == "not_contains":
        return 0, 0
    count = float(match.partition(":")[2])
    return count, count


def _wants_none(match: str) -> bool:
    return match.startswith("count:") and not match.partition(":")[2].strip("0")


def _target(grader: GraderSpec) -> object:
    if isinstance(grader, RegexSpec):
        return grader.target
    return grader.focus if isinstance(grader, LlmSpec) else None


def _is_found_anywhere(grader: RegexSpec) -> bool:
    return "y" not in grader.flags and matches_anything(grader.pattern)


def _nothing_to_call(tool: str, offer: Offer) -> str | None:
    if not offer.lacks(tool):
        return None
    if tool in offer.refused:
        return f"{tool} is taken away from the agent, so that there is nothing to refrain from"
    if tool in NEVER_OFFERED:
        return f"no eval run offers {tool}, so that there is nothing to refrain from"
    return f"{tool} is not granted, so that the agent is not even shown what it is to refrain from"


def _nothing_made(offer: Offer) -> str | None:
    if offer.makes_files:
        return None
    return (
        "no granted tool can make a file; grant the one by which it could be made, such as "
        "--eval-allow-tools Write"
    )


def _no_such_path(path: str) -> str | None:
    """Return why a glob of ``file_exists`` matches no path. Spec: behaviour-evals, 4.6."""
    parts = path.split("/")
    if {"", ".", ".."} & set(parts):
        return (
            f"{shown(path)} matches no path: paths are relative to the workspace, of files only, "
            "without ./ ../ or a slash at either end"
        )
    if _BRACES.search(path):
        return f"{shown(path)} takes braces for themselves, expected one grader for each name"
    return None


def _no_such_file(path: str) -> str | None:
    """Return why a target names no file of the workspace. Spec: behaviour-evals, 4.3."""
    if "*" in path:
        return f"the file {shown(path)} is looked up by that very name, expected one without *"
    depth = 0
    for part in path.split("/"):
        depth += {"": 0, ".": 0, "..": -1}.get(part, 1)
        if depth < 0:
            break
    if path.startswith("/") or depth < 0:
        return f"the file {shown(path)} is not in the workspace, expected a path relative to it"
    return None if depth else f"{shown(path)} is a directory, expected the path of a file"


def _unmatched_input(grader: GraderSpec) -> str | None:
    for calls in tool_calls(grader):
        pattern = calls.input_match
        if calls.least > 0 and pattern is not None and wants_space_in_json(pattern):
            return _space(pattern)
    return None


def _space(pattern: str) -> str:
    return (
        f"input_match {shown(pattern)} has a space after the colon, and the input that it is "
        'searched in has none: write "key":"value"'
    )
