"""``session.json``: what the runs of a results directory were made with.

It tells a session that is to go on where another one stopped whether its runs would be the same.
Only what bears on the agent's runs is in it, and no secret: not what is graded or how many runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_plugin_eval import __version__
from pytest_plugin_eval.cases.case import Case
from pytest_plugin_eval.cases.fingerprint import (
    plugin_hash,
    prompt_hash,
    scaffold_hash,
    settings_hash,
    stand_ins_hash,
)
from pytest_plugin_eval.errors import RecordError
from pytest_plugin_eval.settings import Mocks, Settings
from pytest_plugin_eval.storage.atomic_write import write_text
from pytest_plugin_eval.storage.marker import LOCK
from pytest_plugin_eval.text import shown

__all__ = [
    "PLUGIN_CHANGED",
    "SESSION_FILE",
    "CaseFacts",
    "SessionFacts",
    "differences",
    "keep_session_file",
    "other_cases",
    "read_session_file",
    "session_facts",
]

SESSION_FILE = "session.json"
PLUGIN_CHANGED = "the plugin's files have changed"
"""Stands in every line about them."""
SCHEMA = 1
MOCKED = "mocked or not started"
NAMED = 3
"""Cases that one line names; the others are counted."""

# Variables that decide which model answers, or how. Their values are names and numbers.
_VARIABLES_TEXT = """
    ANTHROPIC_MODEL ANTHROPIC_SMALL_FAST_MODEL ANTHROPIC_DEFAULT_HAIKU_MODEL
    ANTHROPIC_DEFAULT_SONNET_MODEL ANTHROPIC_DEFAULT_OPUS_MODEL CLAUDE_CODE_SUBAGENT_MODEL
    CLAUDE_CODE_EFFORT_LEVEL CLAUDE_CODE_MAX_OUTPUT_TOKENS MAX_THINKING_TOKENS ANTHROPIC_BETAS
    CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_VERTEX CLAUDE_CODE_USE_FOUNDRY ENABLE_TOOL_SEARCH
    FALLBACK_FOR_ALL_PRIMARY_MODELS
"""
_VARIABLES = tuple(_VARIABLES_TEXT.split())
_MODEL_VARIABLE = "ANTHROPIC_MODEL"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFacts:
    """Hashes of what bears on the runs of a case, of `cases.fingerprint`."""

    prompt: str
    settings: str
    plugin: str = ""
    """Empty without a plugin."""
    scaffold: str = ""
    """Empty when no script is run."""
    mocks: str = ""
    """Empty without mocks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFacts:
    """What bears on the runs of a session."""

    package_version: str
    claude_version: str
    model: str | None = None
    """By option; a case's own model is among its settings."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The variables that are set of those which decide about the model."""
    grants: tuple[str, ...] = ()
    removals: tuple[str, ...] = ()
    ablation: str | None = None
    servers: str = ""
    """What stood in for MCP servers, in words; empty for the default."""
    cases: Mapping[str, CaseFacts] = field(default_factory=dict)


def session_facts(
    cases: Iterable[Case], settings: Settings, *, agent_version: str, env: Mapping[str, str]
) -> SessionFacts:
    """Return what bears on the runs of this session; *cases* are those of one suite root."""
    return SessionFacts(
        package_version=__version__,
        claude_version=agent_version,
        model=settings.model,
        environment={name: env[name] for name in _VARIABLES if env.get(name)},
        grants=tuple(sorted(set(settings.allow_tools))),
        removals=tuple(sorted(set(settings.disallow_tools))),
        ablation=None if settings.ablation is None else settings.ablation.value,
        servers=_servers(settings),
        cases={
            case.id: CaseFacts(
                prompt=prompt_hash(case),
                settings=settings_hash(case),
                plugin=plugin_hash(case) or "",
                scaffold=scaffold_hash(case) if settings.scaffold else "",
                mocks=stand_ins_hash(case, with_plugins=True),
            )
            for case in cases
        },
    )


def keep_session_file(directory: Path, facts: SessionFacts) -> None:
    """Write the facts of a session into its results directory, before its first run.

    The first process of a session wins. Where a session goes on in *directory*, only the cases that
    are new are added to what is there. Raises `OSError`, and `RecordError` as `read_session_file`.
    """
    from filelock import FileLock

    with FileLock(directory / LOCK):
        former = read_session_file(directory)
        if former is not None:
            if facts.cases.keys() <= former.cases.keys():
                return
            facts = replace(former, cases={**facts.cases, **former.cases})
        fields = _fields(facts)
        text = json.dumps(fields, ensure_ascii=False, indent=2)
        write_text(directory / SESSION_FILE, f"{text}\n")


def read_session_file(directory: Path) -> SessionFacts | None:
    """Return what the session of a results directory was, or ``None`` where no file says it.

    Raises `RecordError`, naming the file, for one that cannot be read or is of a newer schema.
    """
    path = directory / SESSION_FILE
    try:
        data: object = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise RecordError(f"{path}: cannot read what the session was: {reason}") from error
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{path}: expected the JSON of a session, {error}") from error
    return _facts(data, path)


def differences(then: SessionFacts, now: SessionFacts) -> tuple[str, ...]:
    """Return a line for each thing that makes runs of *now* other ones than those of *then*.

    Cases that only one of them has make no difference.
    """
    return (*_session_differences(then, now), *_case_differences(then, now))


def other_cases(then: SessionFacts, now: SessionFacts) -> tuple[str, ...]:
    """Return a line each about the cases that only one of two sessions has, if any."""
    lines = []
    if gone := sorted(then.cases.keys() - now.cases.keys()):
        lines.append(f"not in this session, and left as they are: {_named(gone)}")
    if new := sorted(now.cases.keys() - then.cases.keys()):
        lines.append(f"new in this session: {_named(new)}")
    return tuple(lines)


def _session_differences(then: SessionFacts, now: SessionFacts) -> Iterator[str]:
    if then.package_version != now.package_version:
        yield f"pytest-plugin-eval was {then.package_version}, is {now.package_version}"
    if then.claude_version != now.claude_version:
        yield f"Claude Code was {then.claude_version}, is {now.claude_version}"
    if then.model != now.model:
        yield f"the model (--eval-model) was {_word(then.model)}, is {_word(now.model)}"
    names = dict.fromkeys((*then.environment, *now.environment))
    if then.model and now.model:
        names.pop(_MODEL_VARIABLE, None)  # the option has the last word
    for name in names:
        was, is_ = then.environment.get(name), now.environment.get(name)
        if was != is_:
            yield f"{name} was {_word(was)}, is {_word(is_)}"
    yield from _tool_differences("granted tools (--eval-allow-tools)", then.grants, now.grants)
    yield from _tool_differences(
        "removed tools (--eval-disallow-tools)", then.removals, now.removals
    )
    if then.ablation != now.ablation:
        yield f"the arms (--eval-ablation) were {_word(then.ablation)}, are {_word(now.ablation)}"
    if then.servers != now.servers:
        yield f"MCP servers were {then.servers or MOCKED}, are {now.servers or MOCKED}"


def _servers(settings: Settings) -> str:
    if settings.mocks is Mocks.OFF:
        return "the real ones (--eval-mocks off)"
    return "mocked or the real ones (--eval-allow-real-servers)" if settings.real_servers else ""


def _tool_differences(what: str, then: Iterable[str], now: Iterable[str]) -> Iterator[str]:
    was, is_ = sorted(then), sorted(now)
    if was != is_:
        yield f"the {what} were {', '.join(was) or 'none'}, are {', '.join(is_) or 'none'}"


def _case_differences(then: SessionFacts, now: SessionFacts) -> Iterator[str]:
    common = sorted(then.cases.keys() & now.cases.keys())
    pairs = {case: (then.cases[case], now.cases[case]) for case in common}
    plugin = [case for case, (was, is_) in pairs.items() if was.plugin != is_.plugin]
    if plugin and len(plugin) == len(common):
        yield f"{PLUGIN_CHANGED} since"
    elif plugin:
        yield f"{PLUGIN_CHANGED} since, of {_named(plugin)}"
    prompt = [case for case, (was, is_) in pairs.items() if was.prompt != is_.prompt]
    if prompt:
        yield f"the prompt has changed since, of {_named(prompt)}"
    settings = [case for case, (was, is_) in pairs.items() if was.settings != is_.settings]
    if settings:
        yield f"the settings have changed since, of {_named(settings)}"
    mocks = [case for case, (was, is_) in pairs.items() if was.mocks != is_.mocks]
    if mocks:
        yield f"the mocks have changed since, of {_named(mocks)}"
    yield from _scaffold_differences(pairs)


def _scaffold_differences(pairs: Mapping[str, tuple[CaseFacts, CaseFacts]]) -> Iterator[str]:
    changed: dict[tuple[bool, bool], list[str]] = {}
    for case, (was, is_) in pairs.items():
        if was.scaffold != is_.scaffold:
            changed.setdefault((bool(was.scaffold), bool(is_.scaffold)), []).append(case)
    words = {
        (True, True): "the scaffold script has changed since",
        (True, False): "the scaffold script (--eval-scaffold) was run, is not run",
        (False, True): "the scaffold script (--eval-scaffold) was not run, is run",
    }
    yield from (f"{words[how]}, of {_named(cases)}" for how, cases in changed.items())


def _named(cases: list[str]) -> str:
    more = f" and {len(cases) - NAMED} more" if len(cases) > NAMED else ""
    return f"{', '.join(cases[:NAMED])}{more}"


def _word(value: str | None) -> str:
    return "not set" if value is None else shown(value)


def _fields(facts: SessionFacts) -> Mapping[str, object]:
    return {
        "schema": SCHEMA,
        "kind": "session",
        "package_version": facts.package_version,
        "claude_version": facts.claude_version,
        "model": facts.model,
        "environment": dict(facts.environment),
        "grants": list(facts.grants),
        "removals": list(facts.removals),
        "ablation": facts.ablation,
        **({"servers": facts.servers} if facts.servers else {}),
        "cases": {
            case: {
                "prompt": one.prompt,
                "settings": one.settings,
                "plugin": one.plugin,
                # Not known to earlier versions, which read a case without it.
                **({"scaffold": one.scaffold} if one.scaffold else {}),
                **({"mocks": one.mocks} if one.mocks else {}),
            }
            for case, one in sorted(facts.cases.items())
        },
    }


def _facts(data: object, path: Path) -> SessionFacts:
    fields = _object(data, path, "the file")
    schema = fields.get("schema")
    if not isinstance(schema, int) or schema < 1 or fields.get("kind") != "session":
        raise RecordError(f"{path}: expected the facts of a session, got {shown(data)}")
    if schema > SCHEMA:
        raise RecordError(
            f"{path}: written by a newer version: schema {schema}, "
            f"this version reads up to {SCHEMA}"
        )
    cases = _object(fields.get("cases"), path, "cases")
    return SessionFacts(
        package_version=_text(fields, "package_version", path),
        claude_version=_text(fields, "claude_version", path),
        model=_optional(fields, "model", path),
        environment=_texts(fields.get("environment"), path, "environment"),
        grants=_list(fields, "grants", path),
        removals=_list(fields, "removals", path),
        ablation=_optional(fields, "ablation", path),
        servers=_optional(fields, "servers", path) or "",
        cases={case: _case(one, path, case) for case, one in cases.items()},
    )


def _case(data: object, path: Path, case: str) -> CaseFacts:
    fields = _object(data, path, f"case {case}")
    return CaseFacts(
        prompt=_text(fields, "prompt", path),
        settings=_text(fields, "settings", path),
        plugin=_text(fields, "plugin", path),
        scaffold=_optional(fields, "scaffold", path) or "",
        mocks=_optional(fields, "mocks", path) or "",
    )


def _object(value: object, path: Path, what: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise RecordError(f"{path}: {what} must be an object, got {shown(value)}")
    return value


def _text(fields: Mapping[str, object], name: str, path: Path) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise RecordError(f"{path}: {name} must be a string, got {shown(value)}")
    return value


def _optional(fields: Mapping[str, object], name: str, path: Path) -> str | None:
    return None if fields.get(name) is None else _text(fields, name, path)


def _texts(value: object, path: Path, what: str) -> Mapping[str, str]:
    fields = _object(value, path, what)
    return {name: _text(fields, name, path) for name in fields}


def _list(fields: Mapping[str, object], name: str, path: Path) -> tuple[str, ...]:
    value = fields.get(name)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise RecordError(f"{path}: {name} must be a list of strings, got {shown(value)}")
    return tuple(value)
