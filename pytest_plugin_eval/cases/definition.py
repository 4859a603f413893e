"""`prompt.md` and `case.yaml` put together and checked. Spec: behaviour-evals, 2.4 and 3."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from pytest_plugin_eval.cases import yaml12
from pytest_plugin_eval.cases.documents import CASE_YAML, GRADERS, PROMPT, CaseFiles
from pytest_plugin_eval.cases.frontmatter import trimmed
from pytest_plugin_eval.cases.model import (
    VERSION,
    CaseFile,
    Context,
    Execution,
    PromptFields,
    Source,
)
from pytest_plugin_eval.cases.problems import (
    Document,
    Report,
    expected_of,
    unknown_key,
    value_shown,
    without_wrong,
)
from pytest_plugin_eval.cases.tool_names import BUILT_IN_TOOLS
from pytest_plugin_eval.text import did_you_mean

__all__ = ["Definition", "define"]

SECTIONS = frozenset(("execution", "context", GRADERS))
TOP = frozenset(CaseFile.model_fields)
EXECUTION = frozenset(Execution.model_fields)
CONTEXT = frozenset(Context.model_fields)
FRONTMATTER_IN_ORDER = tuple(PromptFields.model_fields)
FRONTMATTER = frozenset(FRONTMATTER_IN_ORDER)

WITHOUT_EFFECT = ("artifact_publish", "growthbook_overrides")
HIGHEST_MAJOR = 1

# Only the major version counts, read as JavaScript's `parseInt` reads it.
_VERSION = re.compile(r"\s*([+-]?[0-9]+)", re.ASCII)
_BARE_NAME = re.compile(r"[A-Za-z0-9_]+")
_ENV_KEY = re.compile(r"EVAL_[A-Z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What a case's files say, merged; where each value came from is kept for messages."""

    source: Source
    prompt: str
    values: Mapping[str, object]
    """Every field of frontmatter, ``execution`` and ``context`` that is written down and valid."""
    origins: Mapping[str, tuple[Document, yaml12.Path]]

    def text(self, key: str) -> str | None:
        """Return a string field, ``None`` when it is not given."""
        value = self.values.get(key)
        return value if isinstance(value, str) else None

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings, empty when it is not given."""
        value = self.values.get(key)
        return tuple(value) if isinstance(value, list) else ()

    def env(self) -> Mapping[str, str]:
        """Return the case's environment variables."""
        value = self.values.get("env")
        return value if isinstance(value, dict) else {}

    def number(self, key: str) -> int | None:
        """Return a whole number, ``None`` when it is not given."""
        value = self.values.get(key)
        return value if isinstance(value, int) else None


class _Merge:
    def __init__(self, report: Report) -> None:
        self.report = report
        self.values: dict[str, object] = {}
        self.origins: dict[str, tuple[Document, yaml12.Path]] = {}

    def add(
        self,
        document: Document,
        path: yaml12.Path,
        data: Mapping[str, object],
        model: type[BaseModel],
    ) -> None:
        """Check a mapping of known keys and take over what is sound of it."""
        prefix = "".join(f"{part}." for part in path)
        sound = {key: value for key, value in data.items() if value is not None}
        nulls = data.keys() - sound.keys()
        for key in data:
            self.origins[key] = (document, (*path, key))
            if key in nulls:
                text = f"{prefix}{key} must be {expected_of(model, key)}, got null"
                self.report.error(document, text, (*path, key))
        try:
            checked = model.model_validate(sound)
        except ValidationError as raised:
            self.report.invalid(document, raised, model, data, path=path, prefix=prefix)
            # The rest is taken over, so that what is wrong with it is told as well.
            sound = without_wrong(sound, raised)
            checked = model.model_validate(sound)
        for key in sound:
            self.values[key] = getattr(checked, key)


def define(files: CaseFiles, directory: str, report: Report) -> Definition:
    """Merge the files of a case and note everything wrong with its fields."""
    merge = _Merge(report)
    prompt, case_yaml = files.prompt, files.case_yaml
    if prompt is not None:
        merge.add(prompt, (), _frontmatter(prompt, report), PromptFields)
    if case_yaml is not None:
        _add_case_yaml(merge, case_yaml, files)
    # A prompt.md that could not be read may hold what seems to be missing.
    needs = None if PROMPT in files.broken else case_yaml
    _check_version(merge, needs)
    _check_name(merge, needs, os.path.basename(directory))
    _check_env(merge)
    _check_disallowed(merge)
    for key in WITHOUT_EFFECT:
        if key in merge.values:
            document, path = merge.origins[key]
            report.warning(document, f"{key} has no effect here", path)
    return Definition(
        source=_source(files),
        prompt=_prompt(merge, files, directory),
        values=merge.values,
        origins=merge.origins,
    )


def _frontmatter(prompt: Document, report: Report) -> Mapping[str, object]:
    unknown = [key for key in prompt.fields if key not in FRONTMATTER]
    for key in unknown:
        report.error(prompt, _unknown_in_frontmatter(key), (key,))
    return {key: prompt.fields[key] for key in prompt.fields if key not in unknown}


def _unknown_in_frontmatter(key: str) -> str:
    if key == "prompt":
        return "unknown key 'prompt', the prompt is the text below the frontmatter"
    if key in {"context", "graders"} or key in CONTEXT:
        place = f"under context in {CASE_YAML}" if key in CONTEXT else f"in {CASE_YAML}"
        return f"unknown key {key!r}, it belongs {place}"
    if key == "execution":
        return "unknown key 'execution', its keys stand in the frontmatter directly"
    return unknown_key(key, FRONTMATTER_IN_ORDER)


def _add_case_yaml(merge: _Merge, document: Document, files: CaseFiles) -> None:
    prompt = files.prompt
    overriding = prompt.fields.keys() if prompt is not None else frozenset()
    fields = document.fields
    _warn_unknown(merge.report, document, (), fields, TOP)
    top = {
        k: v for k, v in fields.items() if k in TOP and k not in SECTIONS and k not in overriding
    }
    merge.add(document, (), top, CaseFile)
    needed = prompt is None and PROMPT not in files.broken
    settings = _section(merge.report, document, "execution", needed=needed)
    if settings is not None:
        hidden = overriding | ({"prompt"} if prompt is not None and prompt.body else set())
        _add_section(merge, document, "execution", settings, Execution, hidden)
    elif "execution" in fields and needed:
        # Reported already; a missing prompt is no second problem.
        merge.origins["prompt"] = (document, ("execution",))
    if "context" in fields:
        context = _section(merge.report, document, "context", needed=True)
        if context is not None:
            _add_section(merge, document, "context", context, Context, frozenset())


def _add_section(
    merge: _Merge,
    document: Document,
    name: str,
    fields: Mapping[str, object],
    model: type[BaseModel],
    hidden: AbstractSet[str],
) -> None:
    known = frozenset(model.model_fields)
    _warn_unknown(merge.report, document, (name,), fields, known)
    given = {k: v for k, v in fields.items() if k in known and k not in hidden}
    merge.add(document, (name,), given, model)


def _section(
    report: Report, document: Document, name: str, *, needed: bool
) -> Mapping[str, object] | None:
    value = document.fields.get(name)
    if isinstance(value, dict):
        return value
    if name in document.fields:
        text = f"{name} must be a mapping, got {value_shown(value)}"
        if needed:
            report.error(document, text, (name,))
        else:
            report.warning(document, f"{text}; it is ignored", (name,))
    return None


def _warn_unknown(
    report: Report,
    document: Document,
    path: yaml12.Path,
    fields: Mapping[str, object],
    known: frozenset[str],
) -> None:
    for key in fields:
        if key not in known:
            report.warning(document, _ignored_key(key, path, known), (*path, key))


def _ignored_key(key: str, path: yaml12.Path, known: frozenset[str]) -> str:
    homes = {
        (): (TOP - SECTIONS, "at the top level"),
        ("execution",): (EXECUTION, "under execution"),
    }
    homes["context",] = (CONTEXT, "under context")
    for home, (keys, place) in homes.items():
        if key in keys and home != path:
            return f"unknown key {key!r} is ignored, it belongs {place}"
    if key == "prompt" or key in SECTIONS:
        return f"unknown key {key!r} is ignored, it belongs at the top level"
    return f"unknown key {value_shown(key)} is ignored{did_you_mean(key, sorted(known))}"


def _check_version(merge: _Merge, case_yaml: Document | None) -> None:
    origin = merge.origins.get("schema_version")
    if origin is None:
        if case_yaml is not None:
            merge.report.error(case_yaml, f"schema_version is missing, expected {VERSION}")
        return
    version = merge.values.get("schema_version")
    if not isinstance(version, str):
        return
    found = _VERSION.match(version)
    if found is None:
        text = f"schema_version must be {VERSION}, got {value_shown(version)}"
    elif int(found[1]) > HIGHEST_MAJOR:
        text = f"schema_version {version!r} is of a newer format, this version reads up to 1.x"
    else:
        return
    merge.report.error(origin[0], text, origin[1])


def _check_name(merge: _Merge, case_yaml: Document | None, default: str) -> None:
    if "name" in merge.origins:
        return
    if case_yaml is not None:
        merge.report.error(case_yaml, f"name is missing, expected a string such as {default!r}")
    merge.values["name"] = default


def _check_env(merge: _Merge) -> None:
    env = merge.values.get("env")
    for key in env if isinstance(env, dict) else ():
        if not _ENV_KEY.fullmatch(key):
            document, path = merge.origins["env"]
            merge.report.error(
                document,
                f"env: the name {value_shown(key)} is not allowed, expected EVAL_ and A-Z 0-9 _",
                (*path, key),
            )


def _check_disallowed(merge: _Merge) -> None:
    names = merge.values.get("disallowed_tools")
    for index, name in enumerate(names if isinstance(names, list) else ()):
        if not name.strip() or name.strip() in BUILT_IN_TOOLS:
            continue
        document, path = merge.origins["disallowed_tools"]
        if _BARE_NAME.fullmatch(name.strip()) and not name.startswith("mcp__"):
            text = f"is no built-in tool known here{did_you_mean(name, BUILT_IN_TOOLS)}"
            note = merge.report.warning
        else:
            text = "cannot be disallowed, expected the bare name of a built-in tool"
            note = merge.report.error
        note(document, f"disallowed_tools: {value_shown(name)} {text}", (*path, index))


def _prompt(merge: _Merge, files: CaseFiles, directory: str) -> str:
    if files.prompt is not None and files.prompt.body:
        return files.prompt.body
    written = merge.values.get("prompt")
    if isinstance(written, str) and trimmed(written):
        return written
    if files.broken <= {GRADERS} and ("prompt" not in merge.origins or isinstance(written, str)):
        where = merge.origins.get("prompt", (files.case_yaml or files.prompt or directory, ()))
        merge.report.error(
            where[0],
            "there is no prompt, expected one as the text of prompt.md below its frontmatter"
            " or as execution.prompt in case.yaml",
            where[1],
        )
    return ""


def _source(files: CaseFiles) -> Source:
    """Return which files contribute; seen of the reference: graders count, blank files do not."""
    if files.case_yaml is None:
        return Source.PROSE
    prompt = files.prompt
    has_prose = prompt is not None and bool(prompt.fields or prompt.body)
    return Source.MIXED if has_prose or files.graders else Source.CASE_YAML
