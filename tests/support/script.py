"""Words for writing the script of a scripted Messages API: each returns plain JSON data.

README.md beside this file describes the format; `script_model.parse_script` checks it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Data = Mapping[str, object]
TurnData = str | Data | Sequence[object]


def text(content: str) -> dict[str, object]:
    """Return a text block; `{cwd}` in it stands for the agent's working directory."""
    return {"text": content}


def thinking(content: str) -> dict[str, object]:
    """Return a thinking block."""
    return {"thinking": content}


def tool(name: str, /, **inputs: object) -> dict[str, object]:
    """Return a call of a tool; `{cwd}` in its strings stands for the agent's working directory."""
    return {"tool": name, "input": inputs}


def turn(*blocks: str | Data, **options: object) -> dict[str, object]:
    """Return a turn with options: `stop_reason usage delay_s event_delay_s faults`."""
    return {"blocks": list(blocks), **options}


def error(
    status: int,
    message: str = "scripted error",
    *,
    error_type: str | None = None,
    headers: Mapping[str, str] | None = None,
    after_events: int | None = None,
) -> dict[str, object]:
    """Return an API error; with `after_events`, an error event inside a stream that began well."""
    detail: dict[str, object] = {"status": status, "message": message}
    if error_type is not None:
        detail["type"] = error_type
    if headers is not None:
        detail["headers"] = dict(headers)
    if after_events is not None:
        detail["after_events"] = after_events
    return {"error": detail}


def drop(after_events: int | None = None) -> dict[str, object]:
    """Return a dropped connection: before any byte, or inside the stream after some events."""
    return {"drop": {} if after_events is None else {"after_events": after_events}}


def body(content: str = "", *, status: int = 200) -> dict[str, object]:
    """Return an answer with this very body, such as an empty or a garbled one."""
    return {"body": {"content": content, "status": status}}


def rule(*, turns: Sequence[TurnData] | None = None, **options: object) -> dict[str, object]:
    """Return a rule.

    Options: `prompt contains arm plugin_text kind model only name`, then `turns` or `runs`, `end`.
    """
    return options if turns is None else {**options, "turns": list(turns)}


def judge(*answers: str, contains: str | Sequence[str] = ()) -> dict[str, object]:
    """Return a rule for judges: answer k to the k-th request without tools, then over again."""
    return {"kind": "bare", "contains": contains, "runs": [[answer] for answer in answers]}


def script(*rules: Data, **options: object) -> dict[str, object]:
    """Return a script: rules in order of precedence, and `plugin_text default`."""
    return {"rules": list(rules), **options}
