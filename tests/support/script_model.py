"""The checked form of a script, from which the scripted Messages API plays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar, cast, get_args

Data = Mapping[str, object]
Kind = Literal["main", "subagent", "bare", "any"]
Arm = Literal["with", "without"]

DEFAULT_USAGE: Mapping[str, int] = {"input": 100, "output": 10, "cache_write": 0, "cache_read": 0}
END_TEXT = "Done."
ERROR_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}

_T = TypeVar("_T")
_D = TypeVar("_D")


RULE_KEYS = (
    *("name", "prompt", "contains", "arm", "plugin_text", "kind", "model", "only"),
    *("turns", "runs", "end"),
)


class ScriptError(ValueError):
    """A script that cannot be played."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A disturbed answer.

    `after_events` is the number of good stream events before it; `None`: it comes first.
    """

    kind: Literal["error", "drop", "body"]
    status: int = 200
    error_type: str = ""
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    after_events: int | None = None
    content: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One answer of the model.

    `blocks` are in the form of the API, without ids. The k-th of `faults` replaces the k-th
    attempt at the turn; `fault` replaces every attempt.
    """

    blocks: tuple[Data, ...] = ()
    stop_reason: str = "end_turn"
    usage: Mapping[str, int] = field(default_factory=lambda: DEFAULT_USAGE)
    delay_s: float = 0.0
    event_delay_s: float = 0.0
    faults: tuple[Fault, ...] = ()
    fault: Fault | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Conditions, all of which must hold, and the runs that are played one after another.

    `end` is the answer beyond the last turn; `None` repeats that turn.
    """

    name: str
    runs: tuple[tuple[Turn, ...], ...]
    end: Turn | None
    prompt: tuple[str, ...] = ()
    contains: tuple[str, ...] = ()
    arm: Arm | None = None
    plugin_text: str | None = None
    kind: Kind = "main"
    model: str = "*"
    only: frozenset[int] = frozenset()

    def turn(self, run: int, index: int) -> Turn:
        """Return turn `index` of run `run`, both counted from 0."""
        turns = self.runs[run % len(self.runs)]
        if index < len(turns):
            return turns[index]
        return turns[-1] if self.end is None else self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Rules in order of precedence and what is answered when none fits."""

    rules: tuple[Rule, ...]
    default: Turn


def parse_script(data: object) -> Script:
    """Return the script that the data describe; a bare list is a list of rules."""
    table = _table({"rules": data} if isinstance(data, list | tuple) else data, "script")
    _known(table, ("rules", "plugin_text", "default"), "script")
    plugin_text = _take(table, "plugin_text", str, "script", None)
    rules = _sequence(table.get("rules", ()), "script: rules")
    return Script(
        rules=tuple(_rule(item, f"rule {n}", plugin_text) for n, item in enumerate(rules, 1)),
        default=_turn(table.get("default", "OK."), "script: default"),
    )


def _rule(data: object, where: str, plugin_text: str | None) -> Rule:
    table = _table(data, where)
    _known(table, RULE_KEYS, where)
    name = _take(table, "name", str, where, where)
    if ("turns" in table) == ("runs" in table):
        raise ScriptError(f"{name}: needs either turns or runs")
    runs = [table["turns"]] if "turns" in table else _sequence(table["runs"], f"{name}: runs")
    end = table.get("end", END_TEXT)
    parsed = Rule(
        name=name,
        runs=tuple(_turns(run, f"{name}: run {n}") for n, run in enumerate(runs, 1)),
        end=None if end is None else _turn(end, f"{name}: end"),
        prompt=_strings(table.get("prompt", ()), f"{name}: prompt"),
        contains=_strings(table.get("contains", ()), f"{name}: contains"),
        arm=cast("Arm | None", _one_of(table.get("arm"), (None, *get_args(Arm)), f"{name}: arm")),
        plugin_text=_take(table, "plugin_text", str, name, plugin_text),
        kind=cast("Kind", _one_of(table.get("kind", "main"), get_args(Kind), f"{name}: kind")),
        model=_take(table, "model", str, name, "*"),
        only=frozenset(_numbers(table.get("only", ()), f"{name}: only")),
    )
    if not parsed.runs:
        raise ScriptError(f"{name}: runs is empty, expected at least one list of turns")
    if parsed.arm is not None and parsed.plugin_text is None:
        raise ScriptError(f"{name}: arm needs plugin_text, in the rule or in the script")
    return parsed


def _turns(data: object, where: str) -> tuple[Turn, ...]:
    turns = tuple(
        _turn(item, f"{where}, turn {n}") for n, item in enumerate(_sequence(data, where), 1)
    )
    if not turns:
        raise ScriptError(f"{where}: no turns, expected at least one")
    return turns


def _turn(data: object, where: str) -> Turn:
    if isinstance(data, str | list | tuple):
        return _turn({"blocks": data}, where)
    table = _table(data, where)
    if not table.keys().isdisjoint(("error", "drop", "body")):
        return Turn(fault=_fault(table, where))
    if not table.keys().isdisjoint(("text", "thinking", "tool")):
        return _turn({"blocks": [table]}, where)
    known = ("blocks", "stop_reason", "usage", "delay_s", "event_delay_s", "faults")
    _known(table, known, where)
    given = table.get("blocks", ())
    blocks = tuple(
        _block(item, where)
        for item in ([given] if isinstance(given, str) else _sequence(given, where))
    )
    calls = any(block["type"] == "tool_use" for block in blocks)
    faults = _sequence(table.get("faults", ()), f"{where}: faults")
    return Turn(
        blocks=blocks,
        stop_reason=_take(table, "stop_reason", str, where, "tool_use" if calls else "end_turn"),
        usage=_usage(table.get("usage", {}), f"{where}: usage"),
        delay_s=_seconds(table, "delay_s", where),
        event_delay_s=_seconds(table, "event_delay_s", where),
        faults=tuple(_fault(_table(item, where), where) for item in faults),
    )


def _block(data: object, where: str) -> Data:
    if isinstance(data, str):
        return {"type": "text", "text": data}
    table = _table(data, where)
    if "tool" in table:
        _known(table, ("tool", "input"), where)
        name = _take(table, "tool", str, where, "")
        return {
            "type": "tool_use",
            "name": name,
            "input": dict(_table(table.get("input", {}), where)),
        }
    for kind in ("text", "thinking"):
        if kind in table:
            _known(table, (kind,), where)
            return {"type": kind, kind: _take(table, kind, str, where, "")}
    raise ScriptError(f"{where}: block {_cut(data)}, expected one with text, thinking or tool")


def _fault(table: Data, where: str) -> Fault:
    _known(table, ("error", "drop", "body"), where)
    if len(table) != 1:
        raise ScriptError(f"{where}: fault {_cut(table)}, expected one of error, drop, body")
    ((kind, detail),) = table.items()
    detail = _table(detail, f"{where}: {kind}")
    where = f"{where}: {kind}"
    after_events = _take(detail, "after_events", int, where, None)
    match kind:
        case "error":
            _known(detail, ("status", "type", "message", "headers", "after_events"), where)
            status = _take(detail, "status", int, where, 500)
            headers = _table(detail.get("headers", {}), where)
            return Fault(
                kind="error",
                status=status,
                error_type=_take(detail, "type", str, where, ERROR_TYPES.get(status, "api_error")),
                message=_take(detail, "message", str, where, "scripted error"),
                headers={name: str(value) for name, value in headers.items()},
                after_events=after_events,
            )
        case "drop":
            _known(detail, ("after_events",), where)
            return Fault(kind="drop", after_events=after_events)
        case _:
            _known(detail, ("content", "status"), where)
            status = _take(detail, "status", int, where, 200)
            return Fault(
                kind="body", status=status, content=_take(detail, "content", str, where, "")
            )


def _usage(data: object, where: str) -> Mapping[str, int]:
    table = _table(data, where)
    _known(table, tuple(DEFAULT_USAGE), where)
    return {
        name: _take(table, name, int, where, default) for name, default in DEFAULT_USAGE.items()
    }


def _table(data: object, where: str) -> Data:
    if not isinstance(data, Mapping):
        raise ScriptError(f"{where}: got {_cut(data)}, expected a table")
    return data


def _sequence(data: object, where: str) -> Sequence[object]:
    if not isinstance(data, list | tuple):
        raise ScriptError(f"{where}: got {_cut(data)}, expected a list")
    return data


def _strings(data: object, where: str) -> tuple[str, ...]:
    items = (data,) if isinstance(data, str) else _sequence(data, where)
    return tuple(_typed(item, str, where) for item in items)


def _numbers(data: object, where: str) -> tuple[int, ...]:
    return tuple(_typed(item, int, where) for item in _sequence(data, where))


def _seconds(table: Data, key: str, where: str) -> float:
    value = table.get(key, 0)
    return float(value) if isinstance(value, int) else _typed(value, float, f"{where}: {key}")


def _typed(value: object, kind: type[_T], where: str) -> _T:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ScriptError(f"{where}: got {_cut(value)}, expected {kind.__name__}")
    return value


def _take(table: Data, key: str, kind: type[_T], where: str, default: _D) -> _T | _D:
    return _typed(table[key], kind, f"{where}: {key}") if key in table else default


def _one_of(value: object, known: Sequence[object], where: str) -> object:
    if value not in known:
        choices = ", ".join(repr(choice) for choice in known if choice is not None)
        raise ScriptError(f"{where}: got {_cut(value)}, expected one of {choices}")
    return value


def _cut(value: object) -> str:
    return repr(value)[:80]


def _known(table: Data, known: Sequence[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise ScriptError(f"{where}: unknown key {key!r}, expected one of {', '.join(known)}")
